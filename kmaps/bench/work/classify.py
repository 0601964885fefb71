"""One model on one split: trained, timed, its storage counted, its predictions judged.

C is chosen inside the training split, before the measured part begins.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from kmaps import gram, models
from kmaps.bench.records.row import BY_ITSELF, is_third_party
from kmaps.bench.run.clock import UNTIMED, Timing
from kmaps.bench.work import third_party
from kmaps.bench.work.samples import Split
from kmaps.bench.work.storage import coded_storage, map_gram, storage, support_storage
from kmaps.kernels import EXP_KERNELS, KERNELS
from kmaps.maps import FeatureMap, make_map
from kmaps.models import Places
from kmaps.svm import KernelSVC, LiblinearSVC

if TYPE_CHECKING:
    from kmaps.svm import CodedSVC

Array = NDArray[np.float32]
Grid = Sequence[float]

_BLOCK_VALUES = 1 << 18  # encoded at once, if only the norms of the rows are needed


@dataclass(frozen=True)
class ModelSpec:
    """A map, or an exact kernel, and the solver that trains on it.

    ``method`` is ``linear``, ``hellinger``, ``exact``, ``exact-coded``, the name of a map, or a
    third-party estimator, with its ``params``; ``kernel`` is empty for linear, hellinger and third
    parties; ``settings`` belong to the solver. With ``unit_norm``, C and the bias apply to rows
    scaled to a root mean square norm of one.
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
    """How C is chosen: from a grid, or by a rule, on a stratified draw of the samples."""

    grid: list[float] | Literal["auto", "plateau"]
    seed: int
    folds: int = 3
    samples: int | None = None
    unit_norm: bool = False


def warm_up(spec: ModelSpec, C: float, split: Split) -> None:
    """Compile and load all that a model needs, along the path that its measurement takes."""
    if spec.solver == "coded":
        # The levels and the number of zero codes decide which loops are compiled.
        model = _coded(spec, C, 1.0, max_iter=1, tol=0.9)
        model.fit(split.x_train, split.y_train).predict(split.x_test[:50])
    else:
        # A third-party estimator may refuse so few samples, but take all.
        refusals = (Exception,) if is_third_party(spec.method) else ()
        with suppress(*refusals):
            evaluate(spec, C, _few(split), UNTIMED)


