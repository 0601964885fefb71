"""Random features: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.shown import Figure, Section, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged
from kmaps.bench.report.convergence import convergence_table


class RandomFeaturesShown(Shown):
    """The errors of maps of random frequencies, and how they fall."""

    fills = (
        "linf",
        "rms",
        "additive_rms",
        "random_rms",
        "dim",
        "n_train",
        "n_test",
        "n_features",
        "n_skipped",
    )
    judged = (
        Judged("linf", NUMERICAL),
        Judged("rms", NUMERICAL),
        Judged("additive_rms", NUMERICAL),
        Judged("random_rms", NUMERICAL),
        Judged("dim", EXACT),
    )

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return the errors and the outputs."""
        return ("linf", "rms", "dim")

    def known_figures(self) -> dict[str, Figure]:
        """Return the figure of the errors over the number of frequencies."""
        from kmaps.bench.figures import convergence

        return {"convergence": Figure(convergence.draw)}

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return all of its figures."""
        return self.known_figures()

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return how the errors fall."""
        return [("Convergence", convergence_table(records))]


SHOWN = RandomFeaturesShown()
