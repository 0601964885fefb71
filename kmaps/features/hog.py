"""Histograms of oriented gradients on a pyramid of cells."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_flag, check_number, check_positive, check_whole, check_whole_list
from kmaps.errors import InputError
from kmaps.features.base import Arrays, Feature
from kmaps.features.gradients import Cells, gradients, half_overlapping, level_out, oriented

_PARTS = (2, 4, 7)  # of the shorter side, from coarse to fine


@dataclass(frozen=True)
class HogPyramid(Feature):
    """Gradient energies by orientation, summed over cells of several sizes.

    The gradients of an image are Gaussian derivatives; their magnitudes, shared linearly between
    the two nearest orientations, are summed over the cells of
    :func:`kmaps.features.gradients.half_overlapping`, divided by the sum over the whole image and
    multiplied by ``growth`` to the power of the level, so that fine cells count more. They follow
    Maji and Malik, "Fast and accurate digit classification" (2009), as in lac, Sect. 6: with the
    defaults an image of MNIST has 12 × 181 = 2,172 values.
    """

    # Sides in pixels, coarse to fine. "auto": a half, a quarter, a seventh of the shorter side,
    # rounded down, so that the tiles fit; None: rounded to the nearest, as published.
    cells: tuple[int, ...] | Literal["auto"] | None = "auto"
    overlap: bool = True  # tile also with cells shifted by half a side
    orientations: int = 12
    signed: bool = False  # whether opposite gradients differ
    sigma: float = 0.5  # the Gaussian's width in pixels; 0 means plain differences
    growth: float = 2.0
    # Each gradient is divided by the mean magnitude under a Gaussian of this width in pixels, so
    # that faint edges count next to strong ones; 0 means no division.
    local: float = 0.0

    name: ClassVar[str] = "hog-pyramid"
    uniform: ClassVar[bool] = True
    block_images: ClassVar[int] = 512

    def __post_init__(self) -> None:
        if self.cells is not None and self.cells != "auto":
            self.check(check_whole_list, "cells", low=1)
        self.check(check_whole, "orientations", low=2)
        self.check(check_number, "sigma", "local", at_least=0)
        self.check(check_positive, "growth")
        self.check(check_flag, "overlap", "signed")

    def describe(self, images: NDArray[np.float32]) -> Arrays:
        """Return the vectors, ordered by cell and then by orientation."""
        from kmaps._loops import orientation as loops  # slow to import

        cells, levels = self.pyramid(images.shape[1:])
        energies = oriented(*gradients(images, self.sigma), self.orientations, self.signed)
        if self.local:
            level_out(energies, self.local)
        sums = np.empty((len(images), len(cells), self.orientations), np.float32)
        loops.sum_cells(energies, cells, sums)
        totals = energies.sum(axis=(1, 2, 3), dtype=np.float64)
        # An image of one grey has no gradient: its vector is zero.
        sums /= np.where(totals > 0, totals, 1).astype(np.float32)[:, None, None]
        sums *= np.float32(self.growth) ** levels.astype(np.float32)[:, None]
        return {"vectors": sums.reshape(len(images), -1)}

    def pyramid(self, shape: tuple[int, int]) -> tuple[Cells, NDArray[np.int64]]:
        """Return the cells of an image of a shape, and the level of each cell."""
        shorter = min(shape)
        if self.cells == "auto":
            sides = tuple(max(1, shorter // divisor) for divisor in _PARTS)
        else:
            sides = self.cells or tuple(max(1, round(shorter / divisor)) for divisor in _PARTS)
        if max(sides) > shorter:
            raise InputError(
                f"{self.name}: {shape[1]} × {shape[0]} pixels (width × height) are too few for "
                f"cells of {max(sides)} × {max(sides)}; give smaller cells"
            )
        return half_overlapping(shape, sides, self.overlap)
