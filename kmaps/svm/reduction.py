"""From two classes to many: one reduction shared by every learner.

K classes become P binary problems, in a fixed order, and P columns of scores become one decision
(one-vs-rest: P = K, one-vs-one: P = K(K-1)/2; two classes are one problem either way). A learner
fits one problem and scores rows; everything else is here. Nothing is imported that takes seconds:
`kmaps.load_predictor` needs it too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.errors import InputError
from kmaps.svm.parameters import method_of

if TYPE_CHECKING:
    from kmaps.svm.model_file import ModelFile

BLOCK_VALUES = 2**22  # float64 values in one block of scores: 32 MB
Places = NDArray[np.intp]  # numbers of samples, of classes


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels, weights and places of the samples that count."""

    places: Places  # (n,): their numbers among all samples, ascending
    codes: Places  # (n,): the class of each, 0 to K-1
    weights: NDArray[np.float64]  # (n,): how much each counts, above 0
    total: int  # the number of samples, including those without weight


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One two-class problem out of a multi-class one."""

    positive: int  # the code of the class on this side
    negative: int | None  # None: all other classes
    rows: Places  # the training rows that take part, ascending
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

    support: Places  # training rows, ascending
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
    """Return how many binary problems there are, the length of :func:`class_pairs`.

    Parameters
    ----------
    n_classes : int
        Number of classes K, ≥ 2.
    reduction : {"ovr", "ovo"}
        One-vs-rest or one-vs-one.

    Returns
    -------
    int
        1 for two classes; else K for one-vs-rest and K (K - 1) / 2 for one-vs-one.
    """
    if reduction == "ovr" and n_classes > 2:
        return n_classes
    return n_classes * (n_classes - 1) // 2


def binary_problems(
    codes: Places, reduction: str, class_weights: NDArray[np.float64], weights: NDArray[np.float64]
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
    scores = scores.astype(np.float64, copy=False)
    won = np.where(scores > 0, 1.0, 0.0)
    # A matrix of pairs and classes would have half a cube of values, and the last bits of BLAS's
    # product with it would depend on threads.
    votes = []
    sums = []
    start = 0
    earlier = np.zeros(0, np.int64)  # the places of a class's pairs with earlier classes
    for n_later in range(n_classes - 1, -1, -1):
        later = slice(start, start + n_later)
        lost = won[:, later].sum(axis=1)  # to later classes
        votes.append(n_later - lost + won.take(earlier, axis=1).sum(axis=1))
        sums.append(scores.take(earlier, axis=1).sum(axis=1) - scores[:, later].sum(axis=1))
        earlier = np.append(earlier + 1, start)
        start += n_later
    total = np.stack(sums, axis=1)
    return np.stack(votes, axis=1) + total / (3 * (np.abs(total) + 1))


def winners(decision: NDArray) -> Places:
    """Return the number of the class of each row of a decision function, (n,) or (n, K).

    Parameters
    ----------
    decision : ndarray, shape (n,) or (n, K)
        Scores as `decision_function` returns them: one column for two classes, which is positive
        for the second; else one for each class, of which the largest wins.

    Returns
    -------
    ndarray of intp, shape (n,)
        Numbers of classes from 0 on, indices into ``classes_``.
    """
    if decision.ndim == 2:
        return decision.argmax(axis=1)
    return (decision > 0).astype(np.intp)


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return the weights of n samples as a new array; None: all count once."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.array(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight: expected one number per sample") from None
    if weights.shape != (n,):
        raise InputError(
            f"sample_weight of shape {weights.shape}: expected ({n},), one number per sample"
        )
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(
            f"sample_weight[{bad[0]}]={weights[bad[0]]:g}: expected finite weights of at least 0"
        )
    if not weights.any():
        raise InputError("sample_weight: all weights are zero, expected at least one above zero")
    return weights


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The curves that turn scores into probabilities, one for each column of scores."""

    bounds: NDArray[np.int64]  # (columns + 1,): column k has ``bounds[k] : bounds[k + 1]`` of x, p
    # (m,). Isotonic: the curve is straight between the points (x, p), and flat outside. Otherwise
    # one number per column, and z = x s + p at the score s: sigmoid: 1 / (1 + exp(-z)) is the
    # probability; temperature: the softmax of all z, with equal x and without p.
    x: NDArray[np.float64]
    p: NDArray[np.float64]
    method: str

    def of(self, scores: NDArray) -> NDArray[np.float64]:
        """Return the probabilities (n, K) at scores; rows sum to one."""
        columns = scores.reshape(len(scores), -1)
        if self.method == "temperature" and scores.ndim == 2:
            return _softmax(self.x * columns)
        probabilities = np.empty(columns.shape)
        for k in range(columns.shape[1]):
            own = slice(self.bounds[k], self.bounds[k + 1])
            if self.method != "isotonic":
                probabilities[:, k] = _sigmoid(self.x[own] * columns[:, k] + self.p[own])
            else:
                probabilities[:, k] = np.interp(columns[:, k], self.x[own], self.p[own])
        if scores.ndim == 1:
            return np.column_stack([1 - probabilities[:, 0], probabilities[:, 0]])
        total = probabilities.sum(axis=1, keepdims=True)
        none = total == 0  # rows that no class wants, in double precision
        rest = np.full_like(probabilities, 1 / probabilities.shape[1])
        if self.method == "sigmoid" and none.any():
            rest = _softmax(_log_sigmoid(self.x * columns + self.p))
        return np.divide(probabilities, total, out=rest, where=~none)

    @property
    def arrays(self) -> dict[str, NDArray]:
        """The arrays for a file."""
        return {f"probability_{name}": getattr(self, name) for name in ("bounds", "x", "p")}

    @classmethod
    def from_file(cls, file: "ModelFile", n_columns: int, method: str) -> "Probabilities":
        """Return the curves in a file, checked."""
        x = file.array("probability_x", np.float64, (None,))
        p = file.array("probability_p", np.float64, (len(x),))
        bounds = file.array("probability_bounds", np.int64, (n_columns + 1,), 0, len(x))
        if bounds[0] != 0 or bounds[-1] != len(x) or (np.diff(bounds) < 1).any():
            raise file.damaged("probability_bounds do not cut probability_x into columns")
        if method != "isotonic" and len(x) != n_columns:
            raise file.damaged(f"probability_x has {len(x)} values, a {method} has one per column")
        return cls(bounds, x, p, method)


def read_curves(file: "ModelFile", given: Any, classes: NDArray) -> Probabilities | None:
    """Return the curves of probabilities in a file, if its model has some."""
    if given.probability is None:
        return None
    n_columns = len(classes) if len(classes) > 2 else 1
    return Probabilities.from_file(file, n_columns, method_of(given))


def _sigmoid(z: NDArray) -> NDArray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def _log_sigmoid(z: NDArray) -> NDArray:
    return np.minimum(z, 0) - np.log1p(np.exp(-np.abs(z)))


def _softmax(z: NDArray) -> NDArray:
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
