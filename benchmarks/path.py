"""A path of C with its folds against the largest C of the path alone, and folds that stop early.

`CodedSVCCV` with all that it does, the machine on all samples included, against `CodedSVC` with
the last C that the path compared. Then the machines of the folds at the gap at which they stop,
`FOLD_TOL`, against 1e-4: their time, and how much their accuracies differ at any C of the path.

6,000 digits of MNIST where they have been downloaded; else those of scikit-learn, enlarged. One
thread each.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.measure import Limit, Pair, Quantity
from benchmarks.training import histograms, some_digits
from kmaps import CodedSVC, CodedSVCCV, threads
from kmaps.models.choice import FOLD_TOL, splits, stratified_order
from kmaps.svm import code_rows
from kmaps.svm.coded.folds import FoldModels
from kmaps.svm.losses import LOSSES

_FOLDS = 3
_FINE = 1e-4
_POINTS = Quantity(lambda function: function(), 100, "points", "smaller", warm_up=False)


def pairs() -> Iterator[Pair | Limit]:
    small, labels = load_digits(return_X_y=True)
    pixels, digits = some_digits(6000)
    samples = {
        "digits": (small.astype(np.float32) / 16, labels),
        "6,000 images": (pixels, digits),
        "drawn histograms": histograms(3000, 22),
    }
    for name, (X, y) in samples.items():
        for loss in LOSSES:
            yield _path(name, X, y, loss)
    yield from _early_folds(pixels, digits)


def _path(name: str, X, y, loss: str) -> Pair:
    with threads(1):
        largest = CodedSVCCV(loss=loss).fit(X, y).choice_.grid[-1]
    return Pair(
        f"path, {name}, {loss}",
        partial(_alone, CodedSVCCV(loss=loss), X, y),
        f"C = {largest:g} alone",
        partial(_alone, CodedSVC(C=largest, loss=loss), X, y),
        at_most=3,
        runs=3,
    )


def _early_folds(X, y) -> list[Pair | Limit]:
    with threads(1):
        grid = CodedSVCCV().fit(X, y).choice_.grid
    return [
        Pair(
            f"folds to a gap of {FOLD_TOL:g}",
            partial(_accuracies, X, y, grid, FOLD_TOL),
            f"to {_FINE:g}",
            partial(_accuracies, X, y, grid, _FINE),
            runs=1,
        ),
        Limit(
            "largest difference of accuracies",
            lambda: np.abs(
                _accuracies(X, y, grid, FOLD_TOL) - _accuracies(X, y, grid, _FINE)
            ).max(),
            at_most=0.2,
            quantity=_POINTS,
        ),
    ]


def _accuracies(X, y, grid, tol: float):
    """Return the held-out accuracy at each C, of machines that stop at a gap of ``tol``."""
    order = stratified_order(y, 0)
    X, y = X[order], y[order]
    with threads(1):
        parts = splits(y, _FOLDS)
        machines = FoldModels(
            CodedSVC(tol=tol), code_rows("chi2", lambda: [X]), y, parts, np.ones(len(y))
        )
        return np.array([_accuracy(machines.predict(C), parts, y) for C in grid])


def _accuracy(predicted, parts, y) -> float:
    right = [y[test] == found for (_, test), found in zip(parts, predicted, strict=True)]
    return float(np.concatenate(right).mean())


def _alone(machine, X, y):
    with threads(1):
        return machine.fit(X, y)
