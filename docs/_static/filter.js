// A text field above each table of a .filterable: only the rows that have all its words are shown,
// the first hundred of them unless all are asked for. Cells know their heads, which phones show.
const MOST = 100;

addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll(".filterable")) {
    const rows = [...place.querySelectorAll("tbody tr")];
    const heads = [...place.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    for (const cell of rows.flatMap((row) => [...row.cells])) cell.dataset.head = heads[cell.cellIndex];
    const bar = document.createElement("div");
    const label = document.createElement("label");
    const field = document.createElement("input");
    const count = document.createElement("output");
    const more = document.createElement("button");
    bar.className = "filter-bar";
    field.type = "search";
    more.type = "button";
    label.append("Filter rows by words: ", field);
    bar.append(label, count, more);
    let most = MOST;
    const apply = () => {
      const words = field.value.toLowerCase().split(/\s+/);
      let found = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word)) || ++found > most;
      }
      count.textContent = `${Math.min(found, most)} of ${rows.length} rows`;
      more.textContent = `Show all ${found}`;
      more.hidden = found <= most;
    };
    field.addEventListener("input", apply);
    more.addEventListener("click", () => {
      most = Infinity;
      apply();
    });
    apply();
    place.prepend(bar);
  }
});
