// A text field above each table of a .filterable: only the rows that have all its words are shown.
addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".filterable")) {
    const rows = [...place.querySelectorAll("tbody tr")];
    const label = document.createElement("label");
    const field = document.createElement("input");
    const count = document.createElement("output");
    field.type = "search";
    label.append("Filter rows by words: ", field, " ", count);
    const apply = () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    };
    field.addEventListener("input", apply);
    apply();
    place.prepend(label);
  }
});
