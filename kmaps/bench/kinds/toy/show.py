"""The toy problem: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, FRACTION, Judged


class ToyShown(Shown):
    """Accuracy of each map on the points that it is trained on, and its function."""

    fills = ("accuracy", "dim", "train_s")
    judged = (Judged("accuracy", FRACTION, highest=True), Judged("dim", EXACT))

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return accuracy and dimension."""
        return ("accuracy", "dim")

    def known_figures(self) -> dict[str, Figure]:
        """Return the figure of the functions."""
        from kmaps.bench.figures import functions

        return {"functions": Figure(functions.draw, needs_arrays=True)}

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return all of its figures."""
        return self.known_figures()


SHOWN = ToyShown()
