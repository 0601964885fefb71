"""Training where classes overlap, as in most tables of people: every setting must reach its gap.

Counts of two classes whose rates differ a little: no function of them tells the classes apart, and
descent on the dual creeps. The rivals are primal solvers, on columns with the same kernel:
LIBLINEAR's for the squared hinge, newton-cholesky and lbfgs of scikit-learn for the logistic loss.
They get a third of the rows, so that all of it takes some five minutes, most of them LIBLINEAR's.
Of the hinge, which LIBLINEAR's dual solver does not bring to an end, there are limits. Rows that
come sorted by class may take 1.3 times as long as shuffled ones.

A fit whose gap is above ``tol`` ends the run. One thread each. ``KMAPS_OVERLAP_ROWS`` is how many
rows there are, 60,000 by default, and ``KMAPS_UCI`` a folder with letter-recognition.data, sat.trn
and spambase.data of the UCI repository, whose lines are left out without it.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.measure import Limit, Pair, Quantity, seconds
from kmaps import CodedRidge, CodedSVC, ExactMap, LandmarkSVC, RandomFeatureSVC, threads
from kmaps.svm.losses import LOSSES

_ROWS = int(os.environ.get("KMAPS_OVERLAP_ROWS", "60000"))
_COSTS = (1.0, 100.0)
_LOSSES = {"squared_hinge": "squared hinge", "logistic": "logistic loss"}
_ONCE = Quantity(seconds, 1e3, "ms", "faster", warm_up=False)


def pairs() -> Iterator[Pair | Limit]:
    X, y = counts(_ROWS)
    order = np.argsort(y, kind="stable")
    for loss in LOSSES:
        _certified(CodedSVC("chi2", loss=loss, C=100.0), X[:20_000], y[:20_000])()  # compiles
    third = slice(_ROWS // 3)
    columns = ExactMap("chi2").fit(X[third]).transform(X[third]).astype(np.float64)
    for C in _COSTS:
        coded = {loss: CodedSVC("chi2", C, loss=loss) for loss in LOSSES}
        yield Limit(f"hinge, C = {C:g}", _certified(coded["hinge"], X, y), 3000, _ONCE)
        rivals: list[tuple[str, str, object]] = [
            ("squared_hinge", "LIBLINEAR, primal", LinearSVC(C=C, dual=False)),
            ("logistic", "newton-cholesky", LogisticRegression(C=C, solver="newton-cholesky")),
            ("logistic", "lbfgs", LogisticRegression(C=C, max_iter=1000)),
        ]
        for loss, rival, model in rivals:
            yield Pair(
                f"{loss}, C = {C:g}, a third",
                _certified(coded[loss], X[third], y[third]),
                rival,
                _fitting(model, columns, y[third]),
                at_least=5,
                runs=1,
                quantity=_ONCE,
                headline=f"exact chi2, {_LOSSES[loss]}, C = {C:g}, classes that overlap",
                rival=f"{rival} on explicit columns",
            )
        for loss, model in coded.items():
            yield Pair(
                f"{loss}, C = {C:g}, rows by class",
                _certified(model, X[order], y[order]),
                "shuffled rows",
                _certified(clone(model), X, y),
                at_most=1.3,
                runs=3,
                quantity=_ONCE,
            )
    target = X[:, 0] + np.random.default_rng(1).normal(0, 5, len(X))
    for name, rows in (("shuffled", slice(None)), ("sorted", np.argsort(target))):
        ridge = _certified(CodedRidge("chi2"), X[rows], target[rows])
        yield Limit(f"ridge, {name}", ridge, 1000, _ONCE)
    yield from _on_outputs(X[third], y[third])
    yield from _of_uci()


def _on_outputs(X, y) -> Iterator[Pair]:
    models = (
        LandmarkSVC(n_landmarks=300, sigma=None, landmarks="uniform"),
        RandomFeatureSVC(n_frequencies=150, sigma=None),
    )
    for model in models:
        outputs = model.fit(X, y).map_.transform(X).astype(np.float64)
        for C in (100.0, 1000.0):
            own = type(model)(**(model.get_params() | {"C": C, "loss": "squared_hinge"}))
            yield Pair(
                f"{type(model).__name__}, C = {C:g}",
                _certified(own, X, y),
                "LIBLINEAR, primal, without the map",
                _fitting(LinearSVC(C=C, dual=False), outputs, y),
                at_least=1,
                runs=1,
                quantity=_ONCE,
            )


def _of_uci() -> Iterator[Limit]:
    folder = os.environ.get("KMAPS_UCI")
    if not folder:
        return
    letters = np.genfromtxt(Path(folder) / "letter-recognition.data", delimiter=",", dtype=str)
    satellite = np.loadtxt(Path(folder) / "sat.trn")
    spam = np.loadtxt(Path(folder) / "spambase.data", delimiter=",")
    tables = {
        "letter": (letters[:16_000, 1:].astype(np.float32), letters[:16_000, 0], 6000),
        "satellite": (satellite[:, :-1].astype(np.uint8), satellite[:, -1], 3000),
        "spambase": (spam[:, :-1], spam[:, -1], 2000),
    }
    for name, (X, y, limit_ms) in tables.items():
        for C in (1.0, 100.0):
            fitting = _certified(CodedSVC("chi2", C), X, y)
            yield Limit(f"{name}, hinge, C = {C:g}", fitting, limit_ms, _ONCE)


def counts(n: int, d: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return counts of two classes whose rates differ by up to 12 %, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    rates = rng.uniform(0.3, 4, d)
    tilt = 0.12 * rng.choice([-1, 1], d) * rng.random(d)
    X = rng.poisson(rates * (1 + np.where(y[:, None], tilt, -tilt)))
    return np.minimum(X, 17).astype(np.float32), y


def _certified(model, X, y) -> Callable[[], object]:
    def fit() -> object:
        with threads(1):
            model.fit(X, y)
        if (model.duality_gap_ > model.tol).any():
            raise SystemExit(f"{model}: the gap is still {model.duality_gap_.max():.1e}")
        return model

    return fit


def _fitting(model, X, y) -> Callable[[], object]:
    return lambda: model.fit(X, y)
