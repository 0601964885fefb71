"""One machine on one split: trained, timed, its storage counted, its predictions judged.

C is chosen inside the training split, before the measured part begins.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps import gram
from kmaps.bench.records.row import is_own
from kmaps.bench.work import own
from kmaps.bench.work.map_gram import map_gram
from kmaps.bench.work.samples import Split
from kmaps.bench.work.storage import coded_storage, own_storage, storage, support_storage
from kmaps.bench.work.timing import UNTIMED, Timing
from kmaps.kernels import EXP_KERNELS, KERNELS
from kmaps.maps import FeatureMap, make_map
from kmaps.models import (
    AUTO,
    Choice,
    Places,
    Predict,
    along_c,
    along_c_precomputed,
    cross_validate,
    stratified_order,
)
from kmaps.svm import CodedSVC, KernelSVC, LiblinearSVC

Array = NDArray[np.float32]

_BLOCK_VALUES = 1 << 18  # encoded at once, where only the norms of the rows are wanted


@dataclass(frozen=True)
class Machine:
    """A map, or an exact kernel, and the solver that trains on it.

    Attributes
    ----------
    method : str
        ``linear``, ``exact``, ``exact-coded``, the name of a map, or an estimator of others.
    kernel : str
        ``""`` for the linear machine, and estimators of others.
    params : dict
        Parameters of the map or the estimator.
    solver : {"liblinear", "libsvm", "coded", "own"}
    reduction : {"ovo", "ovr"}
    settings : dict
        Settings of the solver: its loss, bias and tolerance.
    unit_norm : bool
        Whether C and the bias are for rows scaled to a root mean square norm of one.
    seed : int
    """

    method: str
    kernel: str
    params: dict[str, Any]
    solver: str
    reduction: str
    settings: dict[str, Any]
    unit_norm: bool
    seed: int


@dataclass(frozen=True)
class Choosing:
    """How C is chosen: from a grid, by cross-validation on a stratified draw of the samples.

    ``grid`` is a list of values, or ``"auto"``. ``unit_norm`` is that of the machine. ``seed`` is
    the same for every method.
    """

    grid: list[float] | Literal["auto"]
    seed: int
    folds: int = 3
    samples: int | None = None
    unit_norm: bool = False


def warm_up(machine: Machine, C: float, split: Split) -> None:
    """Compile and load what a machine needs, along the path that its measurement takes."""
    if machine.solver == "coded":
        # Which loops are compiled follows from the levels and from how many codes are zero.
        model = _coded(machine, C, 1.0, max_iter=1, tol=0.9)
        model.fit(split.x_train, split.y_train).predict(split.x_test[:50])
    elif is_own(machine.method):
        # What an estimator of others makes of so few samples need not be what it makes of all.
        with suppress(Exception):
            evaluate(machine, C, _few(split), UNTIMED)
    else:
        evaluate(machine, C, _few(split), UNTIMED)


def _few(split: Split) -> Split:
    """Return some fifty samples of every part, with every class in the training part."""
    y = split.y_train
    spread = stratified_order(y, 0)[:: max(1, len(y) // 50)]
    rows = np.union1d(spread, np.unique(y, return_index=True)[1])
    return Split(split.x_train[rows], y[rows], split.x_test[:50], split.y_test[:50])


Evaluated = tuple[dict[str, Any], NDArray[np.int64]]


def evaluate(machine: Machine, C: float, split: Split, timing: Timing) -> Evaluated:
    """Train with the given C and predict: time each part, return sizes and predictions.

    Parameters
    ----------
    machine : Machine
    C : float
    split : Split
    timing : Timing
        Notes ``fit_s``, ``encode_s``, ``convert_s``, ``train_s`` and ``predict_s``.

    Returns
    -------
    columns : dict
        Columns of a record: ``dim`` and sizes in bytes.
    predicted : ndarray of int, shape (m,)
        The labels of the test samples.
    """
    by_solver = {
        "libsvm": _evaluate_exact if machine.method == "exact" else _evaluate_map_gram,
        "liblinear": _evaluate_linear,
        "coded": _evaluate_coded,
        "own": _evaluate_own,
    }
    return by_solver[machine.solver](machine, C, split, timing)


def _evaluate_exact(machine: Machine, C: float, split: Split, timing: Timing) -> Evaluated:
    scale = _mean_square(split.x_train, machine.kernel) if machine.unit_norm else 1.0
    model = KernelSVC(kernel=machine.kernel, C=C / scale, multiclass=machine.reduction)
    model.fit(split.x_train, split.y_train)
    times = model.timings_
    timing.note(
        fit_s=0.0,
        encode_s=times["gram_s"],
        convert_s=times["convert_s"],
        train_s=times["train_s"],
    )
    timing.trained()
    with timing.timed("predict_s"):
        predicted = model.predict(split.x_test)
    stored = storage(split.x_train, None, split.x_train, model.model_bytes_)
    memory = {"gram_bytes": model.gram_bytes_, "copy_bytes": model.copy_bytes_}
    return {"dim": len(split.y_train), **stored, **memory}, predicted


def _evaluate_map_gram(machine: Machine, C: float, split: Split, timing: Timing) -> Evaluated:
    with timing.timed("encode_s"):
        known = map_gram(_map_of(machine), split.x_train, split.y_train)
    model = _libsvm(machine, C, _gram_scale(machine, known.matrix))
    model.fit(known.matrix, split.y_train)
    times = model.timings_
    timing.note(fit_s=0.0, convert_s=times["convert_s"], train_s=times["train_s"])
    timing.trained()
    with timing.timed("predict_s"):
        predicted = model.predict(known.against(split.x_test))
    stored = support_storage(known.storage(), model)
    memory = {"gram_bytes": known.matrix.nbytes, "copy_bytes": model.copy_bytes_}
    return {"dim": known.dim, **stored, **memory}, predicted


def _evaluate_linear(machine: Machine, C: float, split: Split, timing: Timing) -> Evaluated:
    feature_map = _map_of(machine)
    with timing.timed("fit_s"):
        feature_map.fit(split.x_train, split.y_train)
    with timing.timed("encode_s"):
        encoded = feature_map.transform(split.x_train)
    model = _liblinear(machine, C, encoded).fit(encoded, split.y_train)
    timing.note(convert_s=model.timings_["convert_s"], train_s=model.timings_["train_s"])
    timing.trained()
    stored = storage(split.x_train, feature_map, encoded, model.model_bytes_)
    dim = encoded.shape[1]
    del encoded
    with timing.timed("predict_s"):
        predicted = model.predict(feature_map.transform(split.x_test))
    memory = {"gram_bytes": 0, "copy_bytes": model.copy_bytes_}
    return {"dim": dim, **stored, **memory}, predicted


def _evaluate_coded(machine: Machine, C: float, split: Split, timing: Timing) -> Evaluated:
    scale = _coded_scale(machine, split.x_train)
    model = _coded(machine, C, scale).fit(split.x_train, split.y_train)
    times = model.timings_
    timing.note(fit_s=0.0, encode_s=0.0, convert_s=times["convert_s"], train_s=times["train_s"])
    timing.trained()
    with timing.timed("predict_s"):
        predicted = model.predict(split.x_test)
    stored = coded_storage(model, len(split.y_train))
    memory = {"gram_bytes": 0, "copy_bytes": model.codes_bytes_}
    return {"dim": split.x_train.shape[1], **stored, **memory}, predicted


def _evaluate_own(machine: Machine, C: float, split: Split, timing: Timing) -> Evaluated:
    model = _own(machine, C)
    timing.note(fit_s=0.0, encode_s=0.0, convert_s=0.0)
    with timing.timed("train_s"):
        model.fit(split.x_train, split.y_train)
    timing.trained()
    with timing.timed("predict_s"):
        predicted = own.labels(model.predict(split.x_test), len(split.y_test), model)
    return {"dim": split.x_train.shape[1], **own_storage(split.x_train, model)}, predicted


def _own(machine: Machine, C: float) -> Any:
    """Return a classifier of others, with the given C if it has one that it is not told."""
    return own.make(machine.method, machine.params, C=C, random_state=machine.seed)


class _Identity(FeatureMap):
    """The map of the linear baseline."""

    def fit(self, X: Array, y: object = None) -> "_Identity":
        return self

    def transform(self, X: Array) -> Array:
        return X


def _map_of(machine: Machine) -> Any:
    """Return a machine's map, unfitted, seeded by the machine."""
    if machine.method == "linear":
        return _Identity()
    if is_own(machine.method):
        made = own.make(machine.method, machine.params, random_state=machine.seed)
        return made if machine.solver == "coded" else own.OwnMap(made)
    return make_map(machine.method, machine.kernel, machine.params, random_state=machine.seed)


