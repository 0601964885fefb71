"""Linear SVMs that drop groups of features as a whole (genrbf eq. 18)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from kmaps.checks import check_positive, check_whole
from kmaps.svm.grouplasso.problem import GroupProblem, GroupSolution
from kmaps.svm.learner import counting
from kmaps.svm.losses import HINGES, LOSSES
from kmaps.svm.parameters import check_loss, check_probability
from kmaps.svm.probabilities import LinearClassifier
from kmaps.svm.reduction import Labels
from kmaps.thread_pool import for_blocks, threads, threads_of


@dataclass(eq=False, repr=False)
class GroupLassoSVC(LinearClassifier):
    r"""Linear SVM that keeps or drops groups of consecutive features.

    .. math::
        \min_w \; \sum_g \|w_g\| + C \sum_i \ell(y_i\, w^\top x_i), \qquad
        \ell(m) = \max(0, 1 - m) \text{ or its square}

    with the bias as one more group. In Vempati et al., BMVC 2010, eq. 18, which they do not try,
    the groups are the pairs of a frequency's cosine and sine, and their C is N/2 times this C.
    Samples are dense.

    Use it for few random frequencies out of many, and for any dense features in groups.

    Parameters
    ----------
    C
        As in :class:`CodedSVC`.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The hinge is eq. 18 as printed; the squared hinge is the default because it is smooth and
        takes fewer rounds.
    group_size : int, default=2
        Features per group; the last group has fewer when it does not divide their number.
    multiclass
        As in :class:`CodedSVC`.
    bias : float, default=1.0
        Value of a constant feature, whose weight gives the intercept and is penalised as a group.
        0 for no intercept.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=500
        Most rounds.
    class_weight, probability, random_state
        As in :class:`CodedSVC`.
    n_jobs : int or None, default=None
        Threads for the binary problems. None: one, for comparable times; -1: one per processor.
    verbose
        As in :class:`CodedSVC`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, model_bytes_
        As in :class:`LiblinearSVC`.
    duality_gap_, timings_
        As in :class:`CodedSVC`.
    n_iter_ : int
        Most rounds of a binary problem.

    See Also
    --------
    prune : Drops the frequencies that it does not use.
    resample : Draws new ones near those that it uses.
    CodedSVC : With ``penalty="l1"``, drops features as a whole, each with its function.
    LiblinearSVC : With ``penalty="l1"``, drops single outputs.

    Notes
    -----
    The time grows with the cube of the number of kept features, and hardly with the others. The
    kept columns are copied, and their Gram matrix is held. A larger C keeps more features.

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

    C: float = 1.0
    _: KW_ONLY
    loss: str = "squared_hinge"
    group_size: int = 2
    multiclass: str = "ovr"
    bias: float = 1.0
    tol: float = 1e-3
    max_iter: int = 500
    class_weight: dict | str | None = None
    probability: str | bool | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    verbose: int = 0

    penalty = "l1"

    @property
    def _checks(self) -> dict[str, Any]:
        return {"dtype": [np.float64, np.float32], "order": "F"}

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "GroupLassoSVC":
        """Train one binary model per problem of the reduction, as `CodedSVC.fit` does.

        X (n, d) is dense, and copied unless its columns are contiguous. A ConvergenceWarning says
        when ``max_iter`` rounds leave a larger gap than ``tol``.
        """
        self._check_parameters()
        X, labels = self._check_training(X, y, sample_weight)
        X = np.asfortranarray(counting(X, labels))
        self.timings_: dict[str, float] = {}
        self._fit_probabilities(X, labels)
        # One thread per problem: times compare, and no digit depends on the number of threads.
        with threadpool_limits(1, user_api="blas"), threads(threads_of(self.n_jobs, 1)):
            fitted = self._timed("train_s", self._train, X.T, labels)
        self._set_weights(np.array([solution.weights for solution in fitted]), X)
        self.duality_gap_ = np.array([solution.gap for solution in fitted])
        self.n_iter_ = max(solution.n_rounds for solution in fitted)
        self._warn_of_gaps(self.duality_gap_, 3)
        return self

    def _check_parameters(self) -> None:
        check_loss(self, "GroupLassoSVC", {"l1": HINGES}, self.penalty)
        check_positive("tol", self.tol)
        check_whole("group_size", self.group_size, 1)
        check_whole("max_iter", self.max_iter, 1)
        check_probability(self)
        threads_of(self.n_jobs, 1)

    def _passes(self) -> str:
        return "rounds"

    def _train(self, columns: NDArray, labels: Labels) -> list[GroupSolution]:
        problems = list(self._problems(labels, 2 * len(columns)))

        def train_one(k: int, _: int) -> GroupSolution:
            problem = problems[k]
            own = columns if len(problem.rows) == columns.shape[1] else columns[:, problem.rows]
            costs, loss = self.C * problem.factors, LOSSES[self.loss]()
            task = GroupProblem(own, self.group_size, self.bias, problem.signs, costs, loss)
            return task.solve(self.tol, self.max_iter)

        return for_blocks(self._progress(len(problems)).counted(train_one), len(problems), 1)
