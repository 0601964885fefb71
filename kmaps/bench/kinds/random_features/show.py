"""Random features: judged columns, measures, figures and sections."""

from collections.abc import Sequence

from kmaps.bench.kinds.shown import SIZES, Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged
from kmaps.bench.report.document import Section
from kmaps.bench.report.laws import convergence_table


class RandomFeaturesShown(Shown):
    """Random features: judged columns, measures and sections."""

    fills = ("linf", "rms", "additive_rms", "random_rms", "dim", *SIZES)
    judged = (
        *(Judged(name, NUMERICAL) for name in ("linf", "rms", "additive_rms", "random_rms")),
        Judged("dim", EXACT),
    )
    measured = ("linf", "rms", "dim")
    known_figures = {"convergence": Figure("kmaps.bench.figures.laws.draw_convergence")}

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return the sections of a page that only this kind has."""
        return [Section("Convergence", [convergence_table(records)])]


SHOWN = RandomFeaturesShown()
