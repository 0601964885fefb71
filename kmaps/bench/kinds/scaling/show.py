"""Scaling: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.classification.show import ClassificationShown
from kmaps.bench.kinds.shown import Figure
from kmaps.bench.records.columns import Record
from kmaps.bench.report.document import Section
from kmaps.bench.report.laws import growth_table


class ScalingShown(ClassificationShown):
    """Scaling: judged columns, measures, figures and sections."""

    known_figures = {
        **ClassificationShown.known_figures,
        "scaling": Figure("kmaps.bench.figures.laws.draw_scaling"),
    }

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the figures of an experiment by name."""
        return {**super().figures(experiment), "scaling": self.known_figures["scaling"]}

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return the sections of a page that only this kind has."""
        return [Section("Growth", [growth_table(records)])]


SHOWN = ScalingShown()
