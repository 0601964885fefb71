// Sets what Sphinx wrote as \( … \) and \[ … \].
addEventListener("load", () => {
  if (!window.katex) return;
  for (const element of document.querySelectorAll(".math")) {
    const text = element.textContent.trim();
    const display = text.startsWith("\\[");
    katex.render(text.slice(2, -2), element, { displayMode: display, throwOnError: false });
    if (display && element.scrollWidth > element.clientWidth) element.tabIndex = 0;
  }
});
