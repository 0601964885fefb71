r"""The global optimum for up to three free frequencies, with a certificate.

The least :math:`\max_\lambda w|k - \hat k|` over all sums of n cosines (and the constant, for an
odd dimension) is searched by branch and bound. A node is a box of frequencies, one interval for
each. Letting a cosine spread over its interval,

.. math::
    \min_{\mu \ge 0} \max_\lambda w(\lambda)\Big|k(\lambda) -
    \int \cos(\omega\lambda)\,d\mu(\omega)\Big|, \qquad
    \mathrm{supp}\,\mu \subset \text{the intervals},

is a linear program whose value no sum in the box can beat. Its dual is a measure ν on the points
with :math:`\|\nu\| \le 1`: when :math:`q(\omega) = \sum_\lambda \nu_\lambda w(\lambda)
\cos(\omega\lambda) \le \epsilon` on the intervals, every sum in the box has an error of at least
:math:`\sum_\lambda \nu_\lambda w(\lambda) k(\lambda) - \epsilon\sum\alpha`. That holds for any ν,
so it holds in floating point too, and one ν rules out every box whose intervals lie where its q is
small. What the boxes' relaxed solutions suggest as frequencies is polished to local optima.

The width that an interval adds to a cosine matters to second order only, while the error grows
linearly away from a minimax optimum: a few hundred programs certify it to 1 %.
"""

import heapq
import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kmaps.errors import ConfigError
from kmaps.maps.lowdim.continuous import SampledTarget, best_weights, polish
from kmaps.maps.lowdim.cosines import CosineSum
from kmaps.maps.lowdim.lp import minimise
from kmaps.maps.lowdim.selection import PoolSelection, Solution, line_pool
from kmaps.maps.lowdim.target import Target

LARGEST_DIM = 7

_CELLS_A_HALF_WAVE = 125  # at least; boxes begin and end on this grid of frequencies
_CEILING_SHARE = 4e-6  # a bound on a cell may be wrong by this part of the error
_THINNING = 2  # relaxed programs use every second point, and the peaks of the error
_LARGEST_GRID = 20_000_000  # values of cosines in memory; coarser cells prove less
_ROUNDING = 1e-12  # a smaller error counts as none
_COLUMNS = 9  # columns per interval in the first relaxed program
_LARGEST_PROGRAMS = 20_000
_LARGEST_PROGRAMS_OF_VALUES = 4_000  # each takes 20 to 30 ms: two minutes on one core
_PROMISING = 1.5  # suggestions within this factor of the best are polished …
_SAME_START = 0.15  # … unless they are this near, in half waves, to one that was
_ENDED = 1.01  # a proven gap of so many times the wanted one is the wanted one, but for rounding
_PRECISION = 1e-7  # part of the error: the best is polished to it in the end

Box = tuple[tuple[int, int], ...]


