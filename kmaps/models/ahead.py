"""Everything that is compiled for the usual types and settings, ahead of its first use."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.sparse import csr_matrix

from kmaps.gram_matrix import gram
from kmaps.kernels import KERNELS
from kmaps.maps import MAPS
from kmaps.matrices import AnyMatrix
from kmaps.models.landmark_svc import LandmarkSVC
from kmaps.models.random_features import RandomFeatureSVC
from kmaps.svm import CodedSVC, KernelSVC

_LONG_TO_FIT = ("lowdim", "lowdim-joint", "harmonic")  # homogeneous maps encode alike


def compile_ahead(progress: Callable[[int, int], object] = lambda done, total: None) -> None:
    """Encode, train and predict a little data of each usual type, which compiles the loops.

    Parameters
    ----------
    progress : callable, optional
        ``progress(done, total)`` is called before each step and after the last one, with the
        number of steps done and of all steps. By default nothing is called.
    """
    steps = list(_steps())
    with warnings.catch_warnings(action="ignore"):
        for done, step in enumerate(steps):
            progress(done, len(steps))
            step()
    progress(len(steps), len(steps))


def _steps() -> Iterator[Callable[[], object]]:
    counts = np.random.default_rng(0).integers(0, 17, (60, 12))
    y = np.arange(60) % 3
    values = {np.dtype(kind): counts.astype(kind) for kind in ("uint8", "float32", "float64")}
    for X in values.values():
        for samples in (X, csr_matrix(X)):
            yield partial(_train, samples, y)
    yield partial(gram, values[np.dtype("uint8")], kernel="intersection")
    for X in (values[np.dtype("float32")], values[np.dtype("float64")]):
        for kernel in KERNELS:
            yield partial(gram, X / 16, kernel=kernel)
        yield partial(KernelSVC("exp-chi2").fit, X, y)
        for name in MAPS.places:  # not of plug-ins, which may have loops of their own
            if name not in _LONG_TO_FIT:
                yield partial(_encode, name, X / 16)
    yield partial(_on_outputs, values[np.dtype("float32")], y)


def _train(X: AnyMatrix, y: np.ndarray) -> None:
    for loss in ("hinge", "logistic"):
        CodedSVC(loss=loss, max_iter=2).fit(X, y).predict(X)


def _encode(name: str, X: np.ndarray) -> None:
    feature_map = MAPS[name]()
    for samples in (X, csr_matrix(X)) if feature_map.fit(X).takes_sparse_ else (X,):
        feature_map.transform(samples)


def _on_outputs(X: np.ndarray, y: np.ndarray) -> None:
    RandomFeatureSVC("exp-chi2", 16, tol=0.5, sigma=None).fit(X, y).predict(X)
    LandmarkSVC("exp-chi2", 16, sigma=None, tol=0.5).fit(X, y).predict(X)
