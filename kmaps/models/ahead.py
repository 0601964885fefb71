"""Everything that is compiled for the usual types and settings, ahead of its first use."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone

from kmaps.gram_matrix import gram
from kmaps.io import LabelledRows, open_reader
from kmaps.kernels import KERNELS
from kmaps.maps import MAPS, HomogeneousMap, IntersectionMap, SplineMap
from kmaps.matrices import AnyMatrix
from kmaps.models.landmark_svc import LandmarkSVC
from kmaps.models.random_features import RandomFeatureSVC
from kmaps.svm import CodedSVC, CodedSVR, KernelSVC

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
    for n_classes in (2, 6, 10):  # scores of up to 1, 4, 8 and 16 classes are summed at once
        for samples in (counts.astype(np.float64), csr_matrix(counts, dtype=np.float64)):
            yield partial(
                _fit_and_predict, CodedSVC(max_iter=2), samples, np.arange(60) % n_classes
            )
    yield from _steps_on_tables()
    yield from _steps_of_recommend()


def _steps_on_tables() -> Iterator[Callable[[], object]]:
    """Yield what commands do: models of the rows of files, in double precision, of real values,
    of columns with levels of their own, of values that are all levels, and of classes that overlap,
    which Newton's method ends."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 17, (400, 12)).astype(np.float64)
    real = rng.random((400, 12))
    unlike = real * 10.0 ** (np.arange(12) % 5)
    few_values = real[:40, :4]
    for X in (counts, real, unlike, few_values):
        noisy = X[:, 0] / X[:, 0].max() + rng.random(len(X))
        for n_classes in (2, 3):
            y = np.digitize(noisy, np.quantile(noisy, np.arange(1, n_classes) / n_classes))
            for loss in ("hinge", "squared_hinge"):
                yield partial(_of_file, CodedSVC(loss=loss), X, y)
        yield partial(_of_file, CodedSVC("intersection"), X, noisy > 1)
        yield partial(_of_file, CodedSVR(), X, noisy)
        for order in (1, 3):
            yield partial(_of_file, CodedSVC(HomogeneousMap(order=order)), X, noisy > 1)


def _steps_of_recommend() -> Iterator[Callable[[], object]]:
    """Yield what `kmaps recommend` measures: models in single precision, with its loss."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 17, (400, 12)).astype(np.float32)
    real = rng.random((400, 12), np.float32)
    unlike = (real * 10.0 ** (np.arange(12) % 5)).astype(np.float32)
    few_values = real[:40, :4]
    models: tuple[Any, ...] = (
        CodedSVC(loss="squared_hinge"),
        CodedSVC("intersection", loss="squared_hinge"),
        CodedSVC(HomogeneousMap(), loss="squared_hinge"),
        CodedSVC(SplineMap(), loss="squared_hinge"),
        CodedSVC(IntersectionMap(n_bins=1), loss="squared_hinge"),
        KernelSVC("exp-chi2"),
        LandmarkSVC("rbf", 16, loss="squared_hinge", sigma=None),
        RandomFeatureSVC("exp-chi2", 16, structure="fastfood", loss="squared_hinge", sigma=None),
    )
    for X in (counts, unlike, few_values):
        for n_classes in (2, 3):
            noisy = X[:, 0] / X[:, 0].max() + rng.random(len(X))
            y = np.digitize(noisy, np.quantile(noisy, np.arange(1, n_classes) / n_classes))
            for model in models:
                yield partial(_fit_and_predict, clone(model), X, y)


def _of_file(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Train a model on the rows of a file of text, and predict them block by block."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        np.savetxt(path, X, delimiter=",")
        reader = open_reader(path)
        rows = LabelledRows(reader, np.asarray(y), watch=False)
        model.fit(model.prepare_rows(rows), y)
        for block in rows.blocks():
            model.predict(block)


def _fit_and_predict(model: Any, X: AnyMatrix, y: np.ndarray) -> None:
    model.fit(X, y).predict(X)


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
