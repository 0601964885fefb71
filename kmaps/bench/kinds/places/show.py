"""Places: judged columns, measures, figures and sections."""

from typing import Any

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.gate import NUMERICAL, Judged


class PlacesShown(Shown):
    """Places: judged columns, measures and the figure."""

    fills = ("important", "n_train")
    judged = (Judged("important", NUMERICAL),)
    measured = ("important",)
    known_figures = {"places": Figure("kmaps.bench.figures.places.draw_places", needs_arrays=True)}

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the figures of an experiment by name."""
        return dict(self.known_figures) if experiment.shown else {}


SHOWN = PlacesShown()
