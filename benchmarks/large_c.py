"""Training on codes against LIBLINEAR at the same distance from the optimum, for small and large C.

Both solve the same problem, one class against the rest on the outputs of the homogeneous map of
values on at most 256 levels, and both times have map, conversion and training in them. Both get the
largest of the same tolerances at which their objective is within 0.05 % of a lower bound. Ours is a
duality gap; LIBLINEAR's is a measure of its own, and it also gets the least of some limits on its
passes. Where it has not come there in 15 times our time, the line says how far above it ends, and
the ratio is less than that at the same distance. Hinge is its solver 3, squared hinge its solver 2.

9,000 samples, of MNIST and Daimler where they have been downloaded. One thread each. It takes a
quarter of an hour or more, nearly all of it LIBLINEAR's; KMAPS_LARGE_C is how many samples there
are instead.
"""

import os
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.measure import Pair, Quantity, seconds
from benchmarks.training import histograms
from kmaps import CodedSVC, HomogeneousMap, LiblinearSVC, Quantizer, threads
from kmaps.data import load_dataset
from kmaps.errors import DataError
from kmaps.features import extract
from kmaps.svm.losses import HINGES

_ROWS = int(os.environ.get("KMAPS_LARGE_C", "9000"))
_COSTS = (0.1, 1.0, 10.0, 100.0)
_ABOVE = 5e-4  # part of the optimum that an objective may be above it
_TOLERANCES = tuple(10 ** (-k / 2) for k in range(13))  # to begin with the largest
_LIMITS = (None, 1000, 10_000, 100_000)  # on LIBLINEAR's passes; None is its own
_PATIENCE = 15  # of our time, that LIBLINEAR gets
_SHORT_S = 3.0  # of LIBLINEAR: below it, three runs each
# Both sides have been compiled and run when they are measured.
_ONCE = Quantity(seconds, 1e3, "ms", "faster", warm_up=False)


def pairs() -> Iterator[Pair]:
    for name, X, y in _samples():
        for loss in HINGES:
            for C in _COSTS:
                yield _pair(name, X, y, loss, C)


def _samples() -> Iterator[tuple]:
    """Yield a name, values on levels that all features share, and labels of two classes."""
    X, y = histograms(_ROWS, 89)
    yield "drawn histograms", _on_levels(X), y
    try:
        mnist = load_dataset("mnist")
        pixels = mnist.images[:_ROWS].reshape(_ROWS, -1) / np.float32(255)
        yield "mnist", pixels, mnist.y[:_ROWS] == 8
    except DataError:
        pass
    try:
        daimler = load_dataset("daimler")
        rows = np.random.default_rng(0).choice(len(daimler.y), _ROWS, replace=False)
        X = extract(daimler, "hog-pyramid", rows=rows, overlap=False, orientations=8)
        yield "daimler", _on_levels(X), daimler.y[rows] == daimler.y.max()
    except DataError:
        pass


def _on_levels(X):
    quantizer = Quantizer(strategy="shared").fit(X)
    return quantizer.inverse_transform(quantizer.transform(X)).astype(np.float32)


def _pair(name: str, X, y, loss: str, C: float) -> Pair:
    feature_map = HomogeneousMap().fit(X)
    exact = _coded(X, y, loss, C, _ABOVE / 10)
    goal = (1 + _ABOVE) * exact.objective_[0] * (1 - exact.duality_gap_[0])
    enough = next(t for t in _TOLERANCES if _coded(X, y, loss, C, t).objective_[0] <= goal)
    patience = _PATIENCE * seconds(lambda: _coded(X, y, loss, C, enough))

    def linear(settings: dict) -> tuple[LiblinearSVC, bool]:
        return _alone(LiblinearSVC(C, loss=loss, **settings), feature_map.transform(X), y)

    def above(model: LiblinearSVC) -> float:
        return _objective(model, feature_map.transform(X), y, loss, C) / goal - 1

    settings, missed, taken = _settings_for(linear, above, patience)
    return Pair(
        f"{name}, {loss}, C = {C:g}",
        lambda: _coded(X, y, loss, C, enough),
        "LIBLINEAR" if missed <= 0 else f"LIBLINEAR, {100 * missed:.2g} % above",
        lambda: linear(settings),
        at_least=10,
        runs=3 if taken < _SHORT_S else 1,
        quantity=_ONCE,
    )


def _settings_for(
    linear: Callable[[dict], tuple[LiblinearSVC, bool]],
    above: Callable[[LiblinearSVC], float],
    patience: float,
) -> tuple[dict, float, float]:
    """Return what LIBLINEAR needs, how far above the goal it ends, as a part, and its seconds."""
    linear({"tol": _TOLERANCES[0]})  # which loads and compiles
    for tol in _TOLERANCES:
        for limit in _LIMITS:
            settings = {"tol": tol, "max_iter": limit}
            start = time.perf_counter()
            model, limited = linear(settings)
            taken, missed = time.perf_counter() - start, above(model)
            if missed <= 0 or taken > patience:
                return settings, missed, taken
            if not limited:
                break
    return settings, missed, taken


def _objective(model: LiblinearSVC, E, y, loss: str, C: float) -> float:
    w, b = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    short = np.maximum(0, 1 - np.where(y == model.classes_[1], 1, -1) * (E @ w + b))
    return (w @ w + b * b) / 2 + C * float(np.sum(short**2 if loss == "squared_hinge" else short))


def _coded(X, y, loss: str, C: float, tol: float) -> CodedSVC:
    return _alone(CodedSVC(HomogeneousMap(), C, loss=loss, tol=tol, max_iter=5000), X, y)[0]


def _alone(model, X, y) -> tuple:
    """Train a model on one thread; return it and whether a limit on passes has ended that."""
    with threads(1), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConvergenceWarning)
        return model.fit(X, y), bool(warned)
