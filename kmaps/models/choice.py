"""The choice of C by cross-validation, one for all learners, and the values that it compares.

A list of values is compared as it is, and the best one chosen. ``"auto"`` begins with the powers of
√10 from 0.1 to 10, and extends them, a decade at a time, on the side on which the best value is the
outermost one, until

- the best value has worse ones on both sides: it is chosen; or
- the edge is flat: what the last decade gained is at most one standard error. The value a decade
  inside the edge is chosen; a rise beyond a plateau of that length is missed; or
- the bounds, a million either way, are reached: the outermost value is chosen, and stands out as
  one at the edge of its grid.

The gain is a difference of scores on the same units, samples or folds, so its standard error is the
one of paired differences, for right and wrong labels McNemar's √(b + c) / n. The standard errors of
the two means are several times as large, and would call edges flat that still rise. For the same
reason the best value is chosen where it is inside, and not the smallest one within a standard error
of it (Breiman et al., 1984), which would leave every row undertuned, and by unequal amounts. Of
equally good values the smallest is the best.

``"path"``, for models that start each value of C where they stopped at the one before, also stops
when held-out accuracy has fallen: all values of the last decade are worse than the best one before
by more than one standard error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kmaps.checks import check_positive, check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.progress import showing_part
from kmaps.svm.learner import taken

if TYPE_CHECKING:
    from kmaps.svm import KernelSVC


AUTO, PATH = "auto", "path"
COMPARED = "values of C compared"

FOLD_TOL = 1e-2
"""The relative duality gap at which models that only choose C stop, if theirs is not larger.

