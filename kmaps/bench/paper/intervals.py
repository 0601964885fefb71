"""Intervals of differences and of ratios, by how the splits hang together."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, hypot, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.bench.paper.designs import CrossedSets, Design, Outcomes, RandomSplits, score_interval
from kmaps.bench.paper.verdicts import Bounds, Estimate, exact, unknown
from kmaps.errors import InputError

Values = NDArray[np.float64]
Parts = list[tuple[float, float]]  # variances with their degrees of freedom

_NO_OUTCOMES = "which test samples were right is not on record"
_SPLITS_ALONE = f"from the splits alone: {_NO_OUTCOMES}"
_SAME_TRAINING = "the training set is taken as drawn"
_ON_THESE = "on these training sets"


def difference(
    left: Sequence[float],
    right: Sequence[float],
    design: Design,
    outcomes: Sequence[Outcomes] | None = None,
) -> Estimate:
    """Return the mean difference of two rows in points, with an interval by the design.

    ``left`` and ``right`` are accuracies in [0, 1] of the same splits, ``outcomes`` the right and
    wrong samples of each split, where they are on record.
    """
    differences = np.subtract(left, right, dtype=float)
    if len(differences) == 1:
        return _one_split(differences, outcomes)
    if isinstance(design, RandomSplits):
        return random_splits(differences, design, outcomes)
    if isinstance(design, CrossedSets):
        return crossed_sets(differences, design, outcomes)
    return repeated_draws(differences, outcomes)


def _one_split(differences: Values, outcomes: Sequence[Outcomes] | None) -> Estimate:
    """Return the score interval of its test samples: another training set is not in it."""
    value = 100 * float(differences[0])
    if outcomes is None:
        return unknown(value, f"one split, and {_NO_OUTCOMES}")

    def of_draws(n: int) -> Bounds:
        return _points(_score_bounds(outcomes, n * outcomes[0].n_effective))

    method = "paired, one split"
    return Estimate(value, of_draws(1), method, _SAME_TRAINING, on_these=True, of_draws=of_draws)


def random_splits(
    differences: Values, design: RandomSplits, outcomes: Sequence[Outcomes] | None
) -> Estimate:
    r"""Return the interval over random splits of one pool, for other test samples and draws of it.

    A sample that two splits test may be right on both. With c, the covariance of two splits by such
    samples (as clusters), w, the variance of a split by all its samples, and s² between splits, in
    which c is not, the variance of the mean of J splits is c + s² / J; without training sets s² is
    w - c. The interval is the wider of two: the score interval of as many samples as have the
    variance c + (w - c) / J, and the interval of the variance c + (s² - (w - c) / max(5, J)) / J,
    whose squared half width is the sum of the squared half widths of its two parts, normal and t of
    J - 1 degrees of freedom (Howe, J. Amer. Stat. Assoc. 69, 1974). The term subtracted from s² was
    chosen by simulation (`tests/bench/paper/test_coverage.py`). Where it is not on record which
    samples were tested, c is ρ w. Without outcomes it is the corrected resampled t interval, of the
    variance :math:`(1/J + \rho / (1 - \rho)) s^2` (Nadeau and Bengio, Machine Learning 52, 2003).
    """
    n_splits = len(differences)
    rho = design.correlation
    spread = float(differences.var(ddof=1))
    if outcomes is None:
        return _resampled(differences, rho)
    n_effective = float(np.mean([of_split.n_effective for of_split in outcomes]))
    within = _within(outcomes)
    share = _shared(outcomes, rho)
    alone = (1 - share) * within
    value = float(differences.mean())

    def of_draws(n: int, between: float = max(alone, spread)) -> Bounds:
        excess = max(0.0, between - alone / max(5, n)) / n
        samples = _score_bounds(outcomes, n_effective / (share + (1 - share) / n))

        def bounds(alpha: float) -> tuple[float, float]:
            _, half_of_samples = _t_bounds(0.0, [(share * within, np.inf)])(alpha)
            _, half_of_splits = _t_bounds(0.0, [(excess, n - 1)])(alpha)
            half = hypot(half_of_samples, half_of_splits)
            low, high = samples(alpha)
            return min(low, value - half), max(high, value + half)

        return _points(bounds)

    method = f"clustered by test samples, t over {n_splits} splits"
    note = ""
    if outcomes[0].samples is None:
        note = "which samples splits share is not on record"
    return Estimate(100 * value, of_draws(n_splits, spread), method, note, of_draws=of_draws)


def _resampled(differences: Values, rho: float) -> Estimate:
    def of_splits(n: int) -> Estimate:
        parts: Parts = [(float(differences.var(ddof=1)) * (1 / n + rho / (1 - rho)), n - 1)]
        return _estimate(differences, parts, None, f"corrected resampled t, {n} splits")

    estimate = of_splits(len(differences))
    if estimate.bounds is None:
        return estimate
    return replace(estimate, of_draws=lambda n: of_splits(n).bounds)


def _within(outcomes: Sequence[Outcomes]) -> float:
    """Return the variance of a split's difference by its test samples."""
    of_splits = [
        float((of_split.deviations**2).sum()) * of_split.n_effective / (of_split.n_effective - 1)
        for of_split in outcomes
    ]
    return float(np.mean(of_splits))


