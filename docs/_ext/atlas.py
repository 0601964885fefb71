"""The atlas: pages on all published results, made from records."""

import gzip
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

import generate
import myst
import plots

from kmaps.bench.kinds import shown_of
from kmaps.bench.pages import page_of
from kmaps.bench.paper import reported
from kmaps.bench.paper.entries import claim_entries, paper_of
from kmaps.bench.paper.reported import Item
from kmaps.bench.paper.statements import Paper, claims, papers
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.times import without_doubtful_times
from kmaps.bench.report.document import Code, Folded, Page, Section, Text
from kmaps.bench.report.forms import Markdown
from kmaps.bench.report.front import COSTS, FrontPoint, points_of
from kmaps.bench.report.tables import short_features
from kmaps.maps import MAPS

RESULTS = generate.ROOT / "results"
_FIRST = ("Claims", "The paper's numbers")  # what a reader of a run wants to know first
_OPEN = ("Findings", "Figures")  # the other sections are folded
_SHORT = 12
_WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---"  # of pages whose table needs the room
_SENTENCE = re.compile(r"(?<!\bSect)(?<!\bet al)(?<!\beq)\. (?=[A-Z])")  # where one ends
_COMPARED = {"MNIST": "mnist", "Daimler": "daimler", "Caltech-101": "caltech101"}
_HEAD = ("outputs", "training, s", "test, s", "stored, MB", "stored as")
_TRAINED_ON_OUTPUTS = ("liblinear", "libsvm")
_GIVEN = ("linear", "exact")  # methods without outputs


@dataclass
class Run:
    folder: Path
    name: str
    records: list[dict[str, Any]]
    items: list[Item]

    @cached_property
    def page(self) -> Page:
        """What `kmaps report` writes of the run."""
        return page_of(self.folder)

    @property
    def about(self) -> str:
        first = self.page.parts[0]
        return first.text if isinstance(first, Text) else ""

    @cached_property
    def quality(self) -> str:
        return shown_of(self.records).measures(self.records)[0]

    @cached_property
    def points(self) -> list[FrontPoint]:
        """The rows of the run, without the times that were taken while other programs ran."""
        records = without_doubtful_times(self.records)
        return points_of(records, [self.quality, *COSTS, "dim"])

    @property
    def datasets(self) -> list[str]:
        return sorted({record["dataset"] for record in self.records if record["dataset"]})

    @property
    def methods(self) -> list[str]:
        return sorted({record["method"] for record in self.records})


def write_all(docs: Path) -> None:
    runs, items = read(RESULTS)
    by_name = {run.name: run for run in runs}
    generate.write(docs / "reference" / "measured.txt", _measured(by_name))
    of_maps = _as_table(by_name["annfm-table4-daimler"], _of_map)
    generate.write(docs / "reference" / "maps.txt", of_maps)
    write_pages(docs, runs, items)


def read(folder: Path) -> tuple[list[Run], list[Item]]:
    """Return the runs in the folders of one, and all that is reported of them."""
    records = reported.read_runs(folder)
    correct = reported.read_correct_of_runs(folder, records)
    items = reported.reported(records, claim_entries(records), correct)
    folders = sorted(path.parent for path in folder.glob("*/records.jsonl"))
    runs = [
        Run(place, name, of, [item for item in items if item.run == name])
        for place, (name, of) in zip(folders, records.items(), strict=True)
    ]
    return runs, items


def write_pages(docs: Path, runs: Sequence[Run], items: Sequence[Item]) -> None:
    pages = {f"runs/{myst.slug(run.name)}": _run_page(run) for run in runs}
    pages |= {f"papers/{paper.name}": _paper_page(paper, items, runs) for paper in papers()}
    for kind, page in {"datasets": _dataset_page, "methods": _method_page}.items():
        for value in _values(runs, kind):
            of = [run for run in runs if value in getattr(run, kind)]
            pages[f"{kind}/{myst.slug(value)}"] = page(value, of)
    pages["index"] = _index(runs, items, list(pages))
    for name, text in pages.items():
        generate.write(docs / "results" / f"{name}.md", text)
    _write_data(docs / "_build" / "static" / "results", runs, items)