On 6,000 digits of MNIST their held-out accuracies differ by at most 0.2 points from those at 1e-4,
half a standard error, in less than half the time (``python -m benchmarks path``).
"""

_PER_DECADE = 2

Scores = Mapping[float, NDArray]  # by C, the scores of the units, which are samples or folds


class Powers(NamedTuple):
    """The values that a grid may have: powers of a base, whose exponents have bounds."""

    base: float
    least: int
    most: int

    def values(self, exponents: Iterable[int]) -> tuple[float, ...]:
        """Return some of the powers, rounded: the same digits on every computer."""
        return tuple(float(f"{self.base**exponent:.6g}") for exponent in exponents)

    def exponent(self, value: float) -> int:
        """Return the exponent of a power that was rounded."""
        return round(log(value, self.base))


_OF_C = Powers(10**0.5, -6 * _PER_DECADE, 6 * _PER_DECADE)

START = _OF_C.values(range(-_PER_DECADE, _PER_DECADE + 1))
"""The values that ``"auto"`` and ``"path"`` begin with."""


def extension(scores: Scores, powers: Powers = _OF_C) -> tuple[float, ...]:
    """Return the values of C to compare next, ascending; none when the choice is settled.

    With other powers the values are of something else, two of which stand for a decade.
    """
    grid = sorted(scores)
    best = _best(scores, grid)
    if best == len(grid) - 1 and not _is_flat(scores, grid, best):
        top = powers.exponent(grid[-1])
        exponents = range(top + 1, min(top + _PER_DECADE, powers.most) + 1)
    elif best == 0 and not _is_flat(scores, grid, best):
        bottom = powers.exponent(grid[0])
        exponents = range(max(bottom - _PER_DECADE, powers.least), bottom)
    else:
        exponents = range(0)
    return powers.values(exponents)


def has_fallen(scores: Scores) -> bool:
    """Return whether the best value is better than all those a decade above it, surely."""
    grid = sorted(scores)
    best = _best(scores, grid)
    after = grid[best + 1 :][-_PER_DECADE:]
    return len(after) == _PER_DECADE and not any(
        gains_little(scores[C], scores[grid[best]]) for C in after
    )


def choose(scores: Scores, *, extended: bool) -> float:
    """Return the value of C that is chosen; inside a flat edge of ``"auto"`` (``extended``)."""
    grid = sorted(scores)
    best = _best(scores, grid)
    if extended and best in (0, len(grid) - 1) and _is_flat(scores, grid, best):
        return grid[abs(best - _PER_DECADE)]  # a decade inside either edge
    return grid[best]


def _best(scores: Scores, grid: Sequence[float]) -> int:
    return int(np.argmax([np.mean(scores[C]) for C in grid]))


def _is_flat(scores: Scores, grid: Sequence[float], edge: int) -> bool:
    """Return whether the last decade before an edge gained at most one standard error."""
    return gains_little(scores[grid[abs(edge - _PER_DECADE)]], scores[grid[edge]])


def gains_little(before: NDArray, after: NDArray) -> bool:
    """Return whether scores of the same units are better by at most one standard error."""
    gains = np.subtract(after, before, dtype=float)
    return bool(gains.sum() <= np.sqrt(gains @ gains))


Places = NDArray[np.intp]  # indices of samples
Predict = Callable[[Sequence[float], Places, Places], Iterable[NDArray]]
"""``predict(grid, train, test)``: for each C, train on samples and yield labels of test samples."""

Output = Literal["predict", "decision_function"]

Score = Callable[[NDArray, NDArray], NDArray]
"""``score(truth, predicted)``: the score of each unit, such as whether each label is right."""


def stratified_order(y: ArrayLike, seed: int) -> NDArray[np.intp]:
    """Return the numbers of the samples class by class, in random order within each class.

    Every m-th of them is a stratified draw: each class has its share, to within one sample. So
    the samples at the places ``k``, ``k + m``, ``k + 2 * m``, … are one of m stratified folds.

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0, 1, 1])
    >>> y[stratified_order(y, seed=0)].tolist()
    [0, 0, 1, 1, 1, 1]
    """
    y = np.asarray(y)
    order = np.random.default_rng(seed).permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]


def stratified_sample(y: ArrayLike, samples: int | None, seed: int) -> NDArray[np.intp]:
    """Return the numbers of some samples, drawn so that each class has its share.

    They are in the order of :func:`stratified_order`; None, or more than there are, means all.

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0, 1, 1])
    >>> y[stratified_sample(y, 3, seed=0)].tolist()
    [0, 1, 1]
    """
    order = stratified_order(y, seed)
    if samples is None:
        return order
    check_whole("samples", samples, 1)
    chosen = min(samples, len(order))
    return order[np.arange(chosen) * len(order) // chosen]


@dataclass(frozen=True)
class Choice:
    """The result of cross-validation.

    Attributes
    ----------
    C : float
        The value chosen by the rule of :mod:`kmaps.models.choice`: the best; among equally good
        values the smallest; in an extended grid with a flat edge a value inside.
    grid : tuple of float
        The tried values, ascending.
    accuracies, errors : tuple of float
        The part of all samples that a model trained without them gave the right label, for each
        value of the grid (with another ``score`` its mean), and its standard error over the
        samples.
    """

    C: float
    grid: tuple[float, ...]
    accuracies: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def is_at_edge(self) -> bool:
        """Whether the choice is the least or the largest of several values compared."""
        return len(self.grid) > 1 and self.C in (self.grid[0], self.grid[-1])


def cross_validate(
    prepare: Callable[[Places], Predict],
    grid: Iterable[float] | Literal["auto"],
    y: ArrayLike,
    *,
    folds: int = 3,
    seed: int = 0,
    samples: int | None = None,
    groups: ArrayLike | None = None,
    score: Score = np.equal,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Choice:
    """Choose C by the accuracy on samples left out, each once, in stratified folds.

    Parameters
    ----------
    prepare : callable
        ``prepare(chosen)`` is called once with the numbers of the samples to use, class by class,
        and makes what all values of C share. It returns ``predict(grid, train, test)``, which
        trains on the places ``train`` among the chosen ones, with each C of the ascending ``grid``
        in turn, and yields the labels predicted for the places ``test``, as :func:`along_c` makes.
    grid : iterable of float or "auto"
        Values of C, or "auto": the rule of this module, which calls ``predict`` again to extend.
    folds, seed, samples : int
        Parts of the samples, of which each is left out once; how they are drawn, the same for every
        learner; how many samples to use, a stratified draw, by default all.
    groups : array-like, shape (n,), optional
        Groups that no fold divides; folds are then of about the same size, but not stratified.
    score, progress : callable, optional
        ``score(truth, predicted)`` is the score of each unit of a fold, by default whether each
        label is right; ``progress(done, total)`` is called after every C of every fold.

    Examples
    --------
    >>> from kmaps import LiblinearSVC
    >>> X = np.random.default_rng(0).standard_normal((90, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> found = cross_validate(lambda of: along_c(LiblinearSVC(), X[of], y[of]), [0.01, 1, 100], y)
    >>> found.C, [round(accuracy, 2) for accuracy in found.accuracies]
    (100.0, [0.93, 0.97, 0.99])
    """
    checked_grid(grid)
    y = np.asarray(y)
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    chosen = stratified_sample(y, samples, seed)
    y = y[chosen]
    parts_of_y = splits(y, folds, None if groups is None else np.asarray(groups)[chosen])
    scores = scores_along_c(prepare(chosen), grid, y, parts_of_y, score, progress)
    return choice_of(scores, extended=isinstance(grid, str))


def scores_along_c(
    predict: Predict,
    grid: Iterable[float] | Literal["auto"],
    y: NDArray,
    parts_of_y: list[tuple[Places, Places]],
    score: Score = np.equal,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[float, NDArray]:
    """Return the scores of all samples by C, fold after fold; arguments of :func:`cross_validate`.

    ``parts_of_y`` are the folds, as :func:`splits` makes them.
    """
    extended, values, folds = isinstance(grid, str), checked_grid(grid), len(parts_of_y)
    scores: dict[float, NDArray] = {}
    while values:
        parts: dict[float, list[NDArray]] = {C: [] for C in values}
        before, total = folds * len(scores), folds * (len(scores) + len(values))
        for held_out, (train, test) in enumerate(parts_of_y):
            found = iter(predict(values, train, test))
            for i, C in enumerate(values, before + held_out * len(values)):
                with showing_part(total, i, COMPARED):
                    parts[C].append(score(y[test], next(found)))
                progress(i + 1, total)
        scores |= {C: np.concatenate(of_folds) for C, of_folds in parts.items()}
        values = extension(scores) if extended else ()
    return scores


def choice_of(scores: dict[float, NDArray], *, extended: bool) -> Choice:
    """Return the choice by `choose` from the scores of all samples, by C; ``extended`` as there."""
    grid = tuple(sorted(scores))
    ascending = [scores[C] for C in grid]
    return Choice(
        choose(scores, extended=extended),
        grid,
        tuple(float(np.mean(units)) for units in ascending),
        tuple(float(np.std(units, ddof=1) / len(units) ** 0.5) for units in ascending),
    )


def checked_grid(grid: Iterable[float] | str, path: bool = False) -> tuple[float, ...]:
    """Return the values of C to begin with, ascending; or raise ConfigError."""
    if isinstance(grid, str):
        if grid == AUTO or (path and grid == PATH):
            return START
        known = f"{PATH!r} or {AUTO!r}" if path else f"or {AUTO!r}"
        raise ConfigError(f"grid={grid!r}: expected values of C, {known}")
    values = list(grid)
    for C in values:
        check_positive("C", C)
    if not values:
        raise ConfigError("grid=(): expected at least one value of C")
    return tuple(sorted({float(C) for C in values}))


def splits(y: NDArray, folds: int, groups: NDArray | None = None) -> list[tuple[Places, Places]]:
    """Return the places to train on and those left out, of every fold of stratified samples.

    With the group of each sample, no fold divides a group.
    """
    if len(y) < folds:
        raise InputError(f"{len(y)} samples cannot be cut into folds={folds}: use fewer folds")
    fold = np.arange(len(y)) % folds if groups is None else _folds_of(groups, folds)
    for held_out in range(folds):
        left = np.unique(y[fold != held_out])
        if len(left) < 2:
            raise InputError(
                f"folds={folds}: without one fold, only class {left[0]} is left to train on; "
                "cross-validation needs more samples of the other classes"
            )
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


def _folds_of(groups: NDArray, folds: int) -> Places:
    """Return the fold of each sample: the largest group first, each into the smallest fold."""
    names, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < folds:
        raise InputError(f"{len(names)} groups cannot be cut into folds={folds}: use fewer folds")
    fold_of, filled = np.empty(len(names), np.intp), np.zeros(folds, np.intp)
    for one in np.argsort(-sizes, kind="stable"):
        fold_of[one] = filled.argmin()
        filled[fold_of[one]] += sizes[one]
    return fold_of[group]


def along_c(
    model: Any, X: Any, y: ArrayLike, output: Output = "predict", *, weights: NDArray | None = None
) -> Predict:
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one set of rows.

    A learner that has ``warm_start`` starts each model from the model of the C before, so that a
    whole path takes little longer than its largest C alone. X is an array, a CSR matrix or rows
    that the learner's ``prepare_rows`` made; ``output`` says whether labels or scores are yielded,
    and ``weights`` (n,) are the weights of the samples in training.
    """

    def rows_of(train: Places, test: Places) -> tuple[Any, Any]:
        return taken(X, train), taken(X, test)

    return _along(model, rows_of, np.asarray(y), output, weights)


def along_c_precomputed(
    model: "KernelSVC",
    matrix: NDArray,
    y: ArrayLike,
    output: Output = "predict",
    *,
    weights: NDArray | None = None,
) -> Predict:
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one Gram matrix (n, n).

    What the model trains on is made of the matrix once, for all folds and values of C.
    """
    rows = model.prepare_rows(matrix)

    def rows_of(train: Places, test: Places) -> tuple[Any, NDArray]:
        return rows.take(train), matrix[np.ix_(test, train)]

    return _along(model, rows_of, np.asarray(y), output, weights)


def _along(
    model: Any,
    rows_of: Callable[[Places, Places], tuple[Any, Any]],
    y: NDArray,
    output: Output,
    weights: NDArray | None,
) -> Predict:
    def predict(grid: Sequence[float], train: Places, test: Places) -> Iterable[NDArray]:
        learner = clone(model)
        if "warm_start" in learner.get_params():
            learner.set_params(warm_start=True)
        for_training, for_test = rows_of(train, test)
        for C in grid:
            some = () if weights is None else (weights[train],)
            fitted = learner.set_params(C=C).fit(for_training, y[train], *some)
            yield getattr(fitted, output)(for_test)

    return predict
