// Draws the points that a page holds: quality over a cost, the Pareto front joined. A click on a
// point shows its record, its command and the computer.
const COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F"];
const ON_DARK = ["#5AA9E6", "#FF8C42", "#2DD4A0", "#F09CCB", "#FFC145", "#A8DBFF", "#C8A866", "#B8B8B8"];

addEventListener("load", () => {
  for (const place of document.querySelectorAll(".plot")) build(place);
});

function element(tag, text = "", parent = null) {
  const made = document.createElement(tag);
  made.textContent = text;
  parent?.append(made);
  return made;
}

function choice(parent, title, options) {
  const label = element("label", `${title} `, parent);
  const select = element("select", "", label);
  for (const [value, text] of options) element("option", text, select).value = value;
  label.hidden = options.length < 2;
  return select;
}

function build(place) {
  const groups = JSON.parse(place.querySelector("script").textContent);
  const bar = element("div", "", place);
  bar.className = "plot-choices";
  const names = Object.keys(groups);
  const group = choice(bar, "measured on", names.map((name) => [name, name || "all rows"]));
  let cost;
  const canvas = element("div", "", place);
  canvas.className = "plot-canvas";
  const record = element("div", "Click a point for its record.", place);
  record.className = "plot-record";
  record.setAttribute("aria-live", "polite");
  const draw = () => drawPlot(canvas, record, groups[group.value], cost.value);
  const newGroup = () => {
    cost?.parentElement.remove();
    cost = choice(bar, "over", Object.entries(groups[group.value].costs));
    cost.addEventListener("change", draw);
    draw();
  };
  group.addEventListener("change", newGroup);
  newGroup();
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}

async function drawPlot(canvas, record, group, cost) {
  const [quality, title] = group.quality;
  const values = group.points
    .filter((point) => cost in point && quality in point)
    .map((point) => ({ ...point, onFront: point.front.includes(cost) }));
  const log = values.every((point) => point[cost] > 0);
  const logQuality = !title.includes("%") && values.every((point) => point[quality] > 0);
  const x = { field: cost, type: "quantitative", title: group.costs[cost],
    scale: log ? { type: "log" } : { zero: false } };
  const y = { field: quality, type: "quantitative", title,
    scale: logQuality ? { type: "log" } : { zero: false } };
  const shown = [["name", "row"], ["run", "run"], group.quality, ...Object.entries(group.costs)];
  const tooltip = shown.map(([field, title]) => ({ field, title }));
  const methods = [...new Set(values.map((point) => point.method))];
  const dark = document.documentElement.dataset.theme === "dark";
  const colors = dark ? ON_DARK : COLORS;
  const ink = getComputedStyle(document.body).color;
  const narrow = canvas.clientWidth < 500;
  const spec = {
    width: "container", height: 340, background: null, data: { values },
    description: `${title} over ${group.costs[cost]}, ${values.length} rows; the same values are in the CSV file of this page`,
    layer: [
      { transform: [{ filter: "datum.onFront" }], mark: { type: "line", color: ink, opacity: 0.4 },
        encoding: { x, y, order: { field: cost } } },
      { mark: { type: "point", filled: true, size: 90, cursor: "pointer" },
        encoding: { x, y, tooltip,
          opacity: { condition: { test: "datum.onFront", value: 1 }, value: dark ? 0.7 : 0.5 },
          color: { field: "method", title: null, scale: { domain: methods, range: methods.map((_, i) => colors[i % colors.length]) } },
          shape: { field: "method", title: null, scale: { domain: methods,
            range: methods.map((_, i) => ["circle", "square", "diamond", "triangle-up"][Math.floor(i / colors.length) % 4]) } } } },
    ],
    config: {
      font: getComputedStyle(document.body).fontFamily,
      axis: { labelOverlap: "greedy", labelSeparation: 8, labelColor: ink, titleColor: ink, gridOpacity: 0.25, labelFontSize: 12, titleFontSize: 13 },
      legend: { labelColor: ink, orient: "bottom", columns: narrow ? 1 : 3, labelLimit: 260, labelFontSize: 12 },
      view: { stroke: null },
    },
  };
  const { view } = await vegaEmbed(canvas, spec, { renderer: "svg", actions: false });
  view.addEventListener("click", (_, item) => item?.datum?.key && show(record, item.datum, group));
}

function show(record, point, group) {
  record.replaceChildren();
  element("strong", point.name, record);
  const list = element("dl", "", record);
  const values = [group.quality, ...Object.entries(group.costs)]
    .filter(([name]) => name in point).map(([name, title]) => `${title}: ${point[name]}`);
  const facts = { run: point.run, values: values.join("; "), command: point.command, computer: point.environment,
    records: `${point.n_records}, the first with the key ${point.key}` };
  for (const [name, text] of Object.entries(facts)) {
    element("dt", name, list);
    element("dd", text, list);
  }
  const root = document.documentElement.dataset.content_root;
  const links = { "page of the run": `results/runs/${point.run}.html`, "its records": `_static/results/${point.run}/records.jsonl.gz` };
  for (const [text, path] of Object.entries(links)) {
    element("a", text, record).href = root + path;
    record.append(" ");
  }
}