def certified_optimum(target: Target, dim: int, gap: float = 0.01) -> Solution:
    r"""Search the best map of at most ``dim`` ≤ 7 outputs for a target of one variable.

    The search ends when no map can be better by more than the part ``gap``; the ``lower_bound`` of
    the solution holds for all frequencies up to ``target.band`` half waves. A ConvergenceWarning
    with the proven gap says when the search ended before.
    """
    if dim > LARGEST_DIM:
        raise ConfigError(
            f"dim={dim}: the global search takes at most {LARGEST_DIM} outputs (three "
            "frequencies); use optimal=False for the linear programs"
        )
    search = GlobalSearch(target, dim // 2, bool(dim % 2), gap)
    if search.error <= _ROUNDING * search.at_zero:
        return Solution(search.best, search.error, 0.0, "search")
    search.run()
    best, error = polish(search.sampled, search.best, continuous=True, precision=_PRECISION)
    if error > search.error:
        best = search.best
        error = search.error
    proven = 1 - search.lower_bound / error
    if proven > _ENDED * gap:
        warnings.warn(
            f"the search ended after {search.programs:,} programs with a proven gap of "
            f"{proven:.1%}: maps of {dim} outputs may have an error from {search.lower_bound:.4g} "
            f"to {error:.4g} of the largest value",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Solution(best, error, min(search.lower_bound, error), "search")


@dataclass
class GlobalSearch:
    """Branch and bound over boxes of ``n`` frequencies, with the constant or without."""

    target: Target
    n: int
    constant: bool
    gap: float
    best: CosineSum = field(init=False)
    error: float = field(init=False)
    lower_bound: float = 0.0
    programs: int = 0
    starts: list[NDArray] = field(default_factory=list)
    certificates: list[NDArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sampled = SampledTarget.of(self.target)
        selection = PoolSelection(self.target, *line_pool(self.target))
        start = selection.best(2 * self.n + self.constant)
        self.best = start.cosines
        self.error = start.error
        # So fine that `_read` adds a few millionths of the error to a ceiling.
        finest = np.pi / (384 * _CEILING_SHARE * max(self.error, _ROUNDING)) ** 0.25
        n_cells = int(np.ceil(max(_CELLS_A_HALF_WAVE, finest) * self.target.band))
        n_cells = min(n_cells, _LARGEST_GRID // len(self.target.thinned(_THINNING)))
        top = self.target.band * self.target.step[0]
        self.omega = np.linspace(0, top, n_cells + 1)
        self.width = top / n_cells
        zero = np.zeros((1, 1))
        self.at_zero = self.target.signature(zero)[0]
        self.weight_at_zero = self.target.weight(zero)[0]
        self._tabulate()

    def _tabulate(self) -> None:
        """Take the points of the relaxed programs: fewer are faster, and as valid a bound.

        Where the best has its largest errors, the duals of its neighbours have their mass.
        """
        coarse = self.target.thinned(_THINNING)
        points = np.concatenate([coarse, self.target.peaks(self.best)[0]])
        weight = self.target.weight(points)[:, None]
        self.atoms = weight * np.cos(points * self.omega)
        self.slopes = -weight * points * np.sin(points * self.omega)
        self.fourth = (weight * points**4).max()  # of the fourth derivative of any q
        self.values = weight[:, 0] * self.target.signature(points)

    def run(self) -> None:
        """Search until every box is ruled out, or the programs run out."""
        if self.n == 0:
            gain, q, _ = self._read(minimise(self.atoms[:, :1], self.values).dual)
            self.lower_bound = gain - max(q[0], 0) * self._mass()
            return
        most_programs = _LARGEST_PROGRAMS
        if self.target.line is not None:
            most_programs = _LARGEST_PROGRAMS_OF_VALUES
        whole: Box = ((0, len(self.omega) - 1),) * self.n
        heap = [(0.0, 0, 0.0, whole)]  # by the relaxed error, then by age
        count = 0
        open_bounds = [np.inf]
        while heap:
            _, _, bound, box = heapq.heappop(heap)
            if self.programs >= most_programs:
                open_bounds.append(bound)
                continue
            if self._ruled_out(box):
                continue
            guess, bound = self._explore(box, bound)
            if bound >= self._least_useful_error():
                continue
            if max(high - low for low, high in box) == 1:  # no box is smaller
                open_bounds.append(bound)
                continue
            for half in _halves(box):
                count += 1
                heapq.heappush(heap, (guess, count, bound, half))
        self.lower_bound = min(self._least_useful_error(), *open_bounds)

    def _least_useful_error(self) -> float:
        """Return the error below which a map would be better by more than the gap."""
        return (1 - self.gap) * self.error

    def _explore(self, box: Box, bound: float) -> tuple[float, float]:
        """Solve the relaxed program of a box: return its value, and a proven lower bound."""
        spread = [np.linspace(low, high, _COLUMNS).round().astype(int) for low, high in box]
        if self.constant:
            spread.append(np.zeros(1, int))
        columns = np.unique(np.concatenate(spread))
        while True:
            fit = minimise(self.atoms[:, columns], self.values, guess=self.error)
            self.programs += 1
            if fit.error < self._least_useful_error():
                self._suggest(box, columns, fit.x)
                if fit.error < self._least_useful_error():
                    return fit.error, bound
                continue  # the best error fell: solve again
            gain, q, ceilings = self._read(fit.dual)
            worst = max(ceilings[low:high].max() for low, high in box)
            worst = max(worst, q[0] if self.constant else worst, 0)
            bound = max(bound, gain - worst * self._mass())
            if bound >= self._least_useful_error():
                spare = (gain - self._least_useful_error()) / self._mass()
                self.certificates.insert(0, np.r_[0, np.cumsum(ceilings <= spare)])
                return fit.error, bound
            worst_two = [low + np.argsort(ceilings[low:high])[-2:] for low, high in box]
            ends = [end for cells in worst_two for end in (cells, cells + 1)]
            wider = np.union1d(columns, np.concatenate(ends))
            if len(wider) == len(columns):
                self._suggest(box, columns, fit.x)
                return fit.error, bound
            columns = wider

    def _read(self, dual: NDArray) -> tuple[float, NDArray, NDArray]:
        """Return the best bound that a dual proves, its q, and an upper bound of q on each cell.

        A cubic through values and slopes at both ends is bounded by its Bernstein coefficients and
        is off by at most width⁴/384 times the fourth derivative.
        """
        support = np.flatnonzero(dual)
        dual = dual[support] / max(1, np.abs(dual).sum())
        q = dual @ self.atoms[support]
        slope = dual @ self.slopes[support] * self.width / 3
        cubic = np.max([q[:-1], q[:-1] + slope[:-1], q[1:] - slope[1:], q[1:]], axis=0)
        return dual @ self.values[support], q, cubic + self.width**4 / 384 * self.fourth

    def _mass(self) -> float:
        """Return the largest Σα = k̂(0) of an approximation as good as the best."""
        return self.at_zero + self.error / self.weight_at_zero

    def _ruled_out(self, box: Box) -> bool:
        # The best error only falls, so excluded boxes stay excluded.
        return any(
            all(counts[high] - counts[low] == high - low for low, high in box)
            for counts in self.certificates
        )

    def _suggest(self, box: Box, columns: NDArray, weights: NDArray) -> None:
        """Try the frequencies that a relaxed solution points at."""
        omega = np.array([self._centre(columns, weights, low, high) for low, high in box])
        if self.n > 1 and np.diff(omega).min() < self.width:  # the same interval twice
            moves = columns > 0
            cumulative = np.cumsum(weights[moves])
            quantiles = (np.arange(self.n) + 0.5) / self.n * cumulative[-1]
            omega = np.interp(quantiles, cumulative, self.omega[columns[moves]])
        self._try(omega)

    def _centre(self, columns: NDArray, weights: NDArray, low: int, high: int) -> float:
        """Return the mean frequency of an interval under the weights of the columns in it."""
        inside = (columns >= max(low, 1)) & (columns <= high)
        mass = weights[inside].sum()
        if mass <= 0:
            return (self.omega[low] + self.omega[high]) / 2
        return self.omega[columns[inside]] @ weights[inside] / mass

    def _try(self, omega: NDArray) -> None:
        frequencies = np.r_[[0.0] if self.constant else [], omega][:, None]
        start, fit = best_weights(self.sampled, frequencies, "projection")
        near = _SAME_START * self.target.step
        was_tried = any((np.abs(omega - other) < near).all() for other in self.starts)
        if fit.error > (1 if was_tried else _PROMISING) * self.error:
            return
        self.starts.append(omega)
        cosines, error = polish(self.sampled, start, continuous=True)
        if error < self.error:
            self.best = cosines
            self.error = error
            self._tabulate()


def _halves(box: Box) -> list[Box]:
    """Cut the widest interval of a box; leave out halves whose frequencies are out of order."""
    widths = [high - low for low, high in box]
    i = int(np.argmax(widths))
    low, high = box[i]
    middle = (low + high) // 2
    halves = []
    for interval in ((low, middle), (middle, high)):
        half = (*box[:i], interval, *box[i + 1 :])
        if all(half[j][0] < half[j + 1][1] for j in range(len(half) - 1)):
            halves.append(half)
    return halves