def _few(split: Split) -> Split:
    y = split.y_train
    spread = models.stratified_order(y, 0)[:: max(1, len(y) // 50)]
    rows = np.union1d(spread, np.unique(y, return_index=True)[1])
    return Split(split.x_train[rows], y[rows], split.x_test[:50], split.y_test[:50])


Evaluated = tuple[dict[str, Any], NDArray[np.int64]]


def evaluate(spec: ModelSpec, C: float, split: Split, timing: Timing) -> Evaluated:
    """Train with the given C and predict the test samples; time each part.

    Returned are the columns ``dim`` and sizes in bytes, and the predicted labels.
    """
    by_solver = {
        "libsvm": _evaluate_exact if spec.method == "exact" else _evaluate_map_gram,
        "liblinear": _evaluate_linear,
        "coded": _evaluate_coded,
        BY_ITSELF: _evaluate_own,
    }
    return by_solver[spec.solver](spec, C, split, timing)


def _evaluate_exact(spec: ModelSpec, C: float, split: Split, timing: Timing) -> Evaluated:
    scale = _mean_square(split.x_train, spec.kernel) if spec.unit_norm else 1.0
    model = KernelSVC(spec.kernel, C / scale, solver="libsvm", multiclass=spec.reduction)
    model.fit(split.x_train, split.y_train)
    times = model.timings_
    timing.note(
        fit_s=0.0, encode_s=times["gram_s"], convert_s=times["convert_s"], train_s=times["train_s"]
    )
    timing.trained()
    with timing.timed("predict_s"):
        predicted = model.predict(split.x_test)
    stored = storage(split.x_train, None, split.x_train, model.model_bytes_)
    memory = {"gram_bytes": model.gram_bytes_, "copy_bytes": model.copy_bytes_}
    return {"dim": len(split.y_train), **stored, **memory}, predicted


def _evaluate_map_gram(spec: ModelSpec, C: float, split: Split, timing: Timing) -> Evaluated:
    with timing.timed("encode_s"):
        train_gram = map_gram(_map_of(spec), split.x_train, split.y_train)
    model = _libsvm(spec, C, _gram_scale(spec, train_gram.matrix))
    model.fit(train_gram.matrix, split.y_train)
    times = model.timings_
    timing.note(fit_s=0.0, convert_s=times["convert_s"], train_s=times["train_s"])
    timing.trained()
    with timing.timed("predict_s"):
        predicted = model.predict(train_gram.against(split.x_test))
    stored = support_storage(train_gram.storage(), model)
    memory = {"gram_bytes": train_gram.matrix.nbytes, "copy_bytes": model.copy_bytes_}
    return {"dim": train_gram.dim, **stored, **memory}, predicted


def _evaluate_linear(spec: ModelSpec, C: float, split: Split, timing: Timing) -> Evaluated:
    feature_map = _map_of(spec)
    with timing.timed("fit_s"):
        feature_map.fit(split.x_train, split.y_train)
    with timing.timed("encode_s"):
        encoded = feature_map.transform(split.x_train)
    model = _liblinear(spec, C, encoded).fit(encoded, split.y_train)
    timing.note(convert_s=model.timings_["convert_s"], train_s=model.timings_["train_s"])
    timing.trained()
    stored = storage(split.x_train, feature_map, encoded, model.model_bytes_)
    dim = encoded.shape[1]
    del encoded
    with timing.timed("predict_s"):
        predicted = model.predict(feature_map.transform(split.x_test))
    memory = {"gram_bytes": 0, "copy_bytes": model.copy_bytes_}
    return {"dim": dim, **stored, **memory}, predicted


def _evaluate_coded(spec: ModelSpec, C: float, split: Split, timing: Timing) -> Evaluated:
    scale = _coded_scale(spec, split.x_train)
    model = _coded(spec, C, scale).fit(split.x_train, split.y_train)
    times = model.timings_
    timing.note(fit_s=0.0, encode_s=0.0, convert_s=times["convert_s"], train_s=times["train_s"])
    timing.trained()
    with timing.timed("predict_s"):
        predicted = model.predict(split.x_test)
    stored = coded_storage(model, len(split.y_train))
    memory = {"gram_bytes": 0, "copy_bytes": model.codes_bytes_}
    columns = {"dim": split.x_train.shape[1], "gap": _largest_gap(model)}
    return {**columns, **stored, **memory}, predicted


def _largest_gap(model: Any) -> float | None:
    """Return the largest relative duality gap of a fitted model, if it has them."""
    gaps = vars(model).get("duality_gap_")
    return None if gaps is None else float(np.max(gaps))


def _evaluate_own(spec: ModelSpec, C: float, split: Split, timing: Timing) -> Evaluated:
    model = own(spec, C)
    timing.note(fit_s=0.0, encode_s=0.0, convert_s=0.0)
    with timing.timed("train_s"):
        third_party.fit(model, split.x_train, split.y_train, spec.params)
    timing.trained()
    with timing.timed("predict_s"):
        predicted = third_party.labels(model.predict(split.x_test), len(split.y_test), model)
    stored = third_party.third_party_storage(split.x_train, model)
    columns = {"dim": split.x_train.shape[1], "gap": _largest_gap(model)}
    return {**columns, **stored}, predicted


def own(spec: ModelSpec, C: Any) -> Any:
    """Return the unfitted third-party classifier; a class of kmaps has the row's reduction."""
    shared = {"C": C, "random_state": spec.seed, "multiclass": spec.reduction}
    return third_party.make(spec.method, spec.params, **shared)


class _Identity(FeatureMap):
    """The map of the linear baseline: one output per value, the value itself."""

    def fit(self, X: Array, y: object = None) -> "_Identity":
        return self

    def transform(self, X: Array) -> Array:
        return X


class _SquareRoots(_Identity):
    """The map of the baseline ``hellinger``: one output per value, its root with its sign.

    Inner products are the Hellinger kernel, the sum of sign(xy)·√|xy|, without any error.
    """

    def transform(self, X: Array) -> Array:
        if not issparse(X):
            return np.sign(X) * np.sqrt(np.abs(X))
        roots = X.copy()
        roots.data = np.sign(roots.data) * np.sqrt(np.abs(roots.data))
        return roots


_BASELINES: dict[str, type[FeatureMap]] = {"linear": _Identity, "hellinger": _SquareRoots}


def _map_of(spec: ModelSpec) -> Any:
    if spec.method in _BASELINES:
        return _BASELINES[spec.method]()
    if is_third_party(spec.method):
        transformer = third_party.make(spec.method, spec.params, random_state=spec.seed)
        return transformer if spec.solver == "coded" else third_party.ThirdPartyMap(transformer)
    return make_map(spec.method, spec.kernel, spec.params, random_state=spec.seed)


def _liblinear(spec: ModelSpec, C: float, encoded: Any) -> LiblinearSVC:
    """Return LIBLINEAR with the settings of a spec, scaled for these encoded training rows."""
    settings = dict(spec.settings)
    if spec.unit_norm:
        scale = _mean_square(encoded)
        C = C / scale
        settings["bias"] = settings["bias"] * scale**0.5
    return LiblinearSVC(C=C, multiclass=spec.reduction, random_state=spec.seed, **settings)


def _libsvm(spec: ModelSpec, C: float, scale: float) -> KernelSVC:
    """Return LIBSVM on a kernel matrix; ``scale`` is the mean square norm that C is for."""
    return KernelSVC("precomputed", C / scale, solver="libsvm", multiclass=spec.reduction)


def _gram_scale(spec: ModelSpec, matrix: Array) -> float:
    if not spec.unit_norm:
        return 1.0
    return float(np.diagonal(matrix).mean()) or 1.0


def _coded(spec: ModelSpec, C: float, scale: float, **options: Any) -> "CodedSVC":
    """Return the coded solver; ``scale`` is the mean square norm that C is for."""
    from kmaps.svm import CodedSVC  # many modules, and few rows need them

    settings = {**spec.settings, "multiclass": spec.reduction, "random_state": spec.seed}
    settings["tol"] = settings.pop("gap")
    settings["bias"] *= scale**0.5
    settings |= options
    map_or_kernel = spec.kernel if spec.method == "exact-coded" else _map_of(spec)
    return CodedSVC(map_or_kernel, C / scale, **settings)


def _coded_scale(spec: ModelSpec, x: Array) -> float:
    if not spec.unit_norm:
        return 1.0
    if spec.method == "exact-coded":
        return _mean_square(x, spec.kernel)
    feature_map = _map_of(spec).fit(x)
    width = feature_map.transform(x[:1]).shape[1]
    rows = max(1, _BLOCK_VALUES // width)
    total = 0.0
    for start in range(0, x.shape[0], rows):
        block = feature_map.transform(x[start : start + rows])
        # The mean square belongs to the rows of a block, and the last block may have fewer.
        total += _mean_square(block) * block.shape[0]
    return total / x.shape[0]


def _mean_square(rows: Any, kernel: str = "linear") -> float:
    """Return the mean of k(x, x) over some rows; for the linear kernel, their mean square norm."""
    if kernel in EXP_KERNELS or kernel == "rbf":
        return 1.0
    values = rows.data if issparse(rows) else rows
    # Every additive kernel has k(x, x) = x.
    total = np.abs(values).sum(dtype=float) if kernel in KERNELS else np.vdot(values, values)
    return float(total) / rows.shape[0] or 1.0


def choose_c(
    spec: ModelSpec,
    choosing: Choosing,
    x: Array,
    y: NDArray[np.int64],
    groups: NDArray | None = None,
) -> models.Choice:
    """Choose C by cross-validation on training samples.

    Every method sees the same samples and folds; no fold divides a group, and ties go to the
    smaller C. The choice is of no values when there is nothing to choose; a third-party classifier
    without a parameter C has no C.
    """
    if spec.solver == BY_ITSELF and not third_party.chooses_c(spec.method, spec.params):
        C = spec.params.get("C")
        if not isinstance(C, int | float):
            C = None
        return models.Choice(C, (), (), ())
    if not isinstance(choosing.grid, str) and len(choosing.grid) == 1:
        return models.Choice(choosing.grid[0], (), (), ())
    return models.cross_validate(
        lambda chosen: predictor(spec, x[chosen], y[chosen]),
        choosing.grid,
        y,
        cv=choosing.folds,
        random_state=choosing.seed,
        samples=choosing.samples,
        groups=groups,
    )


def predictor(spec: ModelSpec, x: Array, y: NDArray[np.int64]) -> models.Predict:
    """Return a function that trains a row with each C on some samples and predicts others."""
    if is_third_party(spec.method) and spec.solver != "coded":
        return _own_predictor(spec, x, y)
    if spec.solver == "coded":
        scale = _coded_scale(spec, x)
        return _in_units_of(scale, _coded_predictor(_coded(spec, 1.0, scale), x, y))
    if spec.method == "exact":
        scale = _mean_square(x, spec.kernel) if spec.unit_norm else 1.0
        matrix = gram(x, kernel=spec.kernel)
        return _in_units_of(scale, models.along_c_precomputed(_libsvm(spec, 1.0, 1.0), matrix, y))
    if spec.solver == "libsvm":
        matrix = map_gram(_map_of(spec), x, y).matrix
        predict = models.along_c_precomputed(_libsvm(spec, 1.0, 1.0), matrix, y)
        return _in_units_of(_gram_scale(spec, matrix), predict)
    encoded = _map_of(spec).fit(x).transform(x)
    scale = _mean_square(encoded) if spec.unit_norm else 1.0
    return _in_units_of(scale, models.along_c(_liblinear(spec, 1.0, encoded), encoded, y))


def _coded_predictor(model: "CodedSVC", x: Array, y: NDArray[np.int64]) -> models.Predict:
    """Return the function of :func:`predictor` for codes, which each fold makes once for all C."""
    from kmaps.svm import code_samples

    form = "low-rank" if model.penalty == "l1" else model.form

    def predict(grid: Grid, train: Places, test: Places) -> Iterable[NDArray]:
        learner = clone(model).set_params(warm_start=True)
        rows = code_samples(
            model.map,
            x[train],
            n_levels=model.n_levels,
            level_ranges=model.level_ranges,
            smooth=model.smooth,
            form=form,
        )
        for C in grid:
            yield learner.set_params(C=C).fit(rows, y[train]).predict(x[test])

    return predict


def _own_predictor(spec: ModelSpec, x: Array, y: NDArray[np.int64]) -> models.Predict:
    """Return the function of :func:`predictor` for a third-party estimator, which never sees the
    labels left out."""

    def predict(grid: Grid, train: Places, test: Places) -> Iterable[NDArray]:
        if spec.solver == BY_ITSELF:
            for C in grid:
                model = own(spec, C)
                third_party.fit(model, x[train], y[train], spec.params)
                yield third_party.labels(model.predict(x[test]), len(test), model)
            return
        if spec.solver == "libsvm":
            train_gram = map_gram(_map_of(spec), x[train], y[train])
            scale = _gram_scale(spec, train_gram.matrix)
            of_test = train_gram.against(x[test])
            for C in grid:
                yield _libsvm(spec, C, scale).fit(train_gram.matrix, y[train]).predict(of_test)
            return
        feature_map = _map_of(spec).fit(x[train], y[train])
        encoded = feature_map.transform(x[train])
        of_test = feature_map.transform(x[test])
        for C in grid:
            yield _liblinear(spec, C, encoded).fit(encoded, y[train]).predict(of_test)

    return predict


def _in_units_of(scale: float, predict: models.Predict) -> models.Predict:
    """Return ``predict`` for values of C that are to be divided by a mean square norm."""

    def scaled(grid: Grid, train: Places, test: Places) -> Iterable[NDArray]:
        return predict([C / scale for C in grid], train, test)

    return scaled
