"""Places: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import NUMERICAL, Judged


class PlacesShown(Shown):
    """The share of patches in important regions, and the patches of some images."""

    fills = ("important", "n_train")
    judged = (Judged("important", NUMERICAL),)

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return the share of patches in important regions."""
        return ("important",)

    def known_figures(self) -> dict[str, Figure]:
        """Return the figure of the images with their patches."""
        from kmaps.bench.figures import places

        return {"places": Figure(places.draw, needs_arrays=True)}

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return it, where images are to be shown."""
        return self.known_figures() if experiment.shown else {}


SHOWN = PlacesShown()
