r"""The low-dimensional map by linear programs (ldefm Sect. 2.1, 4.1, 4.2).

Over a pool of frequencies the program :math:`\min\sum_\omega D_\omega\alpha_\omega + \gamma C`
trades the error C for a proxy of the dimension. Bisecting γ finds sparse solutions of about the
wanted dimension; each is thinned to it, its weights are fitted again, and the best few are polished
with frequencies that move.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.lowdim.continuous import PRECISION, SampledTarget, best_weights, move, polish
from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.lp import Fit, minimise
from kmaps.maps.lowdim.target import Target

FINE_SPACING = {True: 0.1, False: 0.02}
"""Spacing of the fine pool in half waves (ldefm Sect. 4.2), by whether the frequencies may move."""

_BISECTIONS = {1: 14, 2: 9, 3: 9}  # by the number of variables: more make programs large
_LARGEST_LOG_GAMMA = np.log(1e9)
_TRIED = 5  # the best is picked from so many candidates …
_TRIED_STEPS = 20  # … after so many steps
_SPLIT = 0.25  # in half waves: finer pools split one frequency between two neighbours


@dataclass(frozen=True, eq=False)
class Solution:
    """An approximate signature, its error, and a lower bound.

    ``error`` is the true one, between the points too, in the target's weight; nothing of as many
    outputs has an error below ``lower_bound``; ``source`` is as `LowDimMap.solved_by_`.
    """

    cosines: CosineSum
    error: float
    lower_bound: float = 0.0
    source: str = "lp"


def line_pool(
    target: Target, pool: str | int = "fine", continuous: bool = True
) -> tuple[NDArray, NDArray]:
    """Return a pool of frequencies (P, 1), as of `LowDimMap`, and which distance (1,) is none."""
    half_waves = FINE_SPACING[continuous] if pool == "fine" else 0.5 ** int(pool)
    count = int(np.ceil(target.band / half_waves)) + 1
    near = 1.5 * half_waves if half_waves <= _SPLIT else 0.0
    return np.arange(count)[:, None] * half_waves * target.step, near * target.step


class PoolSelection:
    """Select few frequencies of a pool (P, n), by linear programs.

    Atoms no further apart than ``near`` (n,) count as one. Of the programs' candidates the
    ``tried`` best have their frequencies moved, to a ``precision`` of the error; ldefm moves one.
    """

    def __init__(
        self,
        target: Target,
        pool: NDArray,
        near: NDArray,
        *,
        form: str = "projection",
        norm: str = "linf",
        continuous: bool = True,
        tried: int = _TRIED,
        precision: float = PRECISION,
    ) -> None:
        self.sampled = SampledTarget.of(target, norm)
        self.pool = pool
        self.near = near
        self.form = form
        self.continuous = continuous
        self.tried = tried
        self.precision = precision
        self._columns = self.sampled.columns(pool, form)
        self._dims = atom_dims(pool, form)
        self._relaxed: Fit | None = None  # the last solution: the next one is near

    def relaxed(self, atoms: NDArray, log_gamma: float) -> NDArray:
        """Return the weights of atoms of the pool at a price of the error (ldefm Sect. 2.1)."""
        target = self.sampled.target
        at_zero = target.signature(np.zeros((1, self.pool.shape[1])))[0]
        self._relaxed = minimise(
            self._columns[:, atoms],
            self.sampled.values,
            price=self._dims[atoms].astype(float),
            gamma=np.exp(log_gamma) / at_zero,
            quadrature=self.sampled.quadrature,
            near=self._relaxed,
        )
        return self._relaxed.x

    def best(self, max_dim: int) -> Solution:
        """Return the best map of at most ``max_dim`` outputs that the programs lead to."""
        best, _ = self.start(max_dim)
        return Solution(*polish(self.sampled, best, self.continuous))

    def start(self, max_dim: int) -> tuple[CosineSum, Fit]:
        """Return the most promising map of at most ``max_dim`` outputs, and its fit."""
        candidates = self._candidates(max_dim)
        tried = self.tried if self.continuous else 0
        best, fit = best_start(self.sampled, candidates, self.form, tried, self.precision)
        return (best, fit) if self.continuous else self._exchange(best, fit)

    def _exchange(self, best: CosineSum, fit: Fit) -> tuple[CosineSum, Fit]:
        """Exchange atoms for their neighbours in the pool as long as that helps."""
        before = np.inf
        while fit.error < before:
            before = fit.error
            for i in range(len(best.frequencies)):
                for neighbour in self._neighbours(best.frequencies[i]):
                    frequencies = best.frequencies.copy()
                    frequencies[i] = neighbour
                    other, other_fit = best_weights(self.sampled, frequencies, self.form, fit)
                    if other_fit.error < fit.error:
                        best = other
                        fit = other_fit
        return best, fit

    def _neighbours(self, omega: NDArray) -> NDArray:
        """Return the two atoms of the pool next to one, of as many outputs."""
        same_dim = self.pool[self._dims == atom_dims(omega[None], self.form)]
        distances = np.linalg.norm(same_dim - omega, axis=1)
        return same_dim[np.argsort(distances, kind="stable")[1:3]]

    def _candidates(self, max_dim: int) -> list[NDArray]:
        """Return the frequencies of sparse solutions; a constant takes an output left over."""
        allowed = [np.arange(len(self.pool))]
        if max_dim % 2 == 0:  # the constant would leave an output unused
            allowed.append(np.flatnonzero(self._dims > 1))
        candidates: dict[bytes, NDArray] = {}
        for atoms in allowed:
            low = 0.0
            high = _LARGEST_LOG_GAMMA
            for _ in range(_BISECTIONS[self.pool.shape[1]]):
                middle = (low + high) / 2
                weights = self.relaxed(atoms, middle)
                joint = merge(self.pool[atoms], weights, self.near, snap=not self.continuous)
                dims = atom_dims(joint.frequencies, self.form)
                fits = largest_within(dims, max_dim)
                frequencies = joint.frequencies[fits]
                if dims[fits].sum() < max_dim and (dims[fits] > 1).all():
                    frequencies = np.vstack([frequencies, np.zeros(self.pool.shape[1])])
                candidates[np.unique(np.round(frequencies, 9), axis=0).tobytes()] = frequencies
                if dims.sum() <= max_dim:
                    low = middle
                else:
                    high = middle
        return list(candidates.values())


def best_start(
    sampled: SampledTarget, candidates: list[NDArray], form: str, tried: int, precision: float
) -> tuple[CosineSum, Fit]:
    """Return the best of sets of frequencies, once the ``tried`` best have moved a while."""
    fitted = [best_weights(sampled, omega, form) for omega in candidates]
    fitted.sort(key=lambda pair: pair[1].error)
    if tried:
        fitted = [move(sampled, start, _TRIED_STEPS, precision) for start, _ in fitted[:tried]]
    return min(fitted, key=lambda pair: pair[1].error)


def merge(pool: NDArray, weights: NDArray, near: NDArray, *, snap: bool) -> CosineSum:
    """Join the pool's atoms that stand for one frequency between them, heaviest first.

    The joint atom stands at their mean, or with ``snap`` at the heaviest.
    """
    open_ = np.flatnonzero(weights > 1e-9 * weights.max(initial=0))
    open_ = open_[np.argsort(-weights[open_], kind="stable")]
    frequencies = []
    joint = []
    while len(open_):
        centre = pool[open_[0]]
        joins = (np.abs(pool[open_] - centre) <= near).all(axis=1)
        members = open_[joins]
        mean = weights[members] @ pool[members] / weights[members].sum()
        frequencies.append(centre if snap or not centre.any() else mean)
        joint.append(weights[members].sum())
        open_ = open_[~joins]
    n = pool.shape[1]
    return CosineSum(np.array(frequencies).reshape(-1, n), np.array(joint)).heaviest_first()


def largest_within(dims: NDArray, max_dim: int) -> NDArray:
    """Return which atoms fit into ``max_dim`` outputs, where each in turn is taken that does."""
    fits = np.zeros(len(dims), bool)
    used = 0
    for i, dim in enumerate(dims):
        if used + dim <= max_dim:
            fits[i] = True
            used += dim
    return fits
