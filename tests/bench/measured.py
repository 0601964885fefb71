"""Cells measured in the tests' own process, as a run measures them in one of theirs."""

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.kind import Cell, Measured
from kmaps.bench.run.measure import measure_cell

TOLD = {
    *("peak_bytes", "train_peak_bytes", "warnings"),
    *("load_before", "load_after", "other_cpus", "stolen_cpus"),
}
"""The columns that the clock fills, whatever the kind."""


def cells_of(text: str) -> list[Cell]:
    """Return the cells of an experiment."""
    experiment = spec.parse(text)
    return KINDS[experiment.kind].cells(experiment)


def measured(cell: Cell, **options) -> Measured:
    """Set a cell up, alone in its batch, and measure it."""
    kind = KINDS[cell.kind]
    return measure_cell(kind, cell, kind.set_up(cell, **options))
