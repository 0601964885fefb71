"""A new kind of experiment is one class, one line in the registry, one YAML; nothing else."""

import json

import pytest
from changed_package import changed_package

CLASS = '''\
"""Lengths: how long the vector of a value is, against its square root."""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from kmaps.bench.kinds.kind import Figure, Kind, Measured
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged
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
    fills = ("linf", "dim", "encode_s")
    judged = (Judged("linf", NUMERICAL), Judged("dim", EXACT))

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
'''
LINE = """
from kmaps.bench.kinds.lengths import LengthsKind  # noqa: E402

KINDS["lengths"] = LengthsKind()
"""
EXPERIMENT = """\
experiment: long
kind: lengths
about: How long vectors are.
kernels: [chi2, js]
values: [0.5, 1]
maps:
  - {map: homogeneous, order: [1, 2]}
"""
N_CELLS = 8


@pytest.fixture
def kmaps(tmp_path):
    """Yield `kmaps` of a copy of the package that has the new kind, and an experiment of it."""
    (tmp_path / "long.yaml").write_text(EXPERIMENT)
    files = "bench/kinds/lengths.py", CLASS, "bench/kinds/__init__.py", LINE
    with changed_package(tmp_path, *files) as command:
        yield command


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_a_new_kind_is_run_resumed_gated_shown_and_drawn(kmaps, tmp_path):
    listed = kmaps("run", "long.yaml", "--out", "out", "--dry-run")
    assert listed.stdout.count("to do") == N_CELLS
    assert "length at 0.5 chi2 homogeneous order=1" in listed.stdout
    ran = kmaps("run", "long.yaml", "--out", "out", "--jobs", "2", "--threads", "1")
    assert f"{N_CELLS}/{N_CELLS}" in ran.stderr
    assert "length at 1" in ran.stdout
    out = tmp_path / "out"
    first = records(out)
    assert len(first) == N_CELLS
    assert all(r["threads"] == 1 and r["jobs"] == 2 and r["encode_s"] > 0 for r in first)
    assert all(0 < r["linf"] < 0.3 for r in first)
    assert (out / "lengths.png").stat().st_size > 1000

    # Resumed: a lost record is measured again, the others are left alone.
    lines = (out / "records.jsonl").read_text().splitlines(keepends=True)
    (out / "records.jsonl").write_text("".join(lines[:-1]))
    kmaps("run", "long.yaml", "--out", "out", "--quiet")
    assert records(out)[:-1] == first[:-1]
    assert records(out)[-1]["linf"] == first[-1]["linf"]
    assert "nothing to do" in kmaps("run", "long.yaml", "--out", "out").stderr

    # Gated: against itself, with a number moved, with a record less.
    base = tmp_path / "base.jsonl"
    base.write_text("".join(lines))
    assert f"{N_CELLS} same" in kmaps("check", "out", "--against", base).stdout
    moved = [r | {"linf": 1.01 * r["linf"]} if i == 0 else r for i, r in enumerate(first)]
    (tmp_path / "moved.jsonl").write_text("".join(json.dumps(r) + "\n" for r in moved))
    assert "linf" in kmaps("check", "moved.jsonl", "--against", base, code=1).stdout
    (tmp_path / "fewer.jsonl").write_text("".join(lines[:-1]))
    kmaps("check", "fewer.jsonl", "--against", base, code=1)

    # Shown: as a table, and on a page with its figure and a part of its own.
    assert "homogeneous, r = 3" in kmaps("table", "out").stdout
    kmaps("report", "out")
    page = (out / "README.md").read_text()
    assert f"## Lengths\n\nThere are {N_CELLS} of them." in page
    assert "![lengths.png](lengths.png)" in page

    # Refused: a flag that it cannot honour, a figure whose arrays are gone, a mistake in the file.
    refused = kmaps("run", "long.yaml", "--out", "other", "--skip-bad", code=2)
    assert "the kind lengths has no images to leave out" in refused.stderr
    assert not (tmp_path / "other").exists()
    (out / "lengths.png").unlink()
    (out / "arrays.npz").unlink()
    missing = kmaps("run", "long.yaml", "--out", "out", code=4)
    assert f"the figure lengths needs the arrays of {N_CELLS} of {N_CELLS} cells" in missing.stderr
    assert len(records(out)) == N_CELLS
    (tmp_path / "long.yaml").write_text(EXPERIMENT.replace("values", "valeus"))
    wrong = kmaps("run", "long.yaml", code=2)
    assert "long.yaml:5:1: valeus: unknown key, did you mean 'values'?" in wrong.stderr
