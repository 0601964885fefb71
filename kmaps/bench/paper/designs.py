"""How the splits of a run hang together, and outcomes of two rows on the same test samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.arrays import Correct
from kmaps.errors import InputError


@dataclass(frozen=True)
class RandomSplits:
    """Each split draws its training and test samples from the same pool, so splits overlap."""

    n_train: int  # samples of one split
    n_test: int
    n_pool: int | None = None  # samples that the splits draw from; None if not on record

    @property
    def correlation(self) -> float:
        """How far two splits repeat each other.

        Nadeau and Bengio (Machine Learning 52, 2003) put it at n_test / (n_train + n_test), the
        part of a test set that another split tests on too when the splits use all of the pool. From
        a larger pool of N samples two splits share n_train / N of their training samples and
        n_test / N of their test samples; then the larger of these is enough.
        """
        corrected = self.n_test / (self.n_train + self.n_test)
        if self.n_pool is None:
            return corrected
        return min(corrected, max(self.n_train, self.n_test) / self.n_pool)


@dataclass(frozen=True)
class CrossedSets:
    """Each split trains on ``choose`` of some training sets and tests on one of some test sets."""

    n_train_sets: int
    choose: int
    n_test_sets: int
    splits: tuple[int, ...]  # numbers from 0 of choices of training sets with each test set in turn

    @property
    def n_choices(self) -> int:
        """How many choices of training sets there are."""
        return comb(self.n_train_sets, self.choose)

    @property
    def is_complete(self) -> bool:
        """Whether every choice of training sets meets every test set."""
        return sorted(self.splits) == list(range(self.n_choices * self.n_test_sets))

    @property
    def places(self) -> NDArray[np.int64]:
        """Where each combination stands among the splits, shape (choices, test sets)."""
        return np.argsort(self.splits).reshape(self.n_choices, self.n_test_sets)

    @property
    def jackknife_factor(self) -> float:
        """The factor of the sum of squares over the choices of training sets.

        A choice of k of g sets leaves d = g - k out; the delete-d jackknife (Shao and Wu, Annals of
        Statistics 17, 1989) has the variance (g - d) / (d · number of choices) · Σ(θ - mean)².
        """
        return self.choose / ((self.n_train_sets - self.choose) * self.n_choices)


@dataclass(frozen=True)
class RepeatedDraws:
    """Each draw repeats the random part of a map, on the same training and test samples."""


Design = RandomSplits | CrossedSets | RepeatedDraws


def design_of(
    protocol: Mapping[str, Any],
    splits: Sequence[int],
    n_train: int,
    n_test: int,
    n_pool: int | None = None,
) -> Design:
    """Return how the splits of a classification hang together."""
    if {"choose", "train", "test"} <= protocol.keys():
        n_train_sets = len(protocol["train"])
        n_test_sets = len(protocol["test"])
        return CrossedSets(n_train_sets, protocol["choose"], n_test_sets, tuple(splits))
    drawn = "train_per_class" in protocol or (
        "official" not in protocol and isinstance(protocol.get("train"), int | float)
    )
    return RandomSplits(n_train, n_test, n_pool) if drawn else RepeatedDraws()


_AT_END = 1e-12  # from ± 1, where the score is not defined


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which test samples two rows got right on one split."""

    left: NDArray[np.bool_]  # the same samples in the same order
    right: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None  # of a mean over classes: 1 / samples of the class
    samples: NDArray[np.integer] | None = None  # their numbers in the dataset, if on record

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The weight of each sample, as a share of all."""
        if self.weights is None:
            return np.full(len(self.left), 1 / len(self.left))
        return self.weights / self.weights.sum()

    @cached_property
    def accuracies(self) -> tuple[float, float]:
        """The accuracies of the left and of the right row, in [0, 1]."""
        return float(self.shares @ self.left), float(self.shares @ self.right)

    @cached_property
    def discordant(self) -> tuple[float, float]:
        """The shares of the samples that only the left, and that only the right row got right."""
        only_left = self.shares[self.left & ~self.right].sum()
        only_right = self.shares[self.right & ~self.left].sum()
        return float(only_left), float(only_right)

    @cached_property
    def n_effective(self) -> float:
        """How many equally weighted samples say as much (Kish, Survey Sampling, 1965)."""
        return float(1 / (self.shares @ self.shares))

    @property
    def signs(self) -> NDArray[np.float64]:
        """1 where only the left row was right, -1 where only the right one was, else 0."""
        return self.left.astype(float) - self.right

    @cached_property
    def deviations(self) -> NDArray[np.float64]:
        """Each sample's part of the difference's error: the squares sum to its variance."""
        return self.shares * (self.signs - self.shares @ self.signs)


def outcomes_of(left: Correct, right: Correct, *, by_class: bool) -> Outcomes:
    """Return which test samples of one split two rows got right; ``by_class``: classes count
    alike."""
    if not np.array_equal(left.per_class, right.per_class):
        sizes = len(left.correct), len(right.correct)
        raise InputError(
            f"{sizes[0]} and {sizes[1]} test samples of other classes: expected one split's samples"
        )
    weights = np.repeat(1 / left.per_class, left.per_class) if by_class else None
    return Outcomes(left.correct, right.correct, weights, left.samples)


def score_interval(
    only_left: float, only_right: float, n: float, alpha: float
) -> tuple[float, float]:
    r"""Return the score interval of a difference of paired proportions.

    The differences that a score test does not reject (Tango, Statistics in Medicine 17, 1998).
    For a difference :math:`\Delta`, b samples that only the left row got right and c that only the
    right one did,

    .. math:: z(\Delta) = \frac{b - c - n\Delta}{\sqrt{n(2\hat q + \Delta(1 - \Delta))}},

    where :math:`\hat q`, the share of the latter under :math:`\Delta`, is the larger root of
    :math:`2nq^2 + (-b - c + (2n - b + c)\Delta)\,q - c\Delta(1 - \Delta)`. At :math:`\Delta = 0`
    this is McNemar's test. Unlike ± two standard errors it has a width when b = c = 0, and it needs
    neither many samples nor many that differ.

    ``only_left`` and ``only_right`` are b / n and c / n; the interval lies in [-1, 1].
    """
    from scipy.optimize import brentq  # scipy is slow to import, and most readers need none
    from scipy.special import ndtri

    limit = float(-ndtri(alpha / 2))
    difference = only_left - only_right

    def excess(delta: float) -> float:
        return abs(_score(only_left, only_right, n, delta)) - limit

    def end(side: float) -> float:
        if abs(difference - side) < _AT_END or excess(difference) >= 0:
            return difference
        edge = side * (1 - _AT_END)
        return float(brentq(excess, difference, edge)) if excess(edge) > 0 else side

    return end(-1.0), end(1.0)


def _score(only_left: float, only_right: float, n: float, delta: float) -> float:
    linear = -only_left - only_right + (2 - only_left + only_right) * delta
    constant = -only_right * delta * (1 - delta)
    share = (sqrt(max(0.0, linear * linear - 8 * constant)) - linear) / 4
    variance = max(0.0, 2 * share + delta * (1 - delta)) / n
    distance = only_left - only_right - delta
    if variance == 0:
        return 0.0 if distance == 0 else float("inf")
    return distance / sqrt(variance)
