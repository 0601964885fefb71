"""Two rows on the same test samples: the interval of the difference of their accuracies."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError

_AT_END = 1e-12  # of ± 1, where the score is not defined


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which test samples two rows got right on one split.

    Parameters
    ----------
    left, right : ndarray of bool, shape (n,)
        The same samples in the same order.
    weights : ndarray of float, shape (n,), or None
        What each sample counts, where the accuracy is a mean over classes: one over the samples of
        its class. None: the same for all.

    Raises
    ------
    InputError
        When they are not as many booleans for as many samples.

    Examples
    --------
    >>> right_or_wrong = Outcomes(np.array([True, True, False]), np.array([True, False, False]))
    >>> round(right_or_wrong.difference, 3), right_or_wrong.n_effective
    (0.333, 3.0)
    """

    left: NDArray[np.bool_]
    right: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        arrays = [self.left, self.right, *([] if self.weights is None else [self.weights])]
        if len({array.shape for array in arrays}) > 1 or self.left.ndim != 1 or not len(self.left):
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise InputError(
                f"outcomes of shapes {shapes}: expected as many for each row, of the same test "
                "samples; run the cells again"
            )
        if self.left.dtype != bool or self.right.dtype != bool:
            raise InputError(
                f"outcomes of types {self.left.dtype} and {self.right.dtype}: expected booleans, "
                "true where a sample was classified rightly"
            )

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """What each sample counts, as a share of all."""
        if self.weights is None:
            return np.full(len(self.left), 1 / len(self.left))
        return self.weights / self.weights.sum()

    @cached_property
    def accuracies(self) -> tuple[float, float]:
        """The accuracies of the two rows, in [0, 1]."""
        return float(self.shares @ self.left), float(self.shares @ self.right)

    @cached_property
    def discordant(self) -> tuple[float, float]:
        """The shares of the samples that only the left, and that only the right row got right."""
        only_left = self.shares[self.left & ~self.right].sum()
        only_right = self.shares[self.right & ~self.left].sum()
        return float(only_left), float(only_right)

    @property
    def difference(self) -> float:
        """The accuracy of the left row less that of the right one, in [-1, 1]."""
        return self.discordant[0] - self.discordant[1]

    @cached_property
    def n_effective(self) -> float:
        """How many equally weighted samples say as much (Kish, Survey Sampling, 1965)."""
        return float(1 / (self.shares @ self.shares))

    @property
    def signs(self) -> NDArray[np.float64]:
        """1 where only the left row was right, -1 where only the right one was, else 0."""
        return self.left.astype(float) - self.right


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

    Parameters
    ----------
    only_left, only_right : float
        b / n and c / n.
    n : float
        Number of samples, or how many independent ones they are worth.
    alpha : float
        Error probability of the two-sided interval.

    Returns
    -------
    low, high : float
        In [-1, 1].

    Examples
    --------
    >>> low, high = score_interval(0, 0, 10_000, 0.05)
    >>> round(low, 6), round(high, 6)
    (-0.000384, 0.000384)
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
