"""The choice of C by cross-validation, one for all learners."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kmaps.checks import check_positive, check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.models.folds import stratified_sample
from kmaps.svm import KernelSVC, gram_rows
from kmaps.svm.prepared import taken

Places = NDArray[np.intp]
"""Numbers of samples."""

Predict = Callable[[Sequence[float], Places, Places], Iterable[NDArray]]
"""``predict(grid, train, test)``: for each C, train on some samples and yield labels of others."""


@dataclass(frozen=True)
class Choice:
    """What cross-validation found.

    Attributes
    ----------
    C : float
        The value with the best accuracy; of equally good ones the smallest.
    grid : tuple of float
        The values compared, ascending.
    accuracies : tuple of float
        The part of all samples that a machine trained without them gave the right label, for each
        value of the grid.
    """

    C: float
    grid: tuple[float, ...]
    accuracies: tuple[float, ...]


def cross_validate(
    prepare: Callable[[Places], Predict],
    grid: Iterable[float],
    y: ArrayLike,
    *,
    folds: int = 3,
    seed: int = 0,
    samples: int | None = None,
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
    grid : iterable of float
        Values of C, in any order.
    y : array-like, shape (n,)
        Labels, numbers or strings.
    folds : int, default=3
        Parts of the samples, of which each is left out once.
    seed : int, default=0
        Of the folds, and of the samples drawn. The same seed gives every learner the same folds.
    samples : int, optional
        How many samples to use, a stratified draw; by default, or with more than there are, all.
    progress : callable, optional
        Called with what is done and the total after every C of every fold.

    Returns
    -------
    Choice

    Raises
    ------
    ConfigError
        For an empty grid, a C that is not positive and finite, or counts out of range.
    InputError
        When the samples are fewer than the folds, or a class is so small that without one of the
        folds another class is all that is left.

    Examples
    --------
    >>> from kmaps import LiblinearSVC
    >>> X = np.random.default_rng(0).standard_normal((90, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> found = cross_validate(lambda of: along_c(LiblinearSVC(), X[of], y[of]), [0.01, 1, 100], y)
    >>> found.C, [round(accuracy, 2) for accuracy in found.accuracies]
    (100.0, [0.93, 0.97, 0.99])
    """
    grid, y = _checked_grid(grid), np.asarray(y)
    check_whole("folds", folds, 2)
    check_whole("seed", seed, 0)
    chosen = stratified_sample(y, samples, seed)
    y = y[chosen]
    fold = np.arange(len(y)) % folds
    _check_folds(y, fold, folds)
    predict = prepare(chosen)
    right = np.zeros(len(grid), int)
    for held_out in range(folds):
        train, test = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        for i, found in enumerate(predict(grid, train, test)):
            right[i] += np.sum(found == y[test])
            progress(held_out * len(grid) + i + 1, folds * len(grid))
    return Choice(grid[int(right.argmax())], grid, tuple((right / len(y)).tolist()))


def _checked_grid(grid: Iterable[float]) -> tuple[float, ...]:
    values = list(grid)
    for C in values:
        check_positive("C", C)
    if not values:
        raise ConfigError("grid=(): expected at least one value of C")
    return tuple(sorted({float(C) for C in values}))


def _check_folds(y: NDArray, fold: NDArray, folds: int) -> None:
    if len(y) < folds:
        raise InputError(f"{len(y)} samples cannot be cut into folds={folds}: use fewer folds")
    for held_out in range(folds):
        left = np.unique(y[fold != held_out])
        if len(left) < 2:
            raise InputError(
                f"folds={folds}: without one of them only class {left[0]} is left to train on; "
                "cross-validation needs more samples of the others"
            )


def along_c(model: Any, X: Any, y: ArrayLike) -> Predict:
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
            yield learner.set_params(C=C).fit(for_training, y[train]).predict(for_test)

    return predict


def along_c_precomputed(model: KernelSVC, matrix: NDArray, y: ArrayLike) -> Predict:
    """Return ``predict`` for :func:`cross_validate`: copies of a learner on one Gram matrix.

    LIBSVM's rows are made of the matrix once, for all folds and values of C.

    Parameters
    ----------
    model : KernelSVC
        With ``kernel="precomputed"``; copies are trained.
    matrix : ndarray, shape (n, n)
        The kernel of every sample with every sample.
    y : array-like, shape (n,)

    Returns
    -------
    callable
    """
    rows, y = gram_rows(matrix), np.asarray(y)

    def predict(grid: Sequence[float], train: Places, test: Places) -> Iterable[NDArray]:
        learner = clone(model)
        for_training, for_test = rows.take(train), matrix[np.ix_(test, train)]
        for C in grid:
            yield learner.set_params(C=C).fit(for_training, y[train]).predict(for_test)

    return predict