def _values(runs: Iterable[Run], kind: str) -> list[str]:
    return sorted({one for run in runs for one in getattr(run, kind)})


def _run_page(run: Run) -> str:
    """Return the page of a run: verdicts, plots, and the rest of `kmaps report`'s page folded."""
    source = f"results/{run.folder.name}/README.md"
    sections = {part.title: part for part in run.page.parts if type(part) is Section}
    before = list(takewhile(lambda part: type(part) is not Section, run.page.parts))
    at = next(place for place, part in enumerate(before) if isinstance(part, Code))

    def opened(names: Iterable[str]) -> list[str]:
        return [myst.shown(sections.pop(name), source) for name in names if name in sections]

    parts = [f"# {myst.plain(run.name)}", myst.plain(run.about), _places(run), _verdicts(run.items)]
    parts += opened(_FIRST)
    if run.points:
        parts += ["## Plots", plots.plot(plots.of_run(run))]
    if "Figures" in sections:  # without the links to files: all figures are on this page
        drawn = [part for part in sections["Figures"].parts if not isinstance(part, Text)]
        sections["Figures"] = Section("Figures", drawn)
    parts += opened(_OPEN)
    rest = [*sections.values(), Section("Commands, computer, versions", before[at:])]
    parts += [myst.shown(Folded(one.title, one.parts), source) for one in rest]
    files = "records.jsonl.gz", "points.csv"
    place = f"../../_static/results/{myst.slug(run.name)}"
    data = ", ".join(f"<a href='{place}/{one}'>{one}</a>" for one in files)
    parts.append(f"<p>Data: {data}; the columns are described in "
                 f"<a href='../../_static/results/columns.csv'>columns.csv</a>.</p>")  # fmt: skip
    return "\n\n".join(filter(None, parts)) + "\n"


def _places(run: Run) -> str:
    """Return links to the pages that a run belongs to."""
    links = [_link(paper_of(run.name), "papers")] if paper_of(run.name) else []
    links += [_link(name, "datasets") for name in run.datasets]
    links += [_link(name, "methods") for name in run.methods]
    return f"Part of: {', '.join(links)}."


def _verdicts(items: Sequence[Item], of: str = "paper") -> str:
    """Return how numbers and claims came out, in one line each."""
    lines = []
    for kind, words in {"number": f"Numbers of the {of}", "claim": "Claims"}.items():
        counts = Counter(item.verdict for item in items if item.kind == kind)
        if counts:
            lines.append(f"- **{words}**: {_counted(counts)}")
    return "\n".join(lines)


def _counted(verdicts: Counter) -> str:
    plural = {"holds": "hold", "fails": "fail"}
    words = ((n, verdict if n == 1 else plural.get(verdict, verdict))
             for verdict, n in verdicts.most_common())  # fmt: skip
    return ", ".join(f"{n} {word}" for n, word in words)


def _link(name: str, kind: str = "runs") -> Markdown:
    """Return a link to the page of a run, a dataset, a method or a paper."""
    return Markdown(f"[{myst.plain(name)}](/results/{kind}/{myst.slug(name)}.md)" if name else "")


