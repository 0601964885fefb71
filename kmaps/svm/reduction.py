"""From two classes to many: one reduction shared by every learner.

K classes become P binary problems, in a fixed order, and P columns of scores become one decision
(one-vs-rest: P = K, one-vs-one: P = K(K-1)/2; two classes are one problem either way). A learner
fits one problem and scores rows; everything else is here.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kmaps.checks import check_choice
from kmaps.errors import ConfigError, InputError
from kmaps.estimators import ClassifierMixin
from kmaps.samples import as_numpy, integers_like, namespace, row_blocks, validate_data, whole
from kmaps.svm.learner import Learner, PreparedRows, input_errors, taken

REDUCTIONS = ("ovr", "ovo")
_BLOCK_VALUES = 2**22  # float64 values in one block of scores: 32 MB


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known of the samples that count, besides their features."""

    places: NDArray[np.intp]  # (n,): which of all samples they are, ascending
    codes: NDArray[np.intp]  # (n,): the class of each, 0 to K-1
    weights: NDArray[np.float64]  # (n,): how much each counts, above 0
    total: int  # how many samples there are, those that do not count among them


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One two-class problem out of a multi-class one."""

    positive: int  # the code of the class on this side
    negative: int | None  # None: of all other classes
    rows: NDArray[np.intp]  # which training rows take part, ascending
    signs: NDArray[np.float64]  # +1 for the rows of ``positive`` and -1 for the others
    factors: NDArray[np.float64]  # the factor on C of each of the rows

    @property
    def side_factors(self) -> tuple[float, float] | None:
        """The factors of the +1 and of the -1 rows, if all rows of a side have the same."""
        sides = self.factors[self.signs > 0], self.factors[self.signs < 0]
        if any(side.min() < side.max() for side in sides):
            return None
        return float(sides[0][0]), float(sides[1][0])


class SupportVectors(NamedTuple):
    """One binary problem of a kernel SVM, solved: Σ c_i K(x_i, x) + b."""

    support: NDArray[np.intp]  # training rows, ascending
    dual: NDArray[np.float64]  # the coefficient c_i of each
    intercept: float
    steps: int
    gap: float | None = None  # the relative duality gap


def class_pairs(n_classes: int, reduction: str) -> list[tuple[int, int | None]]:
    """Return the (positive, negative) classes of each binary problem, in column order.

    One-vs-one pairs go (0, 1), (0, 2), ..., (1, 2), ... as in LIBSVM, with the *later* class as
    the positive one, so that two classes follow scikit-learn's convention with no special case.
    """
    if reduction == "ovr" and n_classes > 2:
        return [(k, None) for k in range(n_classes)]
    return [(j, i) for i in range(n_classes) for j in range(i + 1, n_classes)]


def count_problems(n_classes: int, reduction: str) -> int:
    """Return how many binary problems there are, the length of :func:`class_pairs`."""
    if reduction == "ovr" and n_classes > 2:
        return n_classes
    return n_classes * (n_classes - 1) // 2


def binary_problems(
    codes: NDArray[np.intp],
    reduction: str,
    class_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Iterator[BinaryProblem]:
    """Yield the binary problems one at a time, in the order of :func:`class_pairs`.

    As in LIBLINEAR, a class weight (K,) multiplies C on the positive side of a one-vs-rest problem
    only; a pair has one weight on each side. The weights of the rows (n,) multiply C in all.
    """
    everything = np.arange(len(codes))
    members = [np.flatnonzero(codes == k) for k in range(len(class_weights))]
    for positive, negative in class_pairs(len(class_weights), reduction):
        if negative is None:
            rows, other_weight = everything, 1.0
        else:
            rows = np.sort(np.concatenate([members[negative], members[positive]]))
            other_weight = float(class_weights[negative])
        signs = np.where(codes[rows] == positive, 1.0, -1.0)
        if negative is None and class_weights[positive] == 1:
            factors = weights  # shared: an array for each class would be many
        else:
            factors = np.where(signs > 0, class_weights[positive], other_weight) * weights[rows]
        yield BinaryProblem(positive, negative, rows, signs, factors)


def combine_scores(scores: NDArray, n_classes: int, reduction: str) -> NDArray:
    """Turn the scores (n, P) of the binary problems into scikit-learn's decision function.

    One-vs-one counts votes (a score above 0 is a vote for the positive class) and adds the sum s of
    the class's signed scores, squeezed to s / (3 (|s| + 1)): it breaks ties and never outweighs
    a vote. The result has shape (n,) for two classes, positive for the second; else (n, K), and the
    largest wins.
    """
    if n_classes == 2:
        return scores[:, 0]
    if reduction == "ovr":
        return scores
    xp = namespace(scores)
    if isinstance(scores, np.ndarray):
        scores = scores.astype(np.float64, copy=False)
    won = xp.where(scores > 0, xp.ones_like(scores), xp.zeros_like(scores))
    # Not by a matrix of pairs and classes, which has half a cube of values; and BLAS would multiply
    # it with last bits that depend on its threads.
    votes, sums, start = [], [], 0
    with_earlier = np.zeros(0, np.int64)  # where a class's pairs with the earlier ones are
    for n_later in range(n_classes - 1, -1, -1):
        later, earlier = slice(start, start + n_later), integers_like(scores, with_earlier)
        taken = xp.take(won, earlier, axis=1), xp.take(scores, earlier, axis=1)
        votes.append(n_later - xp.sum(won[:, later], axis=1) + xp.sum(taken[0], axis=1))
        sums.append(xp.sum(taken[1], axis=1) - xp.sum(scores[:, later], axis=1))
        with_earlier, start = np.append(with_earlier + 1, start), start + n_later
    total = xp.stack(sums, axis=1)
    return xp.stack(votes, axis=1) + total / (3 * (xp.abs(total) + 1))


def winners(decision: NDArray) -> NDArray[np.intp]:
    """Return the number of the class of each row of a decision function, (n,) or (n, K)."""
    if decision.ndim == 2:
        return namespace(decision).argmax(decision, axis=1)
    return whole(decision > 0)


def labels_of(classes: NDArray, chosen: Any) -> Any:
    """Return the labels of numbers of classes: numbers in their library, texts in NumPy's."""
    if isinstance(chosen, np.ndarray) or classes.dtype.kind not in "biuf":
        return classes[as_numpy(chosen)]
    xp = namespace(chosen)
    return xp.take(xp.asarray(np.array(classes), device=chosen.device), chosen, axis=0)


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return the weights of n samples as a new array; None: all count once."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.array(as_numpy(sample_weight), np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight: expected numbers, one for each sample") from None
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight of shape {weights.shape}: expected ({n},), one number for each sample"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(
            f"sample_weight[{bad[0]}]={weights[bad[0]]:g}: expected finite weights of at least 0"
        )
    if not weights.any():
        raise InputError("sample_weight: all weights are zero, expected at least one above zero")
    return weights


