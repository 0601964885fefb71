"""Linear SVMs that drop groups of features as a whole (genrbf eq. 18).

A hinge loss is the largest of a·(1 - m) over the slopes 0 ≤ a ≤ C; the dual problem asks for the
slopes: to maximise their sum where no group of columns has a product with them longer than 1. Any
slopes, scaled until that holds, bound the objective from below; that bound says when to stop. The
hinge has a corner, at which descending group by group can stick. It is rounded around the slopes
found so far, then around those that this gives: the proximal point method on the dual, whose limit
is the hinge itself.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from kmaps._loops.groups import sweep
from kmaps.errors import ConfigError, suggest
from kmaps.svm.multiclass import ReducedClassifier, check_positive

LOSSES = ("hinge", "squared_hinge")

_ROUNDED = (
    2.0  # times C: the slope of the rounded hinge's slope, that is from 1/2 before the corner
)
_SWEEPS = 30  # at most, over the groups in use, before all are looked at again


class GroupLassoSVC(ReducedClassifier):
    r"""Linear SVM that keeps or drops groups of consecutive features.

    .. math::
        \min_w \; \sum_g \|w_g\| + C \sum_i \ell(y_i\, w^\top x_i), \qquad
        \ell(m) = \max(0, 1 - m) \text{ or its square}

    with the bias as one more group. For genrbf eq. 18 the groups are the pairs of a projection's
    cosine and sine, and the paper's C is N/2 times this one. Samples are dense.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the penalty.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Hinge is eq. 18 as printed; it takes several times longer.
    group_size : int, default=2
        Features of a group; the last one has fewer when it does not divide their number.
    multiclass : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one.
    bias : float, default=1.0
        Value of a constant feature whose weight makes the intercept, penalised like the others.
        0 for no intercept.
    tol : float, default=1e-3
        Stop when the objective is surely within this part of itself of the optimum.
    max_iter : int, default=500
        Rounds at most.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; in one-vs-rest only on the class's own side.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    coef_ : ndarray, shape (P, d), dtype of the training data
        P is 1 for two classes, K for one-vs-rest, K(K-1)/2 for one-vs-one.
    intercept_ : ndarray, shape (P,)
    gaps_ : ndarray, shape (P,)
        How far each objective may be from its optimum, as a part of it.
    n_iter_ : int
        Most rounds of a binary problem.
    n_features_in_ : int
    timings_ : dict
        Seconds: ``train_s``.
    model_bytes_ : int
        Bytes of ``coef_`` and ``intercept_``.

    Notes
    -----
    Rounds are many where C is so large that nearly all losses vanish: the fewer groups stay, the
    faster.

    References
    ----------
    Vempati, Vedaldi, Zisserman and Jawahar, Generalized RBF Feature Maps for Efficient Detection,
    BMVC 2010, eq. 18, which the paper leaves undone.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 8))
    >>> y = np.where(X[:, 2] + X[:, 3] > 0, "up", "down")
    >>> model = GroupLassoSVC(C=0.02).fit(X, y)
    >>> model.coef_.reshape(4, 2).any(axis=1)
    array([False,  True, False, False])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        group_size: int = 2,
        multiclass: str = "ovr",
        bias: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 500,
        class_weight: dict | str | None = None,
    ):
        self.C = C
        self.loss = loss
        self.group_size = group_size
        self.multiclass = multiclass
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    @property
    def _checks(self) -> dict[str, Any]:
        return {"dtype": [np.float64, np.float32], "order": "F"}

    def fit(self, X: ArrayLike, y: ArrayLike) -> "GroupLassoSVC":
        """Train one binary model for each problem of the reduction.

        Parameters
        ----------
        X : ndarray of float32 or float64, shape (n, d)
            Other types are converted to float64; copied unless the columns are contiguous.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.

        Returns
        -------
        self

        Raises
        ------
        ConfigError
            For a parameter out of range.
        InputError
            For NaN, infinity, a wrong shape, or labels of one class.

        Warns
        -----
        ConvergenceWarning
            When ``max_iter`` rounds leave a larger gap than ``tol``.
        """
        self._check_parameters()
        X, codes = self._check_training(X, y)
        self.timings_ = {}
        fitted = self._timed("train_s", self._train, X.T, codes)
        weights = np.array([one.weights for one in fitted])
        self.coef_ = weights[:, : X.shape[1]].astype(X.dtype)
        self.intercept_ = (weights[:, X.shape[1] :].sum(axis=1) * self.bias).astype(X.dtype)
        self.gaps_ = np.array([one.gap for one in fitted])
        self.n_iter_ = max(one.n_rounds for one in fitted)
        self.model_bytes_ = self.coef_.nbytes + self.intercept_.nbytes
        if self.gaps_.max() > self.tol:
            warnings.warn(
                f"the objective may be {self.gaps_.max():.2g} of itself from the optimum after "
                f"{self.max_iter} rounds, more than tol={self.tol:g}: raise max_iter or tol, or "
                "lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_parameters(self) -> None:
        check_positive(C=self.C, tol=self.tol)
        if self.loss not in LOSSES:
            hint = suggest(str(self.loss), LOSSES)
            raise ConfigError(f"loss={self.loss!r}: expected one of {LOSSES}{hint}")
        if not isinstance(self.bias, Real) or not 0 <= self.bias < np.inf:
            raise ConfigError(f"bias={self.bias!r}: expected a finite number >= 0, 0 for none")
        for name in ("group_size", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ConfigError(f"{name}={value!r}: expected a whole number from 1 on")

    def _train(self, columns: NDArray, codes: NDArray[np.intp]) -> list["_Fit"]:
        fitted = []
        for problem in self._problems(codes):
            own = columns if len(problem.rows) == columns.shape[1] else columns[:, problem.rows]
            costs = self.C * np.where(problem.signs > 0, *problem.weights)
            task = _Problem(own, self.group_size, self.bias, problem.signs, costs, self.loss)
            fitted.append(task.solve(self.tol, self.max_iter))
        return fitted

    def _scores(self, X: Any) -> NDArray:
        return X @ self.coef_.T + self.intercept_


@dataclass(frozen=True)
class _Fit:
    weights: NDArray[np.float64]  # (d,), or (d + 1,) with that of the bias last
    gap: float
    n_rounds: int


class _Problem:
    """A problem of two classes: the samples' columns, and what each sample's loss is."""

    def __init__(
        self, columns: NDArray, size: int, bias: float, signs: NDArray, costs: NDArray, loss: str
    ):
        self.columns, self.size, self.signs, self.costs = columns, size, signs, costs
        self.squared = loss == "squared_hinge"
        self.constant = np.full((1, len(signs)), bias, columns.dtype) if bias > 0 else None
        self.weights = np.zeros(len(columns))
        self.offset = np.zeros(int(bias > 0))
        self.margins, self.centre = np.zeros((2, len(signs)))
        self.steep = (2 if self.squared else _ROUNDED) * costs
        self.cap = np.full(len(signs), np.inf) if self.squared else costs

    def solve(self, tol: float, max_iter: int) -> _Fit:
        """Descend until the gap is closed, on the groups in use and those that want to be."""
        for n_rounds in range(1, max_iter + 1):
            slopes = self._slopes()
            lengths = self._lengths(slopes)
            gap = self._gap(slopes, lengths)
            if gap <= tol:
                break
            if not self.squared and n_rounds > 1:
                self.centre = slopes
            used = _lengths(self.weights, self.size) > 0
            self._descend(np.flatnonzero(used | (lengths[: len(used)] > 1)))
        return _Fit(np.r_[self.weights, self.offset], gap, n_rounds)

    def _descend(self, groups: NDArray[np.intp]) -> None:
        """Sweep over some groups until a sweep gains a tenth of what the first one did."""
        losses = self.centre, self.steep, self.cap
        first = 0.0
        for _ in range(_SWEEPS):
            gained = sweep(
                self.columns, groups, self.size, self.signs, self.weights, self.margins, *losses
            )
            if self.constant is not None:
                alone = np.zeros(1, np.intp), 1, self.signs, self.offset, self.margins
                gained += sweep(self.constant, *alone, *losses)
            first = max(first, gained)
            if gained <= 0.1 * first:
                break

    def _slopes(self) -> NDArray:
        return np.clip(self.centre + self.steep * (1 - self.margins), 0, self.cap)

    def _lengths(self, slopes: NDArray) -> NDArray:
        """Return the length of each group's product with the slopes, that of the bias last."""
        signed = (slopes * self.signs).astype(self.columns.dtype)
        lengths = _lengths(self.columns @ signed, self.size)
        if self.constant is None:
            return lengths
        return np.r_[lengths, np.abs(self.constant @ signed)]

    def _gap(self, slopes: NDArray, lengths: NDArray) -> float:
        """Return how far the objective may be from its optimum, as a part of it."""
        short = np.maximum(0, 1 - self.margins)
        penalty = _lengths(self.weights, self.size).sum() + np.abs(self.offset).sum()
        objective = penalty + self.costs @ (short**2 if self.squared else short)
        scale, total = 1 / max(lengths.max(), 1), slopes.sum()
        square = (slopes**2 / (4 * self.costs)).sum() if self.squared else 0.0
        if square:
            scale = min(scale, total / (2 * square))
        return (objective - scale * total + scale**2 * square) / objective


def _lengths(values: NDArray, size: int) -> NDArray[np.float64]:
    """Return the Euclidean length of each ``size`` consecutive values."""
    return np.sqrt(np.add.reduceat(values.astype(float) ** 2, np.arange(0, len(values), size)))
