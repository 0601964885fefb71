"""The toy problem: judged columns, measures, figures and sections."""

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.gate import EXACT, FRACTION, Judged


class ToyShown(Shown):
    """The toy problem: judged columns, measures and the figure."""

    fills = ("accuracy", "dim", "train_s")
    judged = (Judged("accuracy", FRACTION, highest=True), Judged("dim", EXACT))
    measured = ("accuracy", "dim")
    known_figures = {
        "functions": Figure("kmaps.bench.figures.learned.draw_functions", needs_arrays=True)
    }


SHOWN = ToyShown()
