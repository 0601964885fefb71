"""Random features: how the error of maps of random frequencies falls with their number."""

from typing import Annotated, Any, Literal

from pydantic import Field

from kmaps.bench.kinds.kind import Cell, Measured, SampledKind
from kmaps.bench.kinds.random_features.show import SHOWN
from kmaps.bench.records.row import Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec.fields import Count, KernelName, OnSamples, Unique
from kmaps.bench.spec.rows import map_rows
from kmaps.maps import make_map


class RandomFeaturesExperiment(OnSamples):
    """How the error of maps of random frequencies falls with their number.

    Each map is compared with its kernel on all pairs of a test and a training sample, drawn
    ``draws`` times with other frequencies, on each of ``splits``.
    """

    kind: Literal["random-features"]
    maps: Annotated[list[dict[str, Any]], Field(min_length=1)]
    kernels: Annotated[list[KernelName], Unique] = []
    draws: Count = 5


class RandomFeaturesKind(SampledKind):
    """The error of each map with its kernel, and its two parts, over all draws together."""

    model = RandomFeaturesExperiment
    shown = SHOWN
    work = ("kmaps.bench.work.random_errors",)

    def cells(self, experiment: RandomFeaturesExperiment) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        return [
            Cell(
                **experiment.cell_fields,
                row=Row(entry["map"], params),
                kernel=kernel,
                split=split,
                options={"draws": experiment.draws},
            )
            for split in range(experiment.splits)
            for entry in experiment.maps
            for kernel, params in map_rows(entry, experiment.kernels)
        ]

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        from kmaps.bench.work.random_errors import random_errors

        feature_map = make_map(cell.row.method, cell.kernel, cell.row.all_params)
        n = cell.options["draws"]
        first = n * (cell.split or 0)
        draws = range(first, first + n)  # every split has other draws
        errors = random_errors(feature_map, cell.kernel, shared.x_train, shared.x_test, draws)
        return Measured({**errors, **shared.sizes})


KIND = RandomFeaturesKind()