def _liblinear(machine: Machine, C: float, encoded: Any) -> LiblinearSVC:
    """Return LIBLINEAR with the settings of a machine, scaled for these encoded training rows."""
    settings = dict(machine.settings)
    if machine.unit_norm:
        scale = _mean_square(encoded)
        C, settings["bias"] = C / scale, settings["bias"] * scale**0.5
    return LiblinearSVC(C=C, multiclass=machine.reduction, random_state=machine.seed, **settings)


def _libsvm(machine: Machine, C: float, scale: float) -> KernelSVC:
    """Return LIBSVM on a kernel matrix; ``scale`` is the mean square norm that C is for."""
    return KernelSVC("precomputed", C / scale, multiclass=machine.reduction)


def _gram_scale(machine: Machine, matrix: Array) -> float:
    return (float(np.diagonal(matrix).mean()) or 1.0) if machine.unit_norm else 1.0


def _coded(machine: Machine, C: float, scale: float, **options: Any) -> CodedSVC:
    """Return the coded solver of a machine; ``scale`` is the mean square norm that C is for."""
    settings = dict(machine.settings)
    settings |= {"tol": settings.pop("gap"), "bias": settings["bias"] * scale**0.5, **options}
    of_rows = machine.kernel if machine.method == "exact-coded" else _map_of(machine)
    seeded = {"multiclass": machine.reduction, "random_state": machine.seed}
    return CodedSVC(of_rows, C / scale, **seeded, **settings)


