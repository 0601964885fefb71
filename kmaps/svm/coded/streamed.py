"""Classifiers whose samples come a part at a time, as codes of levels that stay.

The codes of all samples seen so far are kept, and of each binary problem its dual variables. New
samples begin at the variable zero: the problem of all is then solved as any other, from a point
whose dual objective is that where the last call stopped.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import update_wrapper
from types import MethodType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse, vstack

from kmaps.codes.levels import check_levels
from kmaps.errors import ConfigError, InputError
from kmaps.matrices import AnyMatrix
from kmaps.svm.coded.estimator import CodedEstimator, Progress
from kmaps.svm.coded.problem import CodedSolution
from kmaps.svm.coded.training import CodedRows
from kmaps.svm.learner import input_errors
from kmaps.svm.losses import Floats
from kmaps.svm.model_file import ModelFile
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import (
    Labels,
    Places,
    check_sample_weight,
    class_pairs,
    count_problems,
    read_curves,
)
from kmaps.validation import validate_data

_FIXED = ("map", "penalty", "multiclass")


class _OnlyWithLevels:
    """A method that a model has where its samples are codes; else it says how to make some.

    scikit-learn's ``available_if`` would not say why the method is missing.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(cast(Any, self), method)

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self._method
        if model.levels is None:
            raise AttributeError(
                f"{type(model).__name__} has no partial_fit without levels: a model that fit or a "
                "file made keeps no samples, so train it again on old and new ones; or begin with "
                "codes, quantizer = Quantizer(strategy='shared').fit(X), "
                f"{type(model).__name__}(levels=quantizer.levels_), and pass quantizer.transform(X)"
            )
        return MethodType(self._method, model)


@dataclass(frozen=True, eq=False)
class Seen:
    """The samples of all calls so far that count."""

    codes: AnyMatrix  # (n, d)
    levels: Floats  # (1 or d, L)
    classes: NDArray  # (K,)
    labels: Places  # (n,): the class of each sample, 0 to K-1
    weights: Floats  # (n,)
    fixed: tuple[Any, ...]  # the parameters that give dual variables their meaning

    def with_others(self, codes: AnyMatrix, labels: Places, weights: Floats) -> "Seen":
        """Return these samples and others after them."""
        if issparse(codes) != issparse(self.codes):
            raise InputError(
                "codes: some calls of partial_fit had dense codes, others CSR; pass one form only"
            )
        stacked = vstack if issparse(codes) else np.concatenate
        return replace(
            self,
            codes=stacked([self.codes, codes]),
            labels=np.concatenate([self.labels, labels]),
            weights=np.concatenate([self.weights, weights]),
        )