def _paper_page(paper: Paper, items: Iterable[Item], runs: Sequence[Run]) -> str:
    """Return on one screen what of a paper was reproduced, how well, what not, and why."""
    numbers = [i for i in items if i.kind == "number" and i.name.startswith(f"{paper.name} ")]
    claimed = [i for i in items if i.of in claims() and i.of.startswith(paper.letter)]
    parts = [f"# {paper.name}", f"{myst.plain(paper.title)}.", _verdicts([*numbers, *claimed])]
    tables = defaultdict(Counter)
    for item in numbers:
        tables[item.of.removeprefix(f"{paper.name} ")][item.verdict] += 1
    columns = ["reproduced", "better", "worse", "reference", "not measured"]
    rows = [
        [name, *(str(found[column] or "") for column in columns)] for name, found in tables.items()
    ]
    if rows:
        parts += ["## Its numbers", myst.table(["table or figure", *columns], rows)]
    claimed.sort(key=lambda item: int(item.of[1:]))
    verdicts = defaultdict(Counter)
    for item in claimed:
        verdicts[item.of][item.verdict] += 1
    rows = [[of, claims()[of].text, _counted(counts)] for of, counts in verdicts.items()]
    parts += ["## Its claims", myst.table(["claim", "in words", "in its runs"], rows, texts=3)]
    rows = [[i.of, i.verdict, _link(i.run), i.ours] for i in claimed]
    made = myst.table(["claim", "verdict", "run", "comparisons"], rows, texts=4)
    parts.append(myst.folded("Claims run by run", made))
    worst = sorted((i for i in numbers if i.verdict == "worse"), key=lambda i: -abs(i.off or 0))
    if worst:
        rows = [
            [i.name.removeprefix(paper.name), i.printed, i.ours, i.difference, _link(i.run)]
            for i in worst
        ]
        head = ["number", "printed", "ours", "difference", "run"]
        made = myst.table(head, rows)
        parts += ["## Worse numbers", "The findings on each run's page say why, where we know it."]
        parts.append(made if len(rows) <= _SHORT else myst.folded(f"{len(rows)} numbers", made))
    missing = Counter(i.reason or "no reason" for i in numbers if i.verdict == "not measured")
    if missing:
        parts.append("## Numbers that were not measured")
        parts.append("\n".join(f"- {n}: {myst.plain(reason)}" for reason, n in missing.items()))
    of_paper = ", ".join(_link(run.name) for run in runs if paper_of(run.name) == paper.name)
    return "\n\n".join(filter(None, [*parts, f"## Its runs\n\n{of_paper}"])) + "\n"


