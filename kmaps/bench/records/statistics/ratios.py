"""The interval of a ratio of two rows: times, memory, errors, sizes."""

from collections.abc import Sequence
from math import exp

import numpy as np
from numpy.typing import ArrayLike

from kmaps.bench.records.statistics.verdicts import Estimate, exact, unknown
from kmaps.errors import InputError

_SAME = 1e-12  # of logarithms of ratios, which are rounded


def exact_ratio(left: Sequence[float], right: Sequence[float]) -> Estimate:
    """Compare numbers without chance, such as bytes, by the ratio right / left of their means.

    Parameters
    ----------
    left, right : sequence of float
        Not negative, of the same splits.

    Returns
    -------
    Estimate
        Exact; infinite where only the left row is zero, 1 where both are.

    Examples
    --------
    >>> exact_ratio([2, 4], [30, 60]).value
    15.0
    """
    over, under = float(np.mean(right)), float(np.mean(left))
    if under == 0:
        return exact(float("inf") if over else 1.0)
    return exact(over / under)


def measured_ratio(left: Sequence[ArrayLike], right: Sequence[ArrayLike]) -> Estimate:
    """Compare measured numbers, such as times, by the ratio right / left.

    Several splits: the t interval of the mean over the splits of log(right / left), each of the
    medians of its repeats; repeats vary within a split, and their variance is in that between the
    splits (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013: the highest
    level counts). One split: Welch's t interval (Biometrika 34, 1947) of the logarithms of its
    repeats, which need not be paired. The ratio is the geometric mean.

    Parameters
    ----------
    left, right : sequence of array-like
        The values of each split, of the same splits in the same order: one number, or one for each
        repeat. Positive.

    Returns
    -------
    Estimate
        Without an interval for one split measured once. Exact where the ratio is the same on every
        split, as of numbers that are counted.

    Raises
    ------
    InputError
        When the splits are not as many, or a number is not positive.

    Examples
    --------
    >>> estimate = measured_ratio([1.0, 1.1, 1.0], [3.1, 3.2, 3.0])
    >>> low, high = estimate.bounds(0.05)
    >>> f"{estimate.value:.2f} from {low:.2f} to {high:.2f}"
    '3.00 from 2.77 to 3.25'
    """
    logs = [[np.log(_positive(values)) for values in row] for row in (left, right)]
    if len(logs[0]) != len(logs[1]) or not logs[0]:
        raise InputError(
            f"values of {len(logs[0])} and {len(logs[1])} splits: expected the same, one or more"
        )
    if len(logs[0]) == 1:
        return _one_split(logs[0][0], logs[1][0])
    ratios = np.array([np.median(r) - np.median(one) for one, r in zip(*logs, strict=True)])
    value, n = exp(ratios.mean()), len(ratios)
    if np.ptp(ratios) < _SAME:
        return exact(value)
    error = ratios.std(ddof=1) / n**0.5
    return _estimate(ratios.mean(), error, n - 1, f"t of the logarithms, {n} splits")


def _positive(values: ArrayLike) -> np.ndarray:
    values = np.atleast_1d(np.asarray(values, float))
    if not (values > 0).all():
        raise InputError(
            f"got {values.min():g} among the values of a ratio: expected positive ones"
        )
    return values


def _one_split(left: np.ndarray, right: np.ndarray) -> Estimate:
    log_ratio = float(right.mean() - left.mean())
    if min(len(left), len(right)) < 2:
        return unknown(exp(log_ratio), "one split, measured once")
    parts = [(logs.var(ddof=1) / len(logs), len(logs) - 1) for logs in (left, right)]
    total = sum(variance for variance, _ in parts)
    if total == 0:
        return exact(exp(log_ratio))
    degrees = total**2 / sum(variance**2 / n for variance, n in parts)
    repeats = f"{len(left)} and {len(right)} repeats"
    return _estimate(log_ratio, total**0.5, degrees, f"Welch's t of the logarithms, {repeats}")


def _estimate(center: float, error: float, degrees: float, method: str) -> Estimate:
    from scipy.special import stdtrit  # scipy is slow to import, and most readers need none

    def bounds(alpha: float) -> tuple[float, float]:
        half = float(stdtrit(degrees, 1 - alpha / 2)) * error
        # Beyond what a float holds, as alpha falls: no bound at all.
        with np.errstate(over="ignore"):
            return float(np.exp(center - half)), float(np.exp(center + half))

    return Estimate(exp(center), bounds, method)
