"""The toy problem: the functions that maps can learn of a disc against its surroundings."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from kmaps.bench.kinds.kind import Cell, Kind, Measured
from kmaps.bench.kinds.toy.show import SHOWN
from kmaps.bench.records.row import Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec.fields import AdditiveName, Experiment, Positive, Unique
from kmaps.bench.spec.rows import map_rows
from kmaps.maps import make_map


class Toy(Experiment):
    """The functions that maps can learn: the points of a disc against those around it.

    The points are a square grid of ``side`` × ``side`` on [-1, 1]²; positive are those within
    ``radius`` of the centre. C is LIBLINEAR's, with squared hinge loss.
    """

    kind: Literal["toy"]
    maps: Annotated[list[dict[str, Any]], Field(min_length=1)]
    kernels: Annotated[list[AdditiveName], Unique] = []
    side: Annotated[int, Field(ge=4)] = 40
    radius: Annotated[float, Field(gt=0, lt=1)] = 0.75
    C: Positive = 1.0


class ToyKind(Kind):
    """Accuracy of each map on the points that it is trained on, and the function it learns."""

    model = Toy
    shown = SHOWN

    def solvers(self, cells: Iterable[Cell]) -> set[str]:
        """Return which of liblinear and libsvm some cells train with."""
        return {"liblinear"}

    def cells(self, experiment: Toy) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        return [
            Cell(
                **experiment.cell_fields,
                setting="disc in a square",
                row=Row(entry["map"], params),
                kernel=kernel,
                options=experiment.model_dump(include={"side", "radius", "C"}),
            )
            for entry in experiment.maps
            for kernel, params in map_rows(entry, experiment.kernels)
        ]

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        from kmaps.bench.work.toy import fit_toy

        feature_map = make_map(cell.row.method, cell.kernel, cell.row.all_params)
        with timing.timed("train_s"):
            columns, arrays = fit_toy(feature_map, **cell.options)
        return Measured(columns, arrays)


KIND = ToyKind()
