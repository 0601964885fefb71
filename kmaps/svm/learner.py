"""The base of all learners: checks of samples and parameters, and rows to train on."""

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_choice, check_room
from kmaps.errors import ConfigError, InputError, KmapsError
from kmaps.estimators import BaseEstimator, ClassifierMixin
from kmaps.matrices import row_blocks
from kmaps.progress import ProgressReporter
from kmaps.svm import reduction
from kmaps.svm.losses import Floats
from kmaps.svm.parameters import REDUCTIONS
from kmaps.validation import validate_data

_SHOWN_LABELS = 5  # in a message
_FEWEST_ROWS = 64  # scored at once: each block makes the tables of very many problems again


class BlockSource(Protocol):
    """Samples that may be larger than memory, such as `kmaps.io.LabelledRows`."""

    def blocks(self) -> Iterable[Any]:
        """Return all samples from the first on, as blocks of rows, dense or CSR.

        May be called more than once. A block may be overwritten by the next one.
        """

    def sample(self) -> Any:
        """Return some of the rows, drawn at random, for a map that learns from data."""


@runtime_checkable
class NamedColumns(Protocol):
    """Samples whose columns may have names."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The names, or None."""


class LabelledSource(BlockSource, Protocol):
    """Samples that may be larger than memory, with a label for each."""

    def labels(self) -> NDArray:
        """Return the labels, once all samples were read."""


class PreparedRows(Protocol):
    """Samples in the form in which a learner trains on them."""

    @property
    def n_features(self) -> int:
        """Number of features of the samples, before they took this form."""

    def __len__(self) -> int: ...

    def take(self, members: reduction.Places) -> "PreparedRows":
        """Return some of the samples; their arrays are not copied.

        Parameters
        ----------
        members : ndarray of intp, shape (m,)
            Numbers of the samples, from 0 on.

        Returns
        -------
        PreparedRows
            The m samples, in the order of ``members``.
        """


def taken(X: Any, members: reduction.Places) -> Any:
    """Return some of the samples of an array, a CSR matrix or prepared rows."""
    return X[members] if isinstance(X, np.ndarray) or issparse(X) else X.take(members)


