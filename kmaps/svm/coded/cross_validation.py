"""Choosing C on codes: each fold once along the path of growing C."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from kmaps.svm.coded.classifier import CodedSVC
from kmaps.svm.coded.training import CodedRows


def cross_validate(
    model: CodedSVC,
    rows: CodedRows,
    y: ArrayLike,
    grid: Sequence[float],
    fold: NDArray[np.intp],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[float]:
    """Return the accuracy of each C on the samples left out.

    The machine of a C starts from that of the one before, so that a path takes little longer than
    its largest C alone; codes are neither made nor copied again.

    Parameters
    ----------
    model : CodedSVC
        With all parameters but C; not changed.
    rows : CodedRows
    y : array-like, shape (n,)
    grid : sequence of float
        Values of C, ascending.
    fold : ndarray of int, shape (n,)
        The fold, from 0, that each sample is left out in.
    progress : callable
        Called with what is done and the total after every C.

    Returns
    -------
    list of float
        As parts of all samples.
    """
    y, fold = np.asarray(y), np.asarray(fold)
    right, n_folds = np.zeros(len(grid), int), int(fold.max()) + 1
    for held_out in range(n_folds):
        train, test = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        machine = clone(model).set_params(warm_start=True)
        for i, C in enumerate(grid):
            machine.set_params(C=C).fit(rows.take(train), y[train])
            right[i] += int(np.sum(machine.predict(rows.take(test)) == y[test]))
            progress(held_out * len(grid) + i + 1, n_folds * len(grid))
    return (right / len(y)).tolist()
