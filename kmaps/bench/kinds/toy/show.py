"""The toy problem: judged columns, measures, figures and sections."""

from collections.abc import Sequence

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, FRACTION, Judged


class ToyShown(Shown):
    fills = ("accuracy", "dim", "train_s")
    judged = (Judged("accuracy", FRACTION, highest=True), Judged("dim", EXACT))
    known_figures = {
        "functions": Figure("kmaps.bench.figures.learned.draw_functions", needs_arrays=True)
    }

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        return ("accuracy", "dim")


SHOWN = ToyShown()