class Learner(BaseEstimator):
    """An estimator that is trained with a loss, weighted by ``C``."""

    C: float
    penalty: str = "l2"
    loss: str
    bias: float
    verbose: int = 0
    timings_: dict[str, float]
    predict: Any

    tol: Any  # a number; for LIBLINEAR also None, like max_iter
    max_iter: Any

    _problem_name = "binary problems"

    @property
    def _checks(self) -> dict[str, Any]:
        """Arguments of scikit-learn's ``validate_data``."""
        return {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._checks.get("accept_sparse"))
        return tags

    def _timed(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and write its seconds down in ``timings_``."""
        started = perf_counter()
        result = function(*arguments)
        self.timings_[name] = perf_counter() - started
        return result

    def to_onnx(
        self, path: str | Path | None = None, *, dtype: str = "float32", force: bool = False
    ) -> Any:
        """Return the fitted model as an ONNX model, as `kmaps.to_onnx` does."""
        from kmaps.onnx_graph import export

        return export([self], path, dtype=dtype, force=force)

    def _normalized(self, X: Any) -> Any:
        """Return validated samples as the model was trained on them."""
        normalization = vars(self).get("normalization_")
        return X if normalization is None else normalization.of(X)

    def _progress(self, total: int = 0) -> ProgressReporter:
        """Return a printer of a training's progress, for so many problems, if it is ``verbose``."""
        progress = ProgressReporter(
            type(self).__name__ if self.verbose else "", total, self.tol or 0.0
        )
        if total:
            progress.print_line(f"{total:,} {self._problem_name}")
        return progress

    def c_binds(self) -> bool:
        """Return whether C may bound a coefficient of the fitted model.

        If not, every larger C gives the same model. A learner that cannot tell says that it may.

        Returns
        -------
        bool
            True where the learner does not know.
        """
        return True

    def _passes(self) -> str:
        """Return the name of the unit that ``max_iter`` counts."""
        return "passes"

    def _easier(self) -> str:
        """Return the advice that makes the problems easier to solve."""
        return f"lower C (now {self.C:g})"

    def _warn_of_gaps(
        self, gaps: Floats, stacklevel: int, which: str = "", passes: NDArray | None = None
    ) -> None:
        """Warn in one line of problems that missed ``tol``, after so many ``passes``, if known."""
        missed = gaps > self.tol
        if not missed.any():
            return
        problems = f"{int(missed.sum())} of {len(gaps)} {self._problem_name}{which}"
        gap = f"the relative duality gap is still {gaps.max():.1e}"
        if passes is None or (passes[missed] >= self.max_iter).any():
            message = (
                f"{gap} after max_iter={self.max_iter} {self._passes()}, above tol={self.tol:g}, "
                f"in {problems}: {self._easier()}, or raise max_iter or tol"
            )
        else:
            message = (
                f"{gap}, above tol={self.tol:g}, in {problems}, and single precision lets it fall "
                f"no further: {self._easier()}, or raise tol"
            )
        warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn scikit-learn's complaints about an array into one-line :class:`InputError`."""
    try:
        yield
    except KmapsError:
        raise
    except ValueError as error:
        first, *rest = [line.strip() for line in str(error).splitlines() if line.strip()]
        # Which names differ is below; of most others, only general advice is.
        is_of_names = "names" in first
        hint = [line for line in rest if is_of_names or line.startswith("Reshape your data")]
        raise InputError(" ".join([first, *hint])) from None


def class_factors(
    class_weight: Any, classes: NDArray, codes: reduction.Places, weights: Floats
) -> Floats:
    """Return the factor on C of each of K classes.

    "balanced" makes all classes count the same: the sum of all weights over K times the sum of the
    class's weights. Labels of a dict are looked up as they are: "1" is not 1. A label that is no
    class, where a class has no factor, and a factor that is not positive and finite raise
    ConfigError.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weights.sum() / (len(classes) * np.bincount(codes, weights, len(classes)))
    factors = np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes.tolist()]
        missing = [label for label in classes.tolist() if label not in class_weight]
        if unknown and missing:
            raise ConfigError(
                f"class_weight={class_weight!r}: has {_few(unknown)}, but the classes are "
                f"{_few(classes.tolist())}; give the labels as they are in y"
            )
        factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    elif class_weight is not None:
        raise ConfigError(
            f"class_weight={class_weight!r}: expected a factor for each class, 'balanced' or None"
        )
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ConfigError(f"class_weight={class_weight!r}: expected positive, finite factors on C")
    return factors


def _few(labels: list[Any]) -> str:
    """Return the first labels as Python writes them, which shows what is text."""
    shown = [repr(label) for label in labels[:_SHOWN_LABELS]]
    return ", ".join(shown + ["…"] * (len(labels) > _SHOWN_LABELS))


class ReducedClassifier(ClassifierMixin, Learner, metaclass=ABCMeta):
    """A classifier made of binary ones.

    A learner stores ``multiclass`` and ``class_weight``, calls :meth:`_check_training` and
    :meth:`_problems` in ``fit``, and scores rows in :meth:`_scores`.
    """

    multiclass: str
    class_weight: Any
    intercept_: NDArray

    @abstractmethod
    def _scores(self, X: Any) -> NDArray:
        """Return the scores of validated rows, shape (n, P)."""

    def _score_width(self) -> int:
        """Return how many values one row needs while it is scored."""
        return len(self.intercept_)

    def decision_function(self, X: ArrayLike) -> NDArray:
        """Score rows (n, d), dense or CSR, block by block, as :func:`combine_scores` says.

        NaN, infinity or another number of features than in ``fit`` raise InputError.
        """
        check_is_fitted(self)
        with input_errors():
            X = validate_data(self, X, reset=False, **self._checks)
        X = self._normalized(X)
        block = max(_FEWEST_ROWS, reduction.BLOCK_VALUES // self._score_width())
        parts = [
            reduction.combine_scores(self._scores(rows), len(self.classes_), self.multiclass)
            for rows in row_blocks(X, block)
        ]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each row, from :meth:`decision_function`."""
        numbers = reduction.winners(self.decision_function(X))
        return self.classes_[numbers]

    def _check_training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, reduction.Labels]:
        """Validate training data, learn ``classes_``; return the rows and their labels."""
        with input_errors():
            X, y = validate_data(self, X, y, **self._checks)
        vars(self).pop("normalization_", None)  # of a file: here samples are taken as they are
        return X, self._check_labels(y, sample_weight)

    def _check_prepared(
        self, rows: PreparedRows, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> reduction.Labels:
        """Check the labels of rows that were prepared beforehand, as `_check_training` does."""
        y = np.asarray(y)
        if y.shape != (len(rows),):
            raise InputError(f"labels of shape {y.shape} for {len(rows)} rows: need one per row")
        self.n_features_in_ = rows.n_features
        for name in ("feature_names_in_", "normalization_"):  # of a fit before
            vars(self).pop(name, None)
        return self._check_labels(y, sample_weight)

    def _check_labels(self, y: NDArray, sample_weight: ArrayLike | None) -> reduction.Labels:
        check_choice("multiclass", self.multiclass, REDUCTIONS)
        with input_errors():
            try:
                check_classification_targets(y)
            except ValueError:
                if type_of_target(y) not in ("continuous", "continuous-multioutput"):
                    raise
                raise InputError(
                    "y holds numbers with fractions, which are no classes (unknown label type: "
                    "continuous): CodedSVR and CodedRidge predict numbers; round y, or turn it "
                    "into text, if each number is a class"
                ) from None
        self.classes_, codes = np.unique(y, return_inverse=True)
        refuse_one_class(self.classes_)
        weights = reduction.check_sample_weight(sample_weight, len(codes))
        empty = np.flatnonzero(np.bincount(codes, weights) == 0)
        if len(empty):
            raise InputError(
                f"sample_weight: the weights of class {self.classes_[empty[0]]} are all zero: "
                "leave its samples out, or give one of them a weight"
            )
        places = np.flatnonzero(weights)
        return reduction.Labels(places, codes[places], weights[places], len(codes))

    def _problems(
        self, labels: reduction.Labels, n_weights: int = 0
    ) -> Iterator[reduction.BinaryProblem]:
        """Yield the binary problems, if there is room for all of them, with so many weights."""
        n, K = len(labels.codes), len(self.classes_)
        total = reduction.count_problems(K, self.multiclass)
        rows_bytes = 8 * n * total if self.multiclass == "ovr" else 24 * n * (K - 1)
        needed = rows_bytes + 8 * n_weights * total
        other = "" if self.multiclass == "ovr" else ", or multiclass='ovr'"
        check_room(
            f"{total:,} binary problems of {n:,} rows, with {n_weights:,} weights each, take",
            needed,
            lambda free: f"about {total * free // needed:,} fit: use fewer classes or rows{other}",
        )
        with input_errors():
            factors = class_factors(self.class_weight, self.classes_, labels.codes, labels.weights)
        return reduction.binary_problems(labels.codes, self.multiclass, factors, labels.weights)


def refuse_one_class(classes: NDArray) -> None:
    """Refuse labels of one class (InputError)."""
    if len(classes) < 2:
        raise InputError(
            f"y has one class only ({classes[0]}): a classifier needs at least two classes, check "
            "the label column"
        )


def counting(X: Any, labels: reduction.Labels) -> Any:
    """Return the samples that count, out of all."""
    return X if len(labels.places) == labels.total else taken(X, labels.places)
