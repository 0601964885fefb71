"""A copy of the package in which the recipes of CONTRIBUTING were followed; `kmaps` of it."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from commands import Done, kmaps_with

ROOT = Path(__file__).resolve().parent.parent
RECIPES = re.findall(
    r"^```python\n# (\S+?)(?:, (after|before|instead of): ([^\n]+))?\n(.*?)^```$",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.DOTALL | re.MULTILINE,
)
"""The files that the recipes of CONTRIBUTING add, and the lines: where, next to what, the text."""
MAP_CLASS = next(text for name, _, _, text in RECIPES if name == "kmaps/maps/power.py")
KIND_MEASURE = '''\
"""Lengths: how long the vector of a value is, against its square root."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from kmaps.bench.kinds.kind import Kind, Measured
from kmaps.bench.kinds.lengths.show import SHOWN
from kmaps.bench.records.row import Row
from kmaps.bench.spec.cell import Cell
from kmaps.bench.spec.fields import Experiment, Positive
from kmaps.bench.spec.map_rows import map_rows
from kmaps.maps.registry import make_map


class Lengths(Experiment):
    kind: Literal["lengths"]
    kernels: list[str]
    values: Annotated[list[Positive], Field(min_length=1)]


class LengthsKind(Kind):
    model = Lengths
    shown = SHOWN

    def cells(self, experiment):
        return [
            Cell(
                kind="lengths",
                experiment=experiment.experiment,
                setting=f"length at {value:g}",
                row=Row(entry["map"], params),
                kernel=kernel,
                options={"value": value},
            )
            for value in experiment.values
            for entry in experiment.maps
            for kernel, params in map_rows(entry, experiment.kernels)
        ]

    def batches(self, cells):
        return [list(cells)]

    def set_up(self, cell, *, skip_bad=False):
        return np.linspace(0, 1, 101)[:, None]

    def measure(self, cell, shared, timing):
        made = make_map(cell.row.method, cell.kernel, cell.row.params).fit(shared)
        with timing.timed("encode_s"):
            encoded = made.transform(cell.options["value"] * shared)
        length = np.linalg.norm(encoded, axis=1)
        error = length - np.sqrt(cell.options["value"] * shared[:, 0])
        columns = {"linf": float(np.abs(error).max()), "dim": encoded.shape[1]}
        return Measured(columns, {"length": length})


KIND = LengthsKind()
'''
KIND_SHOW = '''\
"""Lengths: judged columns, measures, a figure and a section."""

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged


class LengthsShown(Shown):
    fills = ("linf", "dim", "encode_s")
    judged = (Judged("linf", NUMERICAL), Judged("dim", EXACT))

    def measures(self, records):
        return ("linf", "dim")

    def figures(self, experiment):
        return {"lengths": Figure(draw, needs_arrays=True)}

    def sections(self, records):
        return [("Lengths", f"There are {len(records)} of them.")]


def draw(records, arrays, path):
    from matplotlib.figure import Figure as Canvas

    figure = Canvas()
    ax = figure.subplots()
    for record in records:
        ax.plot(arrays[record["key"]]["length"])
    figure.savefig(path)


SHOWN = LengthsShown()
'''
KIND = [
    ("kmaps/bench/kinds/lengths/__init__.py", "", "", '"""How long vectors are."""\n'),
    ("kmaps/bench/kinds/lengths/measure.py", "", "", KIND_MEASURE),
    ("kmaps/bench/kinds/lengths/show.py", "", "", KIND_SHOW),
    (
        *("kmaps/bench/kinds/__init__.py", "after", "PACKAGES = {"),
        '    "lengths": "kmaps.bench.kinds.lengths",\n',
    ),
]


def follow(recipe: tuple[str, str, str, str], source: Path) -> None:
    """Add the file, or the line, of a recipe to a copy of the package."""
    name, how, anchor, text = recipe
    path = source / name
    if not how:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return
    before = path.read_text()
    assert before.count(anchor) == 1, f"{name}: where is {anchor!r}, of CONTRIBUTING?"
    anchor += "\n" if how == "after" else ""
    there = {"after": anchor + text, "before": text + anchor, "instead of": text.rstrip()}[how]
    path.write_text(before.replace(anchor, there))


@contextmanager
def changed_package(folder: Path) -> Iterator[Callable[..., Done]]:
    """Copy the package into a folder, follow the recipes there; yield `kmaps` of it."""
    source = folder / "source"
    for part in ("kmaps", "cli", "datasets", "experiments"):
        # What is compiled stays valid in a copy; unfinished files are named x.pyc.1, x.tmp.1.
        unneeded = shutil.ignore_patterns("*.pyc.*", "*.tmp.*")
        shutil.copytree(ROOT / part, source / part, ignore=unneeded)
    for recipe in [*RECIPES, *KIND]:
        follow(recipe, source)
    with kmaps_with(folder, {"PYTHONPATH": str(source)}) as run:
        yield run
