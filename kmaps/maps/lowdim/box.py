r"""Maps of a stationary kernel of two or three variables (ldefm Sect. 6)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.lowdim.continuous import SampledTarget, polish
from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.lowdim.lp import Fit
from kmaps.maps.lowdim.pools import (
    POLAR_RADIUS,
    largest_products,
    polar_pool,
    product_pool,
    product_starts,
    with_signs,
)
from kmaps.maps.lowdim.selection import PoolSelection, Solution, best_start, line_pool
from kmaps.maps.lowdim.target import box_target, line_target
from kmaps.maps.signatures import even_in_each

_POINTS_A_HALF_WAVE = {2: 5.0, 3: 2.5}  # of the fastest cosine, by the number of inputs
_START_POINTS = 0.7  # part of these points that starts are found on
_LEAST_POINTS = {2: 16, 3: 7}  # between 0 and M on each axis
_PRECISION = 2e-3  # of the error, to which frequencies are moved
_ROOM = 1.15  # outputs of the full product over those wanted: what the programs choose from
# How many starts are drawn, and how many of them moved: at least so many, and so many over the
# number of outputs, because small programs are soon solved.
_DRAWN = {"modulation": (300, 0), "projection": (60, 6000)}
_MOVED = {"modulation": (32, 2000), "projection": (6, 800)}


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """A stationary kernel of n variables with differences up to ``length`` (n,) in size.

    ``signature`` takes differences (N, n); ``levels`` and ``continuous`` as for
    `MultiLowDimMap`; at most ``dim`` outputs are wanted.
    """

    signature: Callable
    length: NDArray
    dim: int
    levels: int | None = None
    continuous: bool = True

    def solve(self, method: str) -> Solution:
        """Return the map by one of :data:`kmaps.maps.parameters.METHODS`."""
        if method == "modulation_no_lp":
            return self._largest_products()
        form = "projection" if method.startswith("proj") else "modulation"
        best = self._from_polar_grid() if method == "proj" else self._from_products(form)
        sampled = self._sampled(form)
        return Solution(*polish(sampled, best, self.continuous, precision=_PRECISION))

    def _sampled(self, form: str, part: float = 1.0) -> SampledTarget:
        n = len(self.length)
        half_waves = max(
            axis.frequencies.max() * m / np.pi
            for axis, m in zip(self._axes, self.length, strict=True)
        )
        n_points = max(_LEAST_POINTS[n], int(part * _POINTS_A_HALF_WAVE[n] * half_waves) + 1)
        target = box_target(
            self.signature,
            self.length,
            form,
            n_points=self.levels or n_points,
            band=1.15 * half_waves + 1,
            discrete=self.levels is not None,
        )
        return SampledTarget.of(target)

    @property
    def _axis_dim(self) -> int:
        return 2 * int(np.ceil((_ROOM * self.dim) ** (1 / len(self.length))) // 2) + 1

    @cached_property
    def _axes(self) -> list[CosineSum]:
        return self._axis_maps(self._axis_dim)

    def _axis_maps(self, dim: int) -> list[CosineSum]:
        """Return maps of the kernel along each axis (ldefm Sect. 6.2)."""
        maps, solved = [], {}
        for i, high in enumerate(self.length):

            def along(lam: NDArray, i: int = i) -> NDArray:
                points = np.zeros((np.size(lam), len(self.length)))
                points[:, i] = np.ravel(lam)
                return self.signature(points).reshape(np.shape(lam))

            target = line_target(along, high, dim=dim, levels=self.levels)
            alike = high, along(target.grid()).tobytes()  # most kernels are alike along all axes
            if alike not in solved:
                selection = PoolSelection(target, *line_pool(target), precision=_PRECISION)
                solved[alike] = selection.best(dim).cosines
            maps.append(solved[alike])
        return maps

    def _largest_products(self) -> Solution:
        """Return the atoms with the largest products of the axes' weights (ldefm "⊗ no LP").

        Their weights are scaled to the kernel's value at 0.
        """
        target = self._sampled("modulation").target
        found = largest_products(self._axes, self.dim)
        at_zero = self.signature(np.zeros((1, len(self.length))))[0]
        cosines = replace(found, weights=found.weights * at_zero / found.weights.sum())
        return Solution(cosines, target.true_error(cosines), source="product")

    def _from_polar_grid(self) -> CosineSum:
        sampled = self._sampled("projection", _START_POINTS)
        near = POLAR_RADIUS * sampled.target.step
        return self._from_pool(sampled, polar_pool(sampled.target), near, "projection")[0]

    def _from_pool(
        self, sampled: SampledTarget, pool: NDArray, near: NDArray, form: str
    ) -> tuple[CosineSum, Fit]:
        selection = PoolSelection(
            sampled.target,
            pool,
            near,
            form=form,
            continuous=self.continuous,
            tried=1,
            precision=_PRECISION,
        )
        return selection.start(self.dim)

    def _from_products(self, form: str) -> CosineSum:
        """Return the best start of a form from products of maps of one variable.

        These are the sets of atoms that programs find in Ω_⊗, those of `product_starts` and, for
        a projection, the best modulation, which is a projection of as many outputs.
        """
        sampled = self._sampled(form, _START_POINTS)
        pool = product_pool([np.unique(axis.frequencies[:, 0]) for axis in self._axes], form)
        found = [self._from_pool(sampled, pool, np.zeros(len(self.length)), form)]
        others = {max(1, self._axis_dim + more) for more in (-2, 2)}
        choices = [self._axes, *(self._axis_maps(dim) for dim in sorted(others))]
        count, tried = (
            max(least, share // self.dim) for least, share in (_DRAWN[form], _MOVED[form])
        )
        starts = product_starts(choices, form, self.dim, count)
        found.append(best_start(sampled, starts, form, tried * self.continuous, _PRECISION))
        if form == "projection" and even_in_each(self.signature, self.length):
            modulation = self._from_products("modulation")
            as_projection = np.unique(
                np.vstack([with_signs(atom[None]) for atom in modulation.frequencies]), axis=0
            )
            found.append(best_start(sampled, [as_projection], form, self.continuous, _PRECISION))
        return min(found, key=lambda start: start[1].error)[0]
