"""Third-party estimators: named in an experiment by their place in Python, made and checked.

Their code is imported here, in the processes that measure, and nowhere else.
"""

import inspect
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any
from warnings import catch_warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse

from kmaps import num_threads
from kmaps.bench.records.columns import PICKLED
from kmaps.bench.records.row import BY_ITSELF
from kmaps.bench.work.storage import counted, stored_rows
from kmaps.errors import ConfigError, InputError, suggest
from kmaps.maps import FeatureMap
from kmaps.models import stratified_order

METHODS = {BY_ITSELF: ("fit", "predict"), "coded": ("fit", "tabulate")}
"""What an estimator needs, by the solver of its row, where it does not fit and transform."""

_FREE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def find(estimator: str) -> type[Any]:
    """Import the class that an experiment names; nothing else is ever called."""
    module_name, _, name = estimator.rpartition(".")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"estimator {estimator}: there is no module {error.name!r}: install its package"
        ) from None
    except Exception as error:
        raise ConfigError(
            f"estimator {estimator}: importing {module_name} failed: {_text(error)}"
        ) from error
    try:
        named_class = getattr(module, name)
    except AttributeError:
        names = [attribute for attribute in dir(module) if not attribute.startswith("_")]
        hint = suggest(name, names)
        raise ConfigError(f"estimator {estimator}: {module_name} has no {name!r}{hint}") from None
    if not (isinstance(named_class, type) and callable(getattr(named_class, "fit", None))):
        got = (
            f"the class {name} without it"
            if isinstance(named_class, type)
            else type(named_class).__name__
        )
        raise ConfigError(f"estimator {estimator}: expected a class with the method fit, got {got}")
    return named_class


def takes(estimator: str, parameter: str) -> bool:
    """Return whether an estimator has a parameter of a name."""
    return parameter in inspect.signature(find(estimator)).parameters


def chooses_c(estimator: str, params: Mapping[str, Any]) -> bool:
    """Return whether an estimator has a parameter C that the experiment does not set."""
    return "C" not in params and takes(estimator, "C")


def make(estimator: str, params: Mapping[str, Any], **shared: Any) -> Any:
    """Return an unfitted estimator with its parameters and the ones in ``shared`` that it takes;
    ``n_jobs``, the threads of the cell, is shared too."""
    shared = {"n_jobs": num_threads(), **shared}
    fitting = {name: value for name, value in shared.items() if takes(estimator, name)}
    return find(estimator)(**{**fitting, **params})


def fit(model: Any, X: Any, y: NDArray, params: Mapping[str, Any]) -> None:
    """Train a classifier; one that stops early, as LightGBM's do, on nine tenths of each class."""
    if not params.get("early_stopping_round"):
        model.fit(X, y)
        return
    order = stratified_order(y, 0)
    held_out = np.sort(order[::10])
    rest = np.sort(np.delete(order, np.s_[::10]))
    with catch_warnings(action="ignore"):  # versions differ in how they call the rows
        model.fit(X[rest], y[rest], eval_set=[(X[held_out], y[held_out])])


def problems(
    estimator: str, params: Mapping[str, Any], solver: str, searched: Iterable[str] = ()
) -> list[str]:
    """Return the mistakes in a row before anything is trained; ``solver`` says who trains."""
    try:
        parameters = inspect.signature(find(estimator)).parameters
    except ConfigError as error:
        return [str(error)]
    odd = [name for name in (*params, *searched) if name not in parameters]
    if odd and not any(parameter.kind in _FREE for parameter in parameters.values()):
        names = f" (known: {', '.join(parameters) or 'none'})"
        return [
            f"estimator {estimator}: unknown parameter {name!r}{suggest(name, parameters) or names}"
            for name in odd
        ]
    try:
        instance = make(estimator, params)
    except Exception as error:
        return [f"estimator {estimator}: cannot be made: {_text(error)}"]
    missing = _missing(estimator, instance, solver)
    if missing:
        return missing
    try:
        pickled_bytes(instance)
    except InputError as error:
        return [f"estimator {estimator}: {error}"]
    return []


def _text(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _missing(estimator: str, instance: Any, solver: str) -> list[str]:
    """Return which methods an estimator lacks, or that its ``fit`` takes no labels."""
    needed = METHODS.get(solver, ("fit", "transform"))
    lacking = [name for name in needed if not callable(getattr(instance, name, None))]
    if lacking:
        uses = "a row of maps fits and transforms"
        if solver == BY_ITSELF:
            uses = "a row of classifiers fits and predicts"
        elif solver == "coded":
            uses = (
                "with solver: coded a row of maps fits and tabulates (solver: liblinear transforms)"
            )
        return [f"estimator {estimator}: it has no {lacking[0]!r}; {uses}"]
    try:
        inspect.signature(instance.fit).bind(None, None)
    except TypeError:
        return [f"estimator {estimator}: its 'fit' does not take samples and labels, (X, y)"]
    return []


class ThirdPartyMap(FeatureMap):
    """A third-party transformer as a map: its outputs are an ndarray or a CSR matrix."""

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    @property
    def table_bytes_(self) -> int:
        """The bytes of the pickled transformer."""
        return pickled_bytes(self.transformer)

    def fit(self, X: ArrayLike, y: object = None) -> "ThirdPartyMap":
        """Fit the transformer."""
        self.transformer.fit(X, y)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Return the transformer's outputs, one row per sample; an InputError refuses other
        shapes."""
        outputs = self.transformer.transform(X)
        rows = csr_matrix(outputs) if issparse(outputs) else np.asarray(outputs)
        if rows.ndim != 2 or rows.shape[0] != np.shape(X)[0]:
            raise InputError(
                f"{type(self.transformer).__name__}.transform: expected a row of outputs for each "
                f"of {np.shape(X)[0]} samples, got an array of shape {rows.shape}"
            )
        return rows


def labels(predicted: Any, n_samples: int, model: Any) -> NDArray:
    """Return predicted labels as an array; an InputError refuses other than one per sample."""
    y = np.asarray(predicted)
    if y.shape != (n_samples,):
        raise InputError(
            f"{type(model).__name__}.predict: expected a label for each of {n_samples} samples, "
            f"got an array of shape {y.shape}"
        )
    return y


class _Sink:
    """A file that counts the written bytes."""

    def __init__(self) -> None:
        self.nbytes = 0

    def write(self, data: Any) -> int:
        self.nbytes += memoryview(data).nbytes
        return memoryview(data).nbytes


def pickled_bytes(fitted: Any) -> int:
    """Return the size of a pickled object, which is never in memory as a whole."""
    sink = _Sink()
    try:
        pickle.Pickler(sink, pickle.HIGHEST_PROTOCOL).dump(fitted)
    except Exception as error:
        raise InputError(
            f"cannot be pickled, and its storage is the size of its pickle: {_text(error)}; keep "
            "lambdas, open files and locks out of its attributes"
        ) from None
    return sink.nbytes


def third_party_storage(train: Any, classifier: Any) -> dict[str, Any]:
    """Count the storage of a fitted classifier: the raw rows and the pickled classifier;
    classifiers of kmaps state their bytes."""
    stored = stored_rows(train)
    nbytes = getattr(classifier, "model_bytes_", None)
    if nbytes:
        return counted(stored, None, 0, nbytes)
    named = replace(stored, form=f"{stored.form} + {PICKLED} model")
    return counted(named, None, 0, pickled_bytes(classifier))