def _filterable(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    return f"::::{{div}} filterable\n{myst.table(head, rows, texts)}\n::::"


def _points_table(runs: Iterable[Run], keep: Any, dataset: str = "") -> str:
    """Return the rows of runs, perhaps of one dataset, as one table, with a filter."""
    found = [(run, point) for run in runs for point in filter(keep, run.points)]
    features = short_features(record for _, point in found for record in point.records)
    rows = []
    for run, point in found:
        values = [plots.text(name, point.values) for name in (run.quality, "time", "storage")]
        record = point.records[0]
        on = record["dataset"] if record["dataset"] != dataset else ""
        where = " ".join(filter(None, (on, features[record["features"]])))
        title = MEASURES[run.quality].title
        rows.append([_link(run.name), where, point.name, title, *values])
    on = "features" if dataset else "measured on"
    head = ["run", on, "row", "measure", "value", "training, s", "stored, MB"]
    return _filterable(head, rows, 4)


def _dataset_page(name: str, runs: Sequence[Run]) -> str:
    parts = [_WIDE, f"# {myst.plain(name)}", f"{len(runs)} runs use this dataset."]
    groups = plots.of_runs(runs, lambda point: point.records[0]["dataset"] == name)
    csv = f"../../_static/results/datasets/{myst.slug(name)}.csv"
    link = f"<p>Data: <a href='{csv}'>all rows as CSV</a>.</p>"
    parts += [plots.plot(groups) if groups else "", link, "## Rows"]
    return "\n\n".join([*parts, _points_table(runs, _on(name), name)]) + "\n"


def _on(dataset: str) -> Any:
    return lambda point: point.records[0]["dataset"] == dataset


def _method_page(name: str, runs: Sequence[Run]) -> str:
    parts = [_WIDE, f"# {myst.plain(name)}", f"{len(runs)} runs measure this method."]
    if name in MAPS.places:
        cls = MAPS.places[name].rpartition(".")[2]
        parts.append(f"It is the class {{class}}`kmaps.{cls}`; `kmaps list maps` names its paper.")
    table = _points_table(runs, lambda point: point.records[0]["method"] == name)
    return "\n\n".join([*parts, "## Rows", table]) + "\n"


def _measured(runs: dict[str, Run]) -> str:
    """Return the rows of the three large comparisons, a tab for each dataset."""
    tabs = [
        f"::::{{tab-item}} {title}\n{_as_table(runs[f'comparison-{name}'])}\n::::"
        for title, name in _COMPARED.items()
    ]
    return "\n".join([":::::{tab-set}", *tabs, ":::::"])


def _as_table(run: Run, keep: Any = bool) -> str:
    """Return the rows of a run with what a choice depends on, below what they were measured on."""
    rows = []
    for point in filter(keep, run.points):
        record = point.records[0]
        has_outputs = record["solver"] in _TRAINED_ON_OUTPUTS and record["method"] not in _GIVEN
        outputs = f"{record['dim']:,}" if has_outputs else "–"
        quality, *costs = (
            plots.text(name, point.values) for name in (run.quality, "time", "predict", "storage")
        )
        form = (record["storage_form"] or "").partition(" + ")[0]  # without what is pickled
        rows.append([point.name, quality, outputs, *costs, form])
    sizes = "{n_features:,} features, {n_train:,} training and {n_test:,} test samples."
    on = myst.plain(sizes.format_map(run.records[0]))
    return f"{on}\n\n{myst.table(['row', MEASURES[run.quality].title, *_HEAD], rows)}"


def _of_map(point: FrontPoint) -> bool:
    """Return whether a row is the exact chi2 kernel, a linear model, bins, or a map of chi2."""
    record = point.records[0]
    of_kernel = record["kernel"] in ("chi2", "linear") or record["method"] == "intersection"
    return of_kernel and record["solver"] in _TRAINED_ON_OUTPUTS


def _index(runs: Sequence[Run], items: Sequence[Item], pages: Sequence[str]) -> str:
    rows = []
    for run in runs:
        verdicts = Counter(item.verdict for item in run.items if item.kind != "difference")
        said = _counted(verdicts)
        first = _SENTENCE.split(run.about)[0]
        rows.append([_link(run.name), paper_of(run.name), ", ".join(run.datasets), first, said])
    table = _filterable(["run", "paper", "datasets", "about", "numbers and claims"], rows, 5)
    of_papers = "\n".join(
        f"- [{paper.name}](/results/papers/{paper.name}.md): {myst.plain(paper.title)}"
        for paper in papers()
    )
    by = {
        kind: ", ".join(_link(name, kind) for name in _values(runs, kind))
        for kind in ("datasets", "methods")
    }
    tree = "\n".join(pages)
    return f"""\
{_WIDE}

# Results

Every number here comes from a record, and every record names its command, computer and versions.

{_verdicts(items, "papers")}

How each paper came out, on one screen each:

{of_papers}

By dataset: {by["datasets"]}.

By method: {by["methods"]}.

Everything in one file: <a href="../_static/results/atlas.json">atlas.json</a>. `kmaps check results
--reported` compares a new run with it; [Experiments](/experiments.md) says how they are measured.

## Runs

{table}

```{{toctree}}
:hidden:

{tree}
```
"""


def _write_data(folder: Path, runs: Sequence[Run], items: Sequence[Item]) -> None:
    """Write what the pages show as files: the records, the points, and everything in one."""
    everything = {"items": [asdict(item) for item in items], "runs": {}}
    for run in runs:
        place = folder / myst.slug(run.name)
        place.mkdir(parents=True, exist_ok=True)
        records = (run.folder / "records.jsonl").read_bytes()
        (place / "records.jsonl.gz").write_bytes(gzip.compress(records, mtime=0))
        (place / "points.csv").write_text(plots.points_csv([run]), "utf-8")
        everything["runs"][run.name] = {
            "about": run.about,
            "paper": paper_of(run.name),
            "quality": run.quality,
            "points": [plots.data(point, run) for point in run.points],
        }
    (folder / "datasets").mkdir(exist_ok=True)
    for name in _values(runs, "datasets"):
        rows = plots.points_csv(runs, _on(name))
        (folder / "datasets" / f"{myst.slug(name)}.csv").write_text(rows, "utf-8")
    text = json.dumps(everything, ensure_ascii=False)
    (folder / "atlas.json").write_text(text, "utf-8")
    shutil.copy(generate.ROOT / "kmaps/bench/records/columns.csv", folder)
