// Phones show the rows of long text tables as blocks: each cell then needs the head of its column.
addEventListener("DOMContentLoaded", () => {
  const texts = ".bd-article table.table:has(th:nth-child(3)):not(:has(.text-right, thead .math))";
  for (const table of document.querySelectorAll(texts)) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    if (table.closest(".filterable") || !heads.slice(1).every(Boolean)) continue;
    table.classList.add("as-blocks");
    for (const cell of table.querySelectorAll("tbody td")) cell.dataset.head = heads[cell.cellIndex];
  }
});
