"""The choice of C by cross-validation, one for all learners."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kmaps.checks import check_positive, check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.models.c_grid import AUTO, START, choose, extension
from kmaps.models.folds import stratified_sample
from kmaps.svm import KernelSVC, gram_rows
from kmaps.svm.learner import taken

Places = NDArray[np.intp]
"""Numbers of samples."""

Predict = Callable[[Sequence[float], Places, Places], Iterable[NDArray]]
"""``predict(grid, train, test)``: for each C, train on some samples and yield labels of others."""

Score = Callable[[NDArray, NDArray], NDArray]
"""``score(truth, predicted)``: the score of each unit, such as whether each label is right."""


@dataclass(frozen=True)
class Choice:
    """What cross-validation found.

    Attributes
    ----------
    C : float
        The value chosen by the rule of :mod:`kmaps.models.c_grid`: the best; of equally good ones
        the smallest; of an extended grid with a flat edge one inside.
    grid : tuple of float
        The values compared, ascending.
    accuracies : tuple of float
        The part of all samples that a machine trained without them gave the right label, for each
        value of the grid; with another ``score`` its mean.
    errors : tuple of float
        The standard error of each of them over the samples, the machines taken as trained.
    """

    C: float
    grid: tuple[float, ...]
    accuracies: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def is_at_edge(self) -> bool:
        """Whether the choice is the least or the largest of several values compared."""
        return len(self.grid) > 1 and self.C in (self.grid[0], self.grid[-1])


def _right(truth: NDArray, predicted: NDArray) -> NDArray:
    return predicted == truth


def cross_validate(
    prepare: Callable[[Places], Predict],
    grid: Iterable[float] | Literal["auto"],
    y: ArrayLike,
    *,
    folds: int = 3,
    seed: int = 0,
    samples: int | None = None,
    groups: ArrayLike | None = None,
    score: Score = _right,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Choice:
    """Choose C by the accuracy on samples left out, each once, in stratified folds.

    Parameters
    ----------
    prepare : callable
        ``prepare(chosen)`` is called once with the numbers of the samples to use, class by class.
        What all values of C share is made here: the samples are encoded, or their Gram matrix is
        computed. It returns ``predict(grid, train, test)``, which trains on the places ``train``
        among the chosen ones, with each C of the ascending ``grid`` in turn, and yields the labels
        that it predicts for the places ``test``; :func:`along_c` makes one.
    grid : iterable of float or "auto"
        Values of C, in any order; or those of the rule of :mod:`kmaps.models.c_grid`, which extends
        them until the best one is inside, or the edge is flat. ``predict`` is then called anew for
        each extension.
    y : array-like, shape (n,)
        Labels, numbers or strings.
    folds : int, default=3
        Parts of the samples, of which each is left out once.
    seed : int, default=0
        Of the folds, and of the samples drawn. The same seed gives every learner the same folds.
    samples : int, optional
        How many samples to use, a stratified draw; by default, or with more than there are, all.
    groups : array-like, shape (n,), optional
        Groups that no fold divides, such as a patient's samples. The folds are then of about the
        same size, but not stratified.
    score : callable, optional
        ``score(truth, predicted)``: of the labels of a fold and what ``predict`` yields for it the
        score of each unit that counts, all alike; by default whether each label is right.
    progress : callable, optional
        Called with what is done and the total so far after every C of every fold.

    Returns
    -------
    Choice

    Raises
    ------
    ConfigError
        For an empty grid, another word than ``"auto"``, a C that is not positive and finite, or
        counts out of range.
    InputError
        When the samples, or their groups, are fewer than the folds, or a class is so small that
        without one of the folds another class is all that is left.

    Examples
    --------
    >>> from kmaps import LiblinearSVC
    >>> X = np.random.default_rng(0).standard_normal((90, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> found = cross_validate(lambda of: along_c(LiblinearSVC(), X[of], y[of]), [0.01, 1, 100], y)
    >>> found.C, [round(accuracy, 2) for accuracy in found.accuracies]
    (100.0, [0.93, 0.97, 0.99])
    """
    extended = isinstance(grid, str)
    values, y = checked_grid(grid), np.asarray(y)
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    chosen = stratified_sample(y, samples, seed)
    y = y[chosen]
    parts_of_y = splits(y, folds, None if groups is None else np.asarray(groups)[chosen])
    predict = prepare(chosen)
    scores: dict[float, NDArray] = {}
    while values:
        parts: dict[float, list[NDArray]] = {C: [] for C in values}
        before, total = folds * len(scores), folds * (len(scores) + len(values))
        for held_out, (train, test) in enumerate(parts_of_y):
            for i, (C, found) in enumerate(zip(values, predict(values, train, test), strict=True)):
                parts[C].append(score(y[test], found))
                progress(before + held_out * len(values) + i + 1, total)
        scores |= {C: np.concatenate(of_folds) for C, of_folds in parts.items()}
        values = extension(scores) if extended else ()
    return choice_of(scores, extended=extended)


def choice_of(scores: dict[float, NDArray], *, extended: bool) -> Choice:
    """Return what the scores of all samples, by C, say; ``extended`` as of `c_grid.choose`."""
    ascending = [scores[C] for C in sorted(scores)]
    return Choice(
        choose(scores, extended=extended),
        tuple(sorted(scores)),
        tuple(float(np.mean(units)) for units in ascending),
        tuple(float(np.std(units, ddof=1) / len(units) ** 0.5) for units in ascending),
    )


def checked_grid(grid: Iterable[float] | str) -> tuple[float, ...]:
    """Return the values of C to begin with, ascending; or raise ConfigError."""
    if isinstance(grid, str):
        if grid != AUTO:
            raise ConfigError(f"grid={grid!r}: expected values of C, or 'auto'")
        return START
    values = list(grid)
    for C in values:
        check_positive("C", C)
    if not values:
        raise ConfigError("grid=(): expected at least one value of C")
    return tuple(sorted({float(C) for C in values}))


def splits(y: NDArray, folds: int, groups: NDArray | None = None) -> list[tuple[Places, Places]]:
    """Return the places to train on and those left out, of every fold of stratified samples.

    With the group of each sample, no fold divides a group.

    Raises
    ------
    InputError
        When the samples, or their groups, are fewer than the folds, or a class is so small that
        without one of the folds another class is all that is left.
    """
    if len(y) < folds:
        raise InputError(f"{len(y)} samples cannot be cut into folds={folds}: use fewer folds")
    fold = np.arange(len(y)) % folds if groups is None else _folds_of(groups, folds)
    for held_out in range(folds):
        left = np.unique(y[fold != held_out])
        if len(left) < 2:
            raise InputError(
                f"folds={folds}: without one of them only class {left[0]} is left to train on; "
                "cross-validation needs more samples of the others"
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
    model: Any,
    X: Any,
    y: ArrayLike,
    output: Literal["predict", "decision_function"] = "predict",
) -> Predict:
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one set of rows.

    A learner that has ``warm_start`` starts the machine of a C from that of the one before, so
    that a whole path takes little longer than its largest C alone.

    Parameters
    ----------
    model : classifier
        With the parameter ``C``; a copy is trained.
    X : ndarray, CSR matrix or prepared rows, of n samples
        What the learner takes. Rows that ``prepare_rows`` of a learner made are not copied.
    y : array-like, shape (n,)
    output : {"predict", "decision_function"}
        What is yielded: labels, or scores.

    Returns
    -------
    callable
    """
    y = np.asarray(y)

    def predict(grid: Sequence[float], train: Places, test: Places) -> Iterable[NDArray]:
        learner = clone(model)
        if "warm_start" in learner.get_params():
            learner.set_params(warm_start=True)
        for_training, for_test = taken(X, train), taken(X, test)
        for C in grid:
            yield _output(learner.set_params(C=C).fit(for_training, y[train]), output)(for_test)

    return predict


def _output(model: Any, output: str) -> Callable[[Any], NDArray]:
    return model.predict if output == "predict" else model.decision_function


def along_c_precomputed(
    model: KernelSVC,
    matrix: NDArray,
    y: ArrayLike,
    output: Literal["predict", "decision_function"] = "predict",
) -> Predict:
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one Gram matrix.

    LIBSVM's rows are made of the matrix once, for all folds and values of C.

    Parameters
    ----------
    model : KernelSVC
        With ``kernel="precomputed"``; copies are trained.
    matrix : ndarray, shape (n, n)
        The kernel of every sample with every sample.
    y : array-like, shape (n,)
    output : {"predict", "decision_function"}
        What is yielded: labels, or scores.

    Returns
    -------
    callable
    """
    rows, y = gram_rows(matrix), np.asarray(y)

    def predict(grid: Sequence[float], train: Places, test: Places) -> Iterable[NDArray]:
        learner = clone(model)
        for_training, for_test = rows.take(train), matrix[np.ix_(test, train)]
        for C in grid:
            yield _output(learner.set_params(C=C).fit(for_training, y[train]), output)(for_test)

    return predict
