r"""Maps of a stationary kernel of two or three variables, and where their frequencies come from.

The pools are a polar grid and Ω_⊗, the products of maps of one variable (ldefm Sect. 6).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.lowdim import selection
from kmaps.maps.lowdim.continuous import SampledTarget, polish
from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.lp import Fit
from kmaps.maps.lowdim.target import Target, box_target, line_target
from kmaps.maps.signatures import even_in_each

POLAR_RADIUS = 0.5  # spacing of the polar pool's radii, in half waves
_POLAR_DIRECTIONS = {2: 24, 3: 60}  # in a half space, by the number of inputs
_NOISE = 0.2  # on the logarithms of weights, which order the atoms of a start
_SHIFTED_AXES = 0.3  # how often a start shifts an axis
_SHIFTED_LINES = (0.0, 0.5, 1.0)  # and the part of the lines along the first axis


def product_pool(axes: list[NDArray], form: str) -> NDArray:
    r"""Return the products of each axis' frequencies, Ω_⊗ (ldefm eq. 21), as rows (P, n).

    For a projection every combination of signs belongs to it, up to a common one.
    """
    rows = np.array(list(product(*axes)))
    return rows if form == "modulation" else with_signs(rows)


def with_signs(rows: NDArray) -> NDArray:
    """Return atoms (P, n) with every combination of signs, up to a common one."""
    n = rows.shape[1]
    signs = np.array(list(product((1, -1), repeat=n)))
    signed = (rows[:, None] * signs).reshape(-1, n) + 0.0
    # Of a frequency and its opposite, the one whose first non-zero component is positive.
    first = np.argmax(signed != 0, axis=1)
    leading = signed[np.arange(len(signed)), first]
    return np.unique(signed[leading >= 0], axis=0)


def polar_pool(target: Target, turn: float = 0.0, radius: float = POLAR_RADIUS) -> NDArray:
    """Return a grid of directions and sizes in the half space (ldefm Sect. 7.3), as rows (P, n).

    It is turned by a part of the angle between directions; radii are ``radius`` half waves apart.
    """
    n = len(target.high)
    count = _POLAR_DIRECTIONS[n]
    if n == 3:  # a spiral of equal areas on half the sphere
        height = (np.arange(count) + 0.5) / count
        angle = np.pi * (1 + np.sqrt(5)) * (np.arange(count) + turn)
        flat = np.sqrt(1 - height**2)
        directions = np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
    else:
        angle = np.pi * (np.arange(count) + turn) / count
        directions = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    sizes = np.arange(radius, target.band, radius)
    rows = (sizes[:, None, None] * directions * target.step).reshape(-1, n)
    return np.vstack([np.zeros(n), rows])


def product_starts(
    choices: list[list[CosineSum]], form: str, dim: int, count: int
) -> list[NDArray]:
    """Draw sets of frequencies of at most ``dim`` outputs from products of the axes' maps.

    Which set is best depends on a few atoms of small weight and on where the lattice lies: shifted
    by half a step along an axis it keeps its period and loses the constant there, and lines of it
    may be shifted alone. A draw shifts some, and takes the atoms with the largest products of
    weights per output, up to some noise. Equal draws of the ``count`` are returned once.
    """
    rng = np.random.default_rng(0)
    starts: dict[bytes, NDArray] = {}
    for _ in range(count):
        rows, density = _lattice(choices[rng.integers(len(choices))], rng)
        if form == "projection":
            signed = with_signs(rows)
            unsigned = {tuple(row): value for row, value in zip(rows, density, strict=True)}
            rows = signed
            density = np.array([unsigned[tuple(row)] for row in np.abs(signed)])
        order = np.argsort(-density * np.exp(_NOISE * rng.normal(size=len(rows))), kind="stable")
        chosen = order[selection.largest_within(atom_dims(rows[order], form), dim)]
        frequencies = rows[np.sort(chosen)]
        starts[frequencies.tobytes()] = frequencies
    return list(starts.values())


def _lattice(axes: list[CosineSum], rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return frequencies (P, n) with shifts drawn, and the products of weights an output (P,)."""
    combs = [(_comb(axis), _comb(axis, shifted=True)) for axis in axes]
    others = [pair[int(rng.random() < _SHIFTED_AXES)] for pair in combs[1:]]
    share = rng.choice(_SHIFTED_LINES)
    rows = []
    density = []
    for line in product(*(zip(*comb, strict=True) for comb in others)):
        along = combs[0][int(rng.random() < share)]
        for omega, value in zip(*along, strict=True):
            rows.append([omega, *(frequency for frequency, _ in line)])
            density.append(value * np.prod([weight for _, weight in line]))
    return np.array(rows), np.array(density)


def _comb(axis: CosineSum, shifted: bool = False) -> tuple[NDArray, NDArray]:
    """Return a map's frequencies and weights per output, or frequencies half way between."""
    frequencies, weights = axis.ascending()
    density = np.where(frequencies == 0, weights, weights / 2)
    if not shifted or len(frequencies) < 2:
        return frequencies, density
    return (frequencies[1:] + frequencies[:-1]) / 2, (density[1:] + density[:-1]) / 2