def _shared(outcomes: Sequence[Outcomes], correlation: float) -> float:
    """Return the part of it that another split has too; ``correlation`` if that is not known."""
    samples = [of_split.samples for of_split in outcomes]
    deviations = np.concatenate([of_split.deviations for of_split in outcomes])
    squares = float((deviations**2).sum())
    if any(numbers is None for numbers in samples) or not squares:
        return correlation
    _, sample_of_deviation = np.unique(np.concatenate(samples), return_inverse=True)
    clusters = float((np.bincount(sample_of_deviation, deviations) ** 2).sum())
    return min(1.0, max(0.0, (clusters / squares - 1) / (len(outcomes) - 1)))


def crossed_sets(
    differences: Values, design: CrossedSets, outcomes: Sequence[Outcomes] | None
) -> Estimate:
    """Return an interval for all combinations of some training sets with some test sets.

    Combinations that share a set are not independent. With training sets as the units, the means of
    the choices over the test sets are the delete-d jackknife's replicates; its variance has one
    degree of freedom less than there are training sets. To this comes the variance of the test
    sets' mean: with outcomes of their samples, else of the test sets as a random draw.

    With outcomes that interval is the one ``beyond`` these training sets. The interval that decides
    is conditional on them, like the interval of one split, and has the samples' variance alone: as
    many training sets as a dataset has, three, leave the other two degrees of freedom.
    """
    value = 100 * float(differences.mean())
    if not design.is_complete:
        combinations = design.n_choices * design.n_test_sets
        return unknown(value, f"{len(differences)} of the {combinations} combinations of the sets")
    if design.n_choices == 1:
        return unknown(value, "one choice of training sets")
    places = design.places
    n_tests = design.n_test_sets
    means = differences[places].mean(axis=1)
    squares = float(((means - means.mean()) ** 2).sum())
    parts: Parts = [(design.jackknife_factor * squares, design.n_train_sets - 1)]
    method = f"jackknife over {design.n_train_sets} training sets, {n_tests} test sets"
    if outcomes is not None:
        groups = [[outcomes[place] for place in of_test] for of_test in places.T]
        of_samples = [_of_samples(group, n_tests) for group in groups]
        n = outcomes[0].n_effective
        together = sum(variance for variance, _ in of_samples)
        # The number of samples that the mean over the choices of training sets is worth.
        n *= _within(outcomes) / together if together else n_tests
        floor = _score_bounds(outcomes, n)
        beyond = _estimate(differences, parts + of_samples, floor, method).bounds

        def on_these(times: int) -> Estimate:
            by_samples = [(variance / times, degrees) for variance, degrees in of_samples]
            floor = _score_bounds(outcomes, n * times)
            method = f"paired, {n_tests} test sets"
            return _estimate(differences, by_samples, floor, method, _ON_THESE)

        def of_draws(times: int) -> Bounds:
            return on_these(times).bounds

        return replace(on_these(1), on_these=True, beyond=beyond, of_draws=of_draws)
    if n_tests == 1:
        return unknown(value, f"one test set, and {_NO_OUTCOMES}")
    of_tests = differences[places].mean(axis=0).var(ddof=1) / n_tests
    parts.append((float(of_tests), n_tests - 1))
    return _estimate(differences, parts, None, method)


def repeated_draws(differences: Values, outcomes: Sequence[Outcomes] | None) -> Estimate:
    """Return the interval over independent draws of a random map on one split.

    The variance has a part of the draws' mean and, with outcomes, of the test samples' mean.
    """
    parts: Parts = [(float(differences.var(ddof=1)) / len(differences), len(differences) - 1)]
    floor = None
    if outcomes is not None:
        parts.append(_of_samples(outcomes, 1))
        floor = _score_bounds(outcomes, outcomes[0].n_effective)
    method = f"t over {len(differences)} draws"
    return replace(_estimate(differences, parts, floor, method, _SAME_TRAINING), on_these=True)


def _of_samples(outcomes: Sequence[Outcomes], n_tests: int) -> tuple[float, float]:
    """Return one test set's part of the variance of the mean, and its degrees of freedom."""
    sizes = sorted({len(of_choice.left) for of_choice in outcomes})
    if len(sizes) > 1:
        counts = ", ".join(map(str, sizes))
        raise InputError(f"outcomes of {counts} test samples: expected the same for one test set")
    shares = outcomes[0].shares
    n = outcomes[0].n_effective
    signs = np.mean([of_choice.signs for of_choice in outcomes], axis=0)
    variance = float(shares**2 @ (signs - shares @ signs) ** 2) * n / (n - 1)
    return variance / n_tests**2, n - 1


