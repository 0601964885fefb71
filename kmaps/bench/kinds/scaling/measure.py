"""Scaling: how time and memory grow with the number of training samples."""

from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, PositiveInt
from pydantic import model_validator as validator

from kmaps.bench.kinds.classification.measure import Classification, ClassificationKind
from kmaps.bench.kinds.kind import Cell
from kmaps.bench.records.row import REFERENCES, is_third_party
from kmaps.bench.spec.fields import Unique, known_name
from kmaps.maps import MAPS


class Scaling(Classification):
    """A classification on growing parts of the official training set.

    Each row is measured on all ``sizes`` up to the one of its method in ``limits``; each size has
    the samples of the sizes before.
    """

    kind: Literal["scaling"]
    sizes: Annotated[list[PositiveInt], Field(min_length=2), Unique, AfterValidator(sorted)]
    limits: dict[
        Annotated[str, known_name("method", lambda: (*REFERENCES, *MAPS), unless=is_third_party)],
        PositiveInt,
    ] = {}

    @validator(mode="after")
    def _official_sizes(self) -> "Scaling":
        if self.dataset.protocol != {"official": True} or self.splits != 1:
            raise ValueError("a scaling experiment needs dataset: official: true, and one split")
        return self


class ScalingKind(ClassificationKind):
    """A classification whose rows differ in their numbers of training samples."""

    model: ClassVar[type[Scaling]] = Scaling

    def cells(self, experiment: Scaling) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        cells = super().cells(experiment)
        return [
            replace(
                cell, row=replace(cell.row, size=size), protocol={"official": True, "train": size}
            )
            for size in experiment.sizes
            for cell in cells
            if size <= experiment.limits.get(cell.row.method, size)
        ]


KIND = ScalingKind()
