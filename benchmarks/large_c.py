"""Training on codes against LIBLINEAR at the same distance from the optimum, for small and large C.

Both solve the same problem, one class against the rest on the outputs of the homogeneous map of
values on at most 256 levels, and both times have map, conversion and training in them. Ours stops
at a duality gap of 0.05 %. LIBLINEAR has no gap: it gets the largest of some tolerances at which
its objective, computed here, is within 0.05 % of a lower bound; where none is, or 1,000 passes are
not enough, the line says how far above it ends. Hinge is its solver 3, squared hinge its solver 2.

9,000 samples, of MNIST and Daimler where they have been downloaded. One thread each. It takes long,
nearly all of it LIBLINEAR's; KMAPS_LARGE_C is how many samples there are instead.
"""

import os
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
_TOLERANCES = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
_COMPILED_IN, _PASSES = 300, 1000  # of LIBLINEAR's dual solver: its limit, and ours in its place
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
    settings, above = _settings_for(goal, feature_map.transform(X), y, loss, C)
    return Pair(
        f"{name}, {loss}, C = {C:g}",
        lambda: _coded(X, y, loss, C, _ABOVE),
        "LIBLINEAR" if above <= 0 else f"LIBLINEAR, {100 * above:.2g} % above",
        lambda: _linear(feature_map.transform(X), y, loss, C, settings),
        at_least=10,
        runs=1,
        quantity=_ONCE,
    )


def _settings_for(goal: float, E, y, loss: str, C: float) -> tuple[dict, float]:
    """Return what LIBLINEAR needs to reach an objective, and how far above it ends, as a part."""
    settings: dict = {}
    for tol in _TOLERANCES:
        settings["tol"] = tol
        model = _linear(E, y, loss, C, settings)
        if loss == "hinge" and model.n_iter_[0] >= _COMPILED_IN and "max_iter" not in settings:
            settings["max_iter"] = _PASSES
            model = _linear(E, y, loss, C, settings)
        above = _objective(model, E, y, loss, C) / goal - 1
        if above <= 0 or model.n_iter_[0] >= _PASSES:
            break
    return settings, above


def _objective(model: LiblinearSVC, E, y, loss: str, C: float) -> float:
    w, b = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    short = np.maximum(0, 1 - np.where(y == model.classes_[1], 1, -1) * (E @ w + b))
    return (w @ w + b * b) / 2 + C * float(np.sum(short**2 if loss == "squared_hinge" else short))


def _coded(X, y, loss: str, C: float, tol: float) -> CodedSVC:
    return _alone(lambda: CodedSVC(HomogeneousMap(), C, loss=loss, tol=tol, max_iter=5000), X, y)


def _linear(E, y, loss: str, C: float, settings: dict) -> LiblinearSVC:
    return _alone(lambda: LiblinearSVC(C, loss=loss, **settings), E, y)


def _alone(make: Callable, X, y):
    with threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how far it came is measured
        return make().fit(X, y)
