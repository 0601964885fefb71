"""Places: where the patches of images lie, on a grid or where the image is salient."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt
from pydantic import model_validator as validator

from kmaps.bench.kinds.kind import Cell, Kind, Measured
from kmaps.bench.kinds.places.show import SHOWN
from kmaps.bench.records.row import Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec.fields import OnDataset
from kmaps.data import draw_split, load_dataset

SAMPLINGS = ("grid", "salient")


class Places(OnDataset):
    """Where patches lie: the share in important regions, on a grid and by saliency.

    The images are the training samples of the dataset's splits.
    """

    kind: Literal["places"]
    patch: Annotated[int, Field(ge=4, multiple_of=4)] = 16
    step: PositiveInt = 6
    longest: PositiveInt = 300
    shown: NonNegativeInt = 4

    @validator(mode="after")
    def _of_images(self) -> "Places":
        if not self.dataset.has_images:
            raise ValueError(f"this kind needs images, but dataset {self.dataset.title} has none")
        return self


class PlacesKind(Kind):
    """The share of patches in important regions, and the patches of some images for a figure."""

    model = Places
    shown = SHOWN

    def cells(self, experiment: Places) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        options = experiment.model_dump(include={"patch", "step", "longest"})
        return [
            Cell(
                **experiment.cell_fields,
                row=Row(sampling),
                split=split,
                options={**options, "shown": experiment.shown if split == 0 else 0},
            )
            for split in range(experiment.splits)
            for sampling in SAMPLINGS
        ]

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Draw every split of some cells, to see whether there are so many samples."""
        for cell in cells:
            draw_split(load_dataset(cell.source or cell.dataset), cell.protocol, cell.split or 0)

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        from kmaps.bench.work.places import placed
        from kmaps.features import image_of

        options = cell.options
        dataset: Any = load_dataset(cell.source or cell.dataset)
        rows, _ = draw_split(dataset, cell.protocol, cell.split or 0)
        arrays: dict[str, Any] = {}
        shares = []
        for i, row in enumerate(rows):
            image = image_of(dataset, row, options["longest"])[0]
            patches = placed(image, cell.row.method, options["patch"], options["step"])
            shares.append(patches.important)
            if i < options["shown"]:
                arrays[f"image{i}"] = image
                arrays[f"along{i}"] = patches.along
                arrays[f"within{i}"] = patches.within
        arrays["important"] = np.array(shares)  # figures need arrays of every cell
        return Measured({"important": float(np.mean(shares)), "n_train": len(rows)}, arrays)


KIND = PlacesKind()