def _coded_scale(machine: Machine, x: Array) -> float:
    if not machine.unit_norm:
        return 1.0
    if machine.method == "exact-coded":
        return _mean_square(x, machine.kernel)
    feature_map = _map_of(machine).fit(x)
    width = feature_map.transform(x[:1]).shape[1]
    rows = max(1, _BLOCK_VALUES // width)
    parts = (feature_map.transform(x[start : start + rows]) for start in range(0, x.shape[0], rows))
    # The mean square of a part is of its own rows, the last may have fewer.
    return sum(_mean_square(part) * part.shape[0] for part in parts) / x.shape[0]


def _mean_square(rows: Any, kernel: str = "linear") -> float:
    """Return the mean of k(x, x) over some rows; for the linear kernel, their mean square norm."""
    if kernel in EXP_KERNELS or kernel == "rbf":
        return 1.0
    values = rows.data if issparse(rows) else rows
    # Every additive kernel has k(x, x) = x.
    total = np.abs(values).sum(dtype=float) if kernel in KERNELS else np.vdot(values, values)
    return float(total) / rows.shape[0] or 1.0


def choose_c(
    machine: Machine,
    choosing: Choosing,
    x: Array,
    y: NDArray[np.int64],
    groups: NDArray | None = None,
) -> Choice:
    """Choose C by cross-validation on training samples.

    Every method sees the same samples and folds. The samples are encoded, or their Gram matrix
    computed, once. Ties go to the smaller C.

    Parameters
    ----------
    machine : Machine
    choosing : Choosing
    x : ndarray of float32, shape (n, d)
        Training features; nothing of the test split comes near.
    y : ndarray of int, shape (n,)
    groups : ndarray, shape (n,), optional
        Groups that no fold divides.

    Returns
    -------
    Choice
        Of no values when there is nothing to choose. A classifier of others without a parameter C,
        or with one that the experiment tells it, has no choice and no C.
    """
    if machine.solver == "own" and not own.chooses_c(machine.method, machine.params):
        told = machine.params.get("C")
        return Choice(told if isinstance(told, int | float) else None, (), (), ())
    if choosing.grid != AUTO and len(choosing.grid) == 1:
        return Choice(choosing.grid[0], (), (), ())
    return cross_validate(
        lambda chosen: _predictor(machine, x[chosen], y[chosen]),
        choosing.grid,
        y,
        folds=choosing.folds,
        seed=choosing.seed,
        samples=choosing.samples,
        groups=groups,
    )


def _predictor(machine: Machine, x: Array, y: NDArray[np.int64]) -> Predict:
    """Return what predicts with each C; what all values share is made once."""
    if is_own(machine.method) and machine.solver != "coded":
        return _own_predictor(machine, x, y)
    if machine.solver == "coded":
        scale = _coded_scale(machine, x)
        return _in_units_of(scale, along_c(_coded(machine, 1.0, scale), x, y))
    if machine.method == "exact":
        scale = _mean_square(x, machine.kernel) if machine.unit_norm else 1.0
        matrix = gram(x, kernel=machine.kernel)
        return _in_units_of(scale, along_c_precomputed(_libsvm(machine, 1.0, 1.0), matrix, y))
    if machine.solver == "libsvm":
        matrix = map_gram(_map_of(machine), x, y).matrix
        predict = along_c_precomputed(_libsvm(machine, 1.0, 1.0), matrix, y)
        return _in_units_of(_gram_scale(machine, matrix), predict)
    encoded = _map_of(machine).fit(x).transform(x)
    scale = _mean_square(encoded) if machine.unit_norm else 1.0
    return _in_units_of(scale, along_c(_liblinear(machine, 1.0, encoded), encoded, y))


def _own_predictor(machine: Machine, x: Array, y: NDArray[np.int64]) -> Predict:
    """Return what predicts with an estimator of others, which never sees labels left out."""

    def predict(grid: Sequence[float], train: Places, test: Places) -> Iterable[NDArray]:
        if machine.solver == "own":
            for C in grid:
                model = _own(machine, C)
                model.fit(x[train], y[train])
                yield own.labels(model.predict(x[test]), len(test), model)
            return
        if machine.solver == "libsvm":
            known = map_gram(_map_of(machine), x[train], y[train])
            scale, of_test = _gram_scale(machine, known.matrix), known.against(x[test])
            for C in grid:
                yield _libsvm(machine, C, scale).fit(known.matrix, y[train]).predict(of_test)
            return
        feature_map = _map_of(machine).fit(x[train], y[train])
        encoded, of_test = feature_map.transform(x[train]), feature_map.transform(x[test])
        for C in grid:
            yield _liblinear(machine, C, encoded).fit(encoded, y[train]).predict(of_test)

    return predict


def _in_units_of(scale: float, predict: Predict) -> Predict:
    """Return ``predict`` for values of C that are to be divided by a mean square norm."""

    def scaled(grid: Sequence[float], train: Places, test: Places) -> Iterable[NDArray]:
        return predict([C / scale for C in grid], train, test)

    return scaled