def class_factors(
    class_weight: Any, classes: NDArray, codes: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factor on C of each of K classes.

    "balanced" makes all classes count the same: the sum of all weights over K times the sum of the
    class's weights. A factor that is not positive and finite raises ConfigError; other mistakes
    raise scikit-learn's ValueError.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weights.sum() / (len(classes) * np.bincount(codes, weights, len(classes)))
    factors = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ConfigError(f"class_weight={class_weight!r}: expected positive, finite factors on C")
    return factors


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
            X = validate_data(self, X, reset=False, dispatch=self._dispatches, **self._checks)
        block = max(1, _BLOCK_VALUES // self._score_width())
        parts = [
            combine_scores(self._scores(rows), len(self.classes_), self.multiclass)
            for rows in row_blocks(X, block)
        ]
        return namespace(parts[0]).concat(parts) if len(parts) > 1 else parts[0]

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the class of each row, from :meth:`decision_function`."""
        chosen = winners(self.decision_function(X))
        return labels_of(self.classes_, chosen)

    def _check_training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, Labels]:
        """Validate training data, learn ``classes_``; return the rows and what they are."""
        with input_errors():
            X, y = validate_data(self, X, y, **self._checks)
        return X, self._check_labels(y, sample_weight)

    def _check_prepared(
        self, rows: PreparedRows, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Labels:
        """Check the labels of rows that were prepared beforehand, as `_check_training` does."""
        y = np.asarray(y)
        if y.shape != (len(rows),):
            raise InputError(f"labels of shape {y.shape} for {len(rows)} rows, expected one each")
        self.n_features_in_ = rows.n_features
        return self._check_labels(y, sample_weight)

    def _check_labels(self, y: NDArray, sample_weight: ArrayLike | None) -> Labels:
        check_choice("multiclass", self.multiclass, REDUCTIONS)
        with input_errors():
            check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y has one class only ({self.classes_[0]}): a classifier needs at least two "
                "classes, check the label column"
            )
        weights = check_sample_weight(sample_weight, len(codes))
        empty = np.flatnonzero(np.bincount(codes, weights) == 0)
        if len(empty):
            raise InputError(
                f"sample_weight: the weights of class {self.classes_[empty[0]]} are all zero: "
                "leave its samples out, or give one of them a weight"
            )
        places = np.flatnonzero(weights)
        return Labels(places, codes[places], weights[places], len(codes))

    def _problems(self, labels: Labels) -> Iterator[BinaryProblem]:
        with input_errors():
            factors = class_factors(self.class_weight, self.classes_, labels.codes, labels.weights)
        return binary_problems(labels.codes, self.multiclass, factors, labels.weights)


def counting(X: Any, labels: Labels) -> Any:
    """Return the samples that count, out of all."""
    return X if len(labels.places) == labels.total else taken(X, labels.places)
