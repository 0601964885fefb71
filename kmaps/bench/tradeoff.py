"""Accuracy against the time of a test: exact kernels, and random maps that learners thin out.

A trial trains one learner on one draw of projections, drops the projections that it does not use
and times what is left: encoding and scoring all test samples, best of three.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kmaps.bench.extraction import features_cache
from kmaps.data import draw_split, load_dataset
from kmaps.errors import ConfigError
from kmaps.features import Matrix, extract
from kmaps.svm import GroupLassoSVC, KernelSVC, LiblinearSVC, keep_strongest, prune

LEARNERS: dict[str, Callable[[float], Any]] = {
    "dense": lambda C: LiblinearSVC(C, loss="hinge", tol=0.1),
    "sparse-svm": lambda C: LiblinearSVC(C, penalty="l1"),
    "sparse-lr": lambda C: LiblinearSVC(C, penalty="l1", loss="logistic"),
    "group": lambda C: GroupLassoSVC(C, tol=1e-2),
    "group-hinge": lambda C: GroupLassoSVC(C, loss="hinge", tol=1e-2),
    "strongest": lambda C: LiblinearSVC(C, loss="hinge", tol=0.1),
}
"""What trains on the projections: genrbf's SVM dense, SVM sparse and LR sparse (eq. 15-17), eq. 18
with the squared hinge and as printed, and a dense machine on the projections that were strongest in
a dense pilot."""

_TIMED = 3

Samples = tuple[Matrix, NDArray[np.int64], Matrix, NDArray[np.int64]]


def load_samples(
    name: str, protocol: dict[str, Any], features: str, normalize: str, params: dict[str, Any]
) -> Samples:
    """Return the features and labels of the training and of the test samples of split 0."""
    data = load_dataset(name)
    train, test = draw_split(data, protocol, 0)
    rows = np.concatenate([train, test])
    cache = features_cache()
    x = extract(data, features, normalize, rows=rows, train=train, cache=cache, **params)
    n = len(train)
    return x[:n], data.y[train], x[n:], data.y[test]


def try_exact(kernel: str, C: float, samples: Samples) -> dict[str, Any]:
    """Measure the exact kernel; return the columns of its record."""
    x_train, y_train, x_test, y_test = samples
    model = KernelSVC(kernel, C=C).fit(x_train, y_train)
    predict_s, predicted = _timed(lambda rows: model.predict(rows), x_test)
    times = model.timings_
    return {
        "accuracy": float((predicted == y_test).mean()),
        "dim": len(y_train),
        "encode_s": times["gram_s"],
        "train_s": times["train_s"],
        "predict_s": predict_s,
        **_sizes(samples, model),
    }


def try_learner(encoder: Any, learner: dict[str, Any], samples: Samples) -> dict[str, Any]:
    """Measure one learner on one draw; return the columns of its record.

    Parameters
    ----------
    encoder : RandomFourierMap or GeneralizedRBFMap
        Unfitted.
    learner : dict
        ``name`` (one of `LEARNERS`), ``C`` and, for strongest, ``keep``: how many projections.
    samples : tuple
        As of `load_samples`.

    Returns
    -------
    dict
        ``dim`` is twice the projections that are left.
    """
    x_train, y_train, x_test, y_test = samples
    start = perf_counter()
    encoder = clone(encoder).fit(x_train)
    fitted = perf_counter()
    if not hasattr(encoder, "projections_"):
        raise ConfigError(f"map {type(encoder).__name__}: draws no projections")
    encoded = encoder.transform(x_train)
    ready = perf_counter()
    model = LEARNERS[learner["name"]](learner["C"]).fit(encoded, y_train)
    if learner["name"] == "strongest":
        encoder = keep_strongest(encoder, model, learner["keep"])
        chosen = np.isin(np.arange(encoded.shape[1] // 2), encoder.projections_)
        model = clone(model).fit(encoded[:, np.repeat(chosen, 2)], y_train)
    train_s = perf_counter() - ready
    encoder, model = prune(encoder, model)
    predict_s, predicted = _timed(lambda rows: model.predict(encoder.transform(rows)), x_test)
    return {
        "accuracy": float((predicted == y_test).mean()),
        "dim": 2 * len(encoder.projections_),
        "fit_s": fitted - start,
        "encode_s": ready - fitted,
        "train_s": train_s,
        "predict_s": predict_s,
        **_sizes(samples, model),
    }


def _timed(predict: Callable[[Matrix], NDArray], rows: Matrix) -> tuple[float, NDArray]:
    """Return the least seconds of some calls, the first of which also compiles, and the result."""
    times = []
    for _ in range(_TIMED):
        start = perf_counter()
        predicted = predict(rows)
        times.append(perf_counter() - start)
    return min(times), predicted


def _sizes(samples: Samples, model: Any) -> dict[str, int]:
    x_train, y_train, _, y_test = samples
    return {
        "n_train": len(y_train),
        "n_test": len(y_test),
        "n_features": x_train.shape[1],
        "model_bytes": model.model_bytes_,
    }