class StreamedClassifier(CodedEstimator, ProbabilisticClassifier):
    """A classifier on codes that can be trained on a part of the samples after the other."""

    _seen: Seen | None = None

    @abstractmethod
    def _solved(
        self, training: CodedRows, labels: Labels, progress: Progress
    ) -> tuple[list[CodedSolution], NDArray | None]:
        """Train on codes; return the solutions, and the calibrators of their scores."""

    @property
    def _keeps_duals(self) -> bool:
        return self.warm_start or self._seen is not None

    def _starting_points(self, sizes: Any) -> Any:
        duals = self._duals or []
        if self._seen is None or len(duals) != len(sizes):
            return super()._starting_points(sizes)
        # The samples of the last calls come first in every binary problem.
        return [np.pad(a, (0, size - len(a))) for a, size in zip(duals, sizes, strict=True)]

    @_OnlyWithLevels
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "StreamedClassifier":
        """Train on more samples than in the calls before; only with ``levels``.

        After each call the model is the same as of :meth:`fit` on the samples of all calls, with a
        gap of at most ``tol``, in whatever parts they came. Each call begins where the last one
        stopped, but a pass goes over all samples seen, and their codes stay in memory, one byte per
        value: pass as many samples at once as come at once.

        Parameters
        ----------
        X : ndarray or CSR of uint8, shape (n, d)
            Codes of ``levels``, for instance by `kmaps.Quantizer`.
        y, sample_weight : array-like, shape (n,)
            As in :meth:`fit`; every class must have a sample in the first call.
        classes : array-like, shape (K,), optional
            All labels, in ascending order; the first call needs them.

        Raises
        ------
        ConfigError
            Also for levels, a map, a penalty, a reduction or classes other than in the first call;
            and for a model that ``fit`` or a file made, which keeps no samples.
        InputError
            Also for a label that is not in ``classes``. A call that fails leaves out its samples.

        Examples
        --------
        >>> import numpy as np
        >>> from kmaps import CodedSVC, Quantizer
        >>> X = np.random.default_rng(0).random((300, 4))
        >>> y = np.where(X[:, 0] > X[:, 1], "left", "right")
        >>> quantizer = Quantizer(strategy="shared").fit(X)
        >>> codes, model = quantizer.transform(X), CodedSVC("chi2", levels=quantizer.levels_)
        >>> for block in (slice(0, 100), slice(100, 200), slice(200, 300)):
        ...     model = model.partial_fit(codes[block], y[block], classes=["left", "right"])
        >>> whole = CodedSVC("chi2", levels=quantizer.levels_).fit(codes, y)
        >>> bool(abs(model.objective_ / whole.objective_ - 1) < 1e-4)
        True
        """
        self._check_parameters()
        before = self._seen
        self._seen = seen = self._grown(before, X, y, classes, sample_weight)
        self.classes_, self.timings_ = seen.classes, {}
        try:
            training = self._coded(seen.codes)
            n = len(seen.labels)
            labels = Labels(np.arange(n), seen.labels, seen.weights, n)
            solutions, calibration = self._solved(training, labels, None)
        except BaseException:
            self._seen = before
            raise
        self._keep(training, solutions, seen.weights, calibration=calibration)
        return self

    def _grown(
        self,
        before: Seen | None,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> Seen:
        """Return the samples seen before and these, checked."""
        if before is None and "model_" in vars(self):
            raise ConfigError(
                "partial_fit: this model keeps no samples, because fit or a file made it; begin "
                "with a new one (sklearn.base.clone)"
            )
        with input_errors():
            X, y = validate_data(self, X, y, reset=before is None, **self._checks)
        all_labels = _checked_classes(classes, None if before is None else before.classes)
        if self.levels is None:
            raise ConfigError("levels=None: partial_fit expects the levels of the features")
        levels = check_levels(self.levels, X.shape[1])
        labels = _numbers_of(y, all_labels)
        weights = check_sample_weight(sample_weight, len(labels))
        fixed = tuple(getattr(self, name) for name in _FIXED)
        counts = np.flatnonzero(weights)
        codes, labels, weights = X[counts], labels[counts], weights[counts]
        if before is not None:
            if not np.array_equal(levels, before.levels):
                raise ConfigError(
                    "levels: differ from the first call of partial_fit, whose codes they would "
                    "change; begin with a new model (sklearn.base.clone)"
                )
            if fixed != before.fixed:
                raise ConfigError(
                    f"{', '.join(_FIXED)}: differ from the first call of partial_fit; begin with "
                    "a new model (sklearn.base.clone)"
                )
            return before.with_others(codes, labels, weights)
        absent = np.setdiff1d(np.arange(len(all_labels)), labels)
        if len(absent):
            raise InputError(
                f"class {all_labels[absent[0]]} has no sample of positive weight in the first call "
                "of partial_fit, which needs one of every class; pass more samples at once"
            )
        return Seen(codes, levels, all_labels, labels, weights, fixed)

    @property
    def score_names(self) -> list[str]:
        """The names of the columns of scores: of classes, or of pairs of them."""
        names = [str(label) for label in self.classes_]
        return [
            names[positive] if negative is None else f"{names[positive]} against {names[negative]}"
            for positive, negative in class_pairs(len(names), self.multiclass)
        ]

    def _own_arrays(self) -> dict[str, NDArray]:
        curves = self._probabilities
        return {"classes": self.classes_} | ({} if curves is None else curves.arrays)

    def add_to_graph(self, graph: Any, x: Any) -> None:
        """Add the outputs of the model to an ONNX graph."""
        self._add_outputs(graph, self._graph_scores(graph, x))

    def _take_own(self, file: ModelFile) -> int:
        self.classes_ = file.labels()
        self._probabilities = read_curves(file, self, self.classes_)
        return count_problems(len(self.classes_), self.multiclass)


def _checked_classes(classes: ArrayLike | None, earlier: NDArray | None) -> NDArray:
    """Return the labels of a stream: the known ones, or the labels of its first call."""
    if classes is None:
        if earlier is None:
            raise ConfigError(
                "classes=None: the first call of partial_fit needs the labels of all calls, in "
                "ascending order"
            )
        return earlier
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) < 2 or not (labels[1:] > labels[:-1]).all():
        raise ConfigError(
            f"classes={labels.tolist()}: expected two or more different labels in ascending order"
        )
    if earlier is not None and not np.array_equal(labels, earlier):
        raise ConfigError(
            f"classes={labels.tolist()}: the first call of partial_fit had {earlier.tolist()}; "
            "pass these, or none"
        )
    return labels


def _numbers_of(y: NDArray, classes: NDArray) -> Places:
    places = {label: k for k, label in enumerate(classes.tolist())}
    for label in y.tolist():
        if label not in places:
            raise InputError(f"label {label!r} is none of classes={classes.tolist()}")
    return np.array([places[label] for label in y.tolist()], np.intp)