_POINTS_A_HALF_WAVE = {2: 5.0, 3: 2.5}  # points of the fastest cosine, by the number of inputs
_START_POINTS = 0.7  # part of these points on which starts are found
_LEAST_POINTS = {2: 16, 3: 7}  # between 0 and M on each axis
_PRECISION = 2e-3  # part of the error: frequencies move until it is reached
_ROOM = 1.15  # the programs choose from so many times the wanted outputs
_RADII = (0.35, 0.55)  # limits for the spacing of radii in random polar grids
# The numbers of random starts, and of starts that are moved: at least so many, and more with fewer
# outputs, because small programs are fast.
_DRAWN = {"modulation": (300, 0), "projection": (60, 6000)}
_MOVED = {"modulation": (32, 2000), "projection": (6, 800)}


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """A stationary kernel of n variables with differences up to ``length`` (n,) in size.

    `MultiLowDimMap` describes the parameters; ``signature`` takes differences (N, n).
    """

    signature: Callable
    length: NDArray
    dim: int
    levels: int | None = None
    continuous: bool = True
    n_grids: int = 1
    also_box: bool = False

    def solve(self, method: str) -> selection.Solution:
        """Return the map by one of :data:`kmaps.maps.parameters.Method`."""
        solution = self._solved(method)
        if self.levels is None or not self.also_box:
            return solution
        cosines = replace(self, levels=None)._solved(method).cosines
        error = self._sampled(cosines.form).target.true_error(cosines)
        if error < solution.error:
            return replace(solution, cosines=cosines, error=error)
        return solution

    def _solved(self, method: str) -> selection.Solution:
        if method == "modulation_no_lp":
            return self._largest_products()
        form = "projection" if method.startswith("proj") else "modulation"
        best = self._from_polar_grid() if method == "proj" else self._from_products(form)
        sampled = self._sampled(form)
        return selection.Solution(*polish(sampled, best, self.continuous, precision=_PRECISION))

    def _sampled(self, form: str, density: float = 1.0) -> SampledTarget:
        n = len(self.length)
        half_waves = max(
            axis.frequencies.max() * m / np.pi
            for axis, m in zip(self._axes, self.length, strict=True)
        )
        n_points = max(_LEAST_POINTS[n], int(density * _POINTS_A_HALF_WAVE[n] * half_waves) + 1)
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
        maps = []
        solved = {}
        for i, high in enumerate(self.length):

            def along(lam: NDArray, i: int = i) -> NDArray:
                points = np.zeros((np.size(lam), len(self.length)))
                points[:, i] = np.ravel(lam)
                return self.signature(points).reshape(np.shape(lam))

            target = line_target(along, high, dim=dim, levels=self.levels)
            values = high, along(target.grid()).tobytes()  # most kernels are alike along all axes
            if values not in solved:
                pool, near = selection.line_pool(target)
                programs = selection.PoolSelection(target, pool, near, precision=_PRECISION)
                solved[values] = programs.best(dim).cosines
            maps.append(solved[values])
        return maps

    def _largest_products(self) -> selection.Solution:
        """Return the atoms with the largest products of the axes' weights (ldefm "⊗ no LP").

        Their weights are scaled to the kernel's value at 0.
        """
        rows = np.array(list(product(*(axis.frequencies[:, 0] for axis in self._axes))))
        weights = np.array([np.prod(row) for row in product(*(a.weights for a in self._axes))])
        heaviest = CosineSum(rows, weights, "modulation").heaviest_first()
        fits = selection.largest_within(atom_dims(heaviest.frequencies, "modulation"), self.dim)
        weights = heaviest.weights[fits]
        weights *= self.signature(np.zeros((1, len(self.length))))[0] / weights.sum()
        cosines = CosineSum(heaviest.frequencies[fits], weights, "modulation")
        error = self._sampled("modulation").target.true_error(cosines)
        return selection.Solution(cosines, error, source="product")

    def _from_polar_grid(self) -> CosineSum:
        """Return the best start from ldefm's grid and from others, turned and scaled at random."""
        sampled = self._sampled("projection", _START_POINTS)
        rng = np.random.default_rng(0)
        starts = []
        for number in range(self.n_grids):
            turn = rng.random() if number else 0.0
            radius = rng.uniform(*_RADII) if number else POLAR_RADIUS
            pool = polar_pool(sampled.target, turn, radius)
            near = radius * sampled.target.step
            starts.append(self._from_pool(sampled, pool, near, "projection"))
        return min(starts, key=lambda start: start[1].error)[0]

    def _from_pool(
        self, sampled: SampledTarget, pool: NDArray, near: NDArray, form: str
    ) -> tuple[CosineSum, Fit]:
        of_pool = selection.PoolSelection(
            sampled.target,
            pool,
            near,
            form=form,
            continuous=self.continuous,
            tried=1,
            precision=_PRECISION,
        )
        return of_pool.start(self.dim)

    def _from_products(self, form: str) -> CosineSum:
        """Return the best start of a form from products of maps of one variable.

        The starts are the sets of atoms that programs find in Ω_⊗, the sets of `product_starts`
        and, for a projection, the best modulation, which is a projection of as many outputs.
        """
        sampled = self._sampled(form, _START_POINTS)
        pool = product_pool([np.unique(axis.frequencies[:, 0]) for axis in self._axes], form)
        candidates = [self._from_pool(sampled, pool, np.zeros(len(self.length)), form)]
        others = {max(1, self._axis_dim + more) for more in (-2, 2)}
        choices = [self._axes, *(self._axis_maps(dim) for dim in sorted(others))]
        count, tried = (
            max(least, share // self.dim) for least, share in (_DRAWN[form], _MOVED[form])
        )
        starts = product_starts(choices, form, self.dim, count)
        tried *= self.continuous
        candidates.append(selection.best_start(sampled, starts, form, tried, _PRECISION))
        if form == "projection" and even_in_each(self.signature, self.length):
            modulation = self._from_products("modulation")
            signed = [with_signs(atom[None]) for atom in modulation.frequencies]
            starts = [np.unique(np.vstack(signed), axis=0)]
            tried = int(self.continuous)
            candidates.append(selection.best_start(sampled, starts, form, tried, _PRECISION))
        return min(candidates, key=lambda start: start[1].error)[0]
