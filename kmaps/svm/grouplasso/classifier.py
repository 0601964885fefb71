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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from kmaps.checks import check_positive, check_whole
from kmaps.svm.grouplasso.steps import Losses, WorkingGroups, group_lengths
from kmaps.svm.losses import HINGES
from kmaps.svm.reduction import Labels, LinearClassifier, counting

_ROUNDED = 2.0  # times C: the steepness of the rounded hinge's slope, from 1/2 before the corner
_FEWEST = 50  # groups that may be added at a time, however few are in use


class GroupLassoSVC(LinearClassifier):
    r"""Linear SVM that keeps or drops groups of consecutive features.

    .. math::
        \min_w \; \sum_g \|w_g\| + C \sum_i \ell(y_i\, w^\top x_i), \qquad
        \ell(m) = \max(0, 1 - m) \text{ or its square}

    with the bias as one more group. For genrbf eq. 18 the groups are the pairs of a frequency's
    cosine and sine, and the paper's C is N/2 times this one. Samples are dense.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the penalty.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Hinge is eq. 18 as printed.
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
    duality_gap_ : ndarray, shape (P,)
        The relative duality gap: how far each objective may be from its optimum, as a part of it.
    n_iter_ : int
        Most rounds of a binary problem.
    n_features_in_ : int
    timings_ : dict
        Seconds: ``train_s``.
    model_bytes_ : int
        Bytes of ``coef_`` and ``intercept_``.

    Notes
    -----
    The time goes with the cube of the features that stay, hardly with those that go. Their columns
    are copied, and their Gram matrix is held. The larger C, the more features stay; rounds are many
    where nearly all losses vanish.

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

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "GroupLassoSVC":
        """Train one binary model for each problem of the reduction.

        Parameters
        ----------
        X : ndarray of float32 or float64, shape (n, d)
            Other types are converted to float64; copied unless the columns are contiguous.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.
        sample_weight : array-like, shape (n,), optional
            Factor on C for each sample, ≥ 0: a weight of 2 is the sample twice, 0 leaves it out.

        Returns
        -------
        self

        Raises
        ------
        ConfigError
            For a parameter out of range.
        InputError
            For NaN, infinity, a wrong shape, labels of one class, weights that are negative, or
            all zero in a class.

        Warns
        -----
        ConvergenceWarning
            When ``max_iter`` rounds leave a larger gap than ``tol``.
        """
        self._check_parameters()
        X, labels = self._check_training(X, y, sample_weight)
        X = np.asfortranarray(counting(X, labels))
        self.timings_: dict[str, float] = {}
        # One thread, as LIBLINEAR has: times compare, and no digit depends on how many there are.
        with threadpool_limits(1, user_api="blas"):
            fitted = self._timed("train_s", self._train, X.T, labels)
        self._set_weights(np.array([one.weights for one in fitted]), X)
        self.duality_gap_ = np.array([one.gap for one in fitted])
        self.n_iter_ = max(one.n_rounds for one in fitted)
        if self.duality_gap_.max() > self.tol:
            warnings.warn(
                f"the relative duality gap is still {self.duality_gap_.max():.1e} after "
                f"max_iter={self.max_iter} rounds, above tol={self.tol:g}: raise max_iter or tol, "
                "or lower C",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _check_parameters(self) -> None:
        self._check_loss(HINGES)
        check_positive("tol", self.tol)
        check_whole("group_size", self.group_size, 1)
        check_whole("max_iter", self.max_iter, 1)

    def _train(self, columns: NDArray, labels: Labels) -> list["_Fit"]:
        fitted = []
        for problem in self._problems(labels):
            own = columns if len(problem.rows) == columns.shape[1] else columns[:, problem.rows]
            costs = self.C * problem.factors
            task = _Problem(own, self.group_size, self.bias, problem.signs, costs, self.loss)
            fitted.append(task.solve(self.tol, self.max_iter))
        return fitted


@dataclass(frozen=True)
class _Fit:
    weights: NDArray[np.float64]  # (d + 1,), that of the bias last
    gap: float
    n_rounds: int


class _Problem:
    """A problem of two classes: the samples' columns, and what each sample's loss is."""

    def __init__(
        self, columns: NDArray, size: int, bias: float, signs: NDArray, costs: NDArray, loss: str
    ):
        self.columns, self.costs, self.squared = columns, costs, loss == "squared_hinge"
        self.signs = signs.astype(columns.dtype)
        self.constant = bias * self.signs
        self.starts = np.r_[np.arange(0, len(columns), size), len(columns), len(columns) + 1]
        self.weights = np.zeros(len(columns) + 1)
        self.margins = np.zeros(len(signs))
        steep, cap = (2, np.inf) if self.squared else (_ROUNDED, 1)
        self.losses = Losses(np.zeros(len(signs)), steep * costs, cap * costs)

    def solve(self, tol: float, max_iter: int) -> _Fit:
        """Descend until the gap is closed, on the groups in use and those that want to be."""
        for n_rounds in range(1, max_iter + 1):
            slopes = self.losses.slopes(self.margins)
            signed = slopes.astype(self.columns.dtype)
            products = np.r_[self.columns @ (signed * self.signs), self.constant @ signed]
            lengths = group_lengths(products, self.starts)
            gap = self._gap(slopes, lengths)
            if gap <= tol:
                break
            if not self.squared and n_rounds > 1:
                self.losses.centre = slopes
            self._descend(lengths)
        return _Fit(self.weights, gap, n_rounds)

    def _descend(self, lengths: NDArray) -> None:
        """Descend on the groups in use, and on no more others, those that want to be the most."""
        chosen = group_lengths(self.weights, self.starts) > 0
        wanted = np.flatnonzero(~chosen & (lengths > 1))
        most = max(_FEWEST, np.count_nonzero(chosen))
        chosen[wanted[np.argsort(-lengths[wanted])[:most]]] = True
        chosen[-1] = True
        sizes = np.diff(self.starts)
        members = np.flatnonzero(np.repeat(chosen, sizes))
        part = np.vstack([self.columns[members[:-1]] * self.signs, self.constant])
        starts = np.r_[0, np.cumsum(sizes[chosen])]
        working = WorkingGroups(part, starts, self.weights[members], self.margins, self.losses)
        working.descend()
        self.weights[members], self.margins = working.weights, working.margins

    def _gap(self, slopes: NDArray, lengths: NDArray) -> float:
        """Return how far the objective may be from its optimum, as a part of it."""
        short = np.maximum(0, 1 - self.margins)
        penalty = group_lengths(self.weights, self.starts).sum()
        objective = penalty + self.costs @ (short**2 if self.squared else short)
        scale, total = 1 / max(lengths.max(), 1), slopes.sum()
        square = (slopes**2 / (4 * self.costs)).sum() if self.squared else 0.0
        if square:
            scale = min(scale, total / (2 * square))
        return (objective - scale * total + scale**2 * square) / objective
