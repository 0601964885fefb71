"""Scaling: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.classification.show import ClassificationShown
from kmaps.bench.kinds.shown import Figure, Section
from kmaps.bench.records.columns import Record
from kmaps.bench.report.growth import growth_table


class ScalingShown(ClassificationShown):
    """A classification, and how its time and memory grow with the samples."""

    def known_figures(self) -> dict[str, Figure]:
        """Return the figures of classifications, and time and memory over the samples."""
        from kmaps.bench.figures import scaling

        return {**super().known_figures(), "scaling": Figure(scaling.draw)}

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the figures that the experiment names, and that over the samples."""
        return {**super().figures(experiment), "scaling": self.known_figures()["scaling"]}

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return how time and memory grow."""
        return [("Growth", growth_table(records))]


SHOWN = ScalingShown()