def _estimate(
    differences: Values, parts: Parts, floor: Bounds | None, method: str, note: str = ""
) -> Estimate:
    """Return the t interval of a variance that is a sum of parts, no narrower than the floor."""
    value = 100 * float(differences.mean())
    if floor is None and not np.ptp(differences):
        return unknown(value, f"no difference between the splits, and {_NO_OUTCOMES}")
    bounds = _t_bounds(value / 100, parts)
    if floor is None:
        return Estimate(value, _points(bounds), method, _SPLITS_ALONE)

    def wider(alpha: float) -> tuple[float, float]:
        lows, highs = zip(bounds(alpha), floor(alpha), strict=True)
        return min(lows), max(highs)

    return Estimate(value, _points(wider), method, note)


def _t_bounds(center: float, parts: Parts) -> Bounds:
    """Return the t interval of a variance that is a sum of parts.

    The degrees of freedom of the sum are Satterthwaite's (Biometrics Bulletin 2, 1946).
    """
    from scipy.special import stdtrit  # scipy is slow to import, and most readers need none

    total = sum(variance for variance, _ in parts)
    squares = sum(variance**2 / degrees for variance, degrees in parts)
    degrees = total**2 / squares if squares else np.inf

    def bounds(alpha: float) -> tuple[float, float]:
        half = float(stdtrit(degrees, 1 - alpha / 2)) * sqrt(total) if total else 0.0
        return center - half, center + half

    return bounds


def _score_bounds(outcomes: Sequence[Outcomes], n: float) -> Bounds:
    """Return the score interval of the mean shares of discordant samples, for n samples."""
    only_left, only_right = np.mean([of_split.discordant for of_split in outcomes], axis=0)
    return lambda alpha: score_interval(float(only_left), float(only_right), n, alpha)


def _points(bounds: Bounds) -> Bounds:
    def in_points(alpha: float) -> tuple[float, float]:
        low, high = bounds(alpha)
        return 100 * low, 100 * high

    return in_points


_SAME = 1e-12  # smaller differences of logarithms are rounding


def exact_ratio(left: Sequence[float], right: Sequence[float]) -> Estimate:
    """Compare numbers without chance, such as bytes, by the ratio right / left of their means."""
    numerator = float(np.mean(right))
    denominator = float(np.mean(left))
    if denominator == 0:
        return exact(float("inf") if numerator else 1.0)
    return exact(numerator / denominator)


def measured_ratio(left: Sequence[ArrayLike], right: Sequence[ArrayLike]) -> Estimate:
    """Compare measured numbers, such as times, by the ratio right / left.

    Several splits: the t interval of the mean log(right / left) of the medians of each split
    (Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013: the highest level
    counts). One split: Welch's t interval (Biometrika 34, 1947) of the logarithms of its repeats.
    A ratio that is the same on every split, as of numbers that are counted, is exact.
    """
    left_logs = [np.log(np.atleast_1d(values)) for values in left]
    right_logs = [np.log(np.atleast_1d(values)) for values in right]
    if len(left_logs) == 1:
        return _one_split_ratio(left_logs[0], right_logs[0])
    medians = [
        np.median(of_right) - np.median(of_left)
        for of_left, of_right in zip(left_logs, right_logs, strict=True)
    ]
    ratios = np.array(medians)  # their logarithms
    value = exp(ratios.mean())
    n = len(ratios)
    if np.ptp(ratios) < _SAME:
        return exact(value)
    center = float(ratios.mean())
    variance = float(ratios.var(ddof=1))
    method = f"t of the logarithms, {n} splits"

    def of_draws(n: int) -> Estimate:
        return _ratio_estimate(center, [(variance / n, n - 1)], method)

    return replace(of_draws(n), of_draws=lambda n: of_draws(n).bounds)


def _one_split_ratio(left: np.ndarray, right: np.ndarray) -> Estimate:
    log_ratio = float(right.mean() - left.mean())
    if min(len(left), len(right)) < 2:
        return unknown(exp(log_ratio), "one split, measured once")
    parts = [(logs.var(ddof=1) / len(logs), len(logs) - 1) for logs in (left, right)]
    if not any(variance for variance, _ in parts):
        return exact(exp(log_ratio))
    repeats = f"{len(left)} and {len(right)} repeats"
    return _ratio_estimate(log_ratio, parts, f"Welch's t of the logarithms, {repeats}")


def _ratio_estimate(center: float, parts: Parts, method: str) -> Estimate:
    of_logs = _t_bounds(center, parts)

    def bounds(alpha: float) -> tuple[float, float]:
        # With a tiny alpha a bound can exceed all floats: then there is none.
        with np.errstate(over="ignore"):
            low, high = np.exp(of_logs(alpha))
        return float(low), float(high)

    return Estimate(exp(center), bounds, method)
