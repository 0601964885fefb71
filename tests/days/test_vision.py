"""The second day: a table for a paper, claims, figures and a page."""

import json
import re

import pytest
from PIL import Image

from tests.days import files

pytestmark = pytest.mark.soak
EXPERIMENT = """\
experiment: vis
about: Digits of a user.
dataset: {files: {data: train.csv, label_column: digit}, train: 600, test: 500}
splits: 3
kernels: [chi2]
reductions: [ovr]
baselines: [linear, exact]
maps:
  - {map: homogeneous, order: [1, 3]}
classifiers:
  - {estimator: kmaps.KernelSVC, params: {kernel: chi2}}
C: 1
figures: [accuracy, costs]
"""
CLAIM = """\
claims:
  - id: short-as-whole
    text: Order 3 is as accurate as the whole kernel.
    left: {method: homogeneous, order: 3}
    right: {method: exact}
    relation: about
"""


@pytest.fixture
def vision(shell):
    """A shell with the user's run."""
    files.digits(shell.folder)
    (shell.folder / "vis.yaml").write_text(EXPERIMENT)
    shell("kmaps run vis.yaml --out vis --quiet")
    return shell


def records_of(folder):
    """Return the records of a run."""
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def write_busy(shell, name: str, **columns) -> None:
    """Write a copy of the run whose cells have this load."""
    shell(f"cp -r vis {name}; rm -f {name}/README.md")
    cells = [cell | columns for cell in records_of(shell.folder / "vis")]
    text = "".join(json.dumps(cell) + "\n" for cell in cells)
    (shell.folder / name / "records.jsonl").write_text(text)


def numbers_of(latex: str) -> tuple[set[float], set[float]]:
    """Return the numbers of a table in bold, and all of them."""
    rows = re.findall(r"^[^\\%&][^&]*&(.*)\\\\$", latex, re.M)
    cells = [cell for row in rows for cell in row.split("&") if re.search(r"\d", cell)]
    numbers = {cell: float(re.search(r"\d+\.?\d*", cell)[0]) for cell in cells}
    return {numbers[cell] for cell in cells if r"\textbf" in cell}, {*numbers.values()}


IDLE = {"other_cpus": 0.0, "stolen_cpus": 0.0, "load_before": 0.0}


def test_bold_marks_the_best(vision):
    shell = vision
    write_busy(shell, "idle", **IDLE)
    for measure in ("accuracy", "time", "storage"):
        done = shell(f"kmaps table idle --measure {measure} --format latex")
        bold, numbers = numbers_of(done.stdout)
        shell.check(
            f"{measure}: the best of all rows is bold",
            (max(numbers) if measure == "accuracy" else min(numbers)) in bold,
        )
        table = done.stdout.partition(r"\end{tabular}")[2]
        shell.check("the table itself says what bold is", "bold" in table)
        if measure == "storage":
            shell.check("the largest storage is not bold", max(numbers) not in bold)
    together = shell("kmaps table idle --together --format latex").stdout
    rows = [line for line in together.splitlines() if "&" in line]
    shell.check(
        "side by side: a row per method", {row.count("&") for row in rows} == {4} and len(rows) == 6
    )
    intervals = shell("kmaps table idle --intervals exact --measure accuracy").stdout
    shell.check(
        "paired differences to a row", intervals.count("points") == 4 and " to " in intervals
    )
    keys = [cell["key"] for cell in records_of(shell.folder / "vis")]
    named = EXPERIMENT.replace("order: [1, 3]}", "order: [1, 3], name: short map}").replace(
        "params: {kernel: chi2}}", "params: {kernel: chi2}, name: kernel machine}"
    )
    (shell.folder / "vis.yaml").write_text(named)
    done = shell("kmaps run vis.yaml --out vis")
    shell.check("names are no part of keys", "nothing to do" in done.stderr)
    shell.check("no key moved", [cell["key"] for cell in records_of(shell.folder / "vis")] == keys)
    shell("kmaps report vis --force")
    page = (shell.folder / "vis" / "README.md").read_text()
    figure = (shell.folder / "vis" / "accuracy.svg").read_text()
    table = shell("kmaps table vis --measure accuracy").stdout
    for name in ("short map", "kernel machine"):
        shell.check(
            f"{name}: in table, page and figure", all(name in t for t in (table, page, figure))
        )


def test_claims_and_times(vision):
    shell = vision
    (shell.folder / "vis.yaml").write_text(EXPERIMENT + CLAIM)
    done = shell("kmaps run vis.yaml --out vis")
    shell.check("a claim needs no new run", "nothing to do" in done.stderr)
    shell("kmaps report vis --force")
    page = (shell.folder / "vis" / "README.md").read_text()
    shell.check("it is judged, with its interval", re.search(r"short-as-whole .*points", page))
    write_busy(shell, "busy", other_cpus=1.5, stolen_cpus=0.0)
    write_busy(shell, "idle", **IDLE)
    # Cells of less than half a second: the load average counts.
    write_busy(shell, "short", other_cpus=None, stolen_cpus=None, load_before=9.0, cores=2)
    for name, marked in {"busy": True, "short": True, "idle": False}.items():
        table = shell(f"kmaps table {name} --measure time").stdout
        shell.check(f"{name}: times are marked: {marked}", ("‡" in table) == marked)
        shell(f"kmaps report {name}")
        page = (shell.folder / name / "README.md").read_text()
        shell.check(
            "left out of the page alike", ("Times of this run are left out" in page) == marked
        )
        shell(f"kmaps plot {name} -o {name}.svg")
        shell.check(
            "marked in the plot alike",
            ("‡" in (shell.folder / f"{name}.svg").read_text()) == marked,
        )
        shell(f"kmaps plot {name} --figure costs -o {name}-costs.svg")
        costs = (shell.folder / f"{name}-costs.svg").read_text()
        shell.check("said on the figure alike", ("Times are left out" in costs) == marked)
    table = shell("kmaps table idle --measure time").stdout
    compared = shell("kmaps compare idle idle").stdout
    number = re.search(r"^linear +([\d.]+)", table, re.M)[1]
    shell.check(
        "compare and table print the same number",
        re.search(rf"linear +{number} .*{number} ", compared),
    )


def test_pages_and_figures(vision):
    shell = vision
    figure = (shell.folder / "vis" / "accuracy.svg").read_text()
    shell.check(
        "the figure says what its bars are", "bar" in figure.lower() or "error" in figure.lower()
    )
    shell("kmaps train train.csv m.npz --label-column digit --quiet")
    shell("kmaps evaluate m.npz test.csv --label-column digit -o page.html --quiet")
    page = (shell.folder / "page.html").read_text()
    section = page.partition(">Confusion</h2>")[2].partition("</section>")[0]
    shell.check(
        "the confusion matrix comes once", section.count("<img") + section.count("<table") == 1
    )
    reported = shell("kmaps check vis --reported").stdout
    shell.check("statements of papers are shown", "numbers" in reported)
    files.photographs(shell.folder)
    shell("kmaps features photos --features hog-pyramid --out photos.npz --show 4 --quiet")
    [picture] = shell.folder.glob("*.png")
    with Image.open(picture) as image:
        colours = len(image.convert("RGB").getcolors(2**24))
        print(picture.name, image.mode, colours)
        shell.check(
            "photographs keep their colours", image.mode.startswith("RGB") and colours > 2000
        )
