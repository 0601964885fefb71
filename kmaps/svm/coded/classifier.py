"""Additive-kernel classifiers trained on codes of one byte per value.

Each binary problem has the signs y_i = ±1 of its two sides and one of `kmaps.svm.losses.LOSSES`.
"""

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps._loops.train import Task
from kmaps.checks import is_whole
from kmaps.errors import ConfigError
from kmaps.svm.coded.estimator import Progress
from kmaps.svm.coded.parameters import STORED_SVC, check_coded_svc
from kmaps.svm.coded.problem import CodedSolution, make_task
from kmaps.svm.coded.streamed import StreamedClassifier
from kmaps.svm.coded.training import CodedRows
from kmaps.svm.learner import counting
from kmaps.svm.losses import LOSSES, Loss
from kmaps.svm.newton import single_threaded_blas
from kmaps.svm.probabilities import logistic_fit
from kmaps.svm.reduction import BinaryProblem, Labels, combine_scores
from kmaps.thread_pool import for_blocks, threads, threads_of


@dataclass(eq=False, repr=False)
class CodedSVC(StreamedClassifier):
    """Additive-kernel SVM, exact or with any additive map, trained on one byte per value.

    It is the first choice for histograms and for any features that act one by one: as exact as
    `KernelSVC`, as fast as a linear model, for millions of samples, with functions to draw.

    Parameters
    ----------
    map : {"chi2", "intersection", "js", "hellinger"}, callable or map, default="chi2"
        The name of a kernel, or any scalar kernel ``k(x, y)`` (a function on arrays or a
        `kmaps.TableKernel`) without negative eigenvalues on the levels: the model is exact on the
        levels. Or an additive map, fitted
        or not (a copy is fitted to X): the model is linear in the map's features of the levels.
    C : float, default=1.0
        Weight of the loss against the penalty.
    n_levels : int, default=256
        Levels of a feature, from 2 to 256; values go to the nearest one. The levels are the
        distinct training values, if all features together have no more; else `kmaps.Quantizer`
        chooses them: ``shared`` (but see ``level_ranges``), or ``uniform`` for a map that differs
        between features.
        A column with a single value, other than zero, in all rows gets no weight, which a warning
        says: it takes part in neither the levels nor the scores, whatever its values later. Levels
        that are passed in leave no column out.
    bias : float, default=1.0
        Value of a constant feature, whose weight gives the intercept and is regularised like the
        others. 0 for no intercept.
    tol : float, default=1e-4
        Relative duality gap at which to stop; it bounds the relative suboptimality. At 1e-4, scores
        are within about 0.01 of the optimum's. In float32, 1e-6 is out of reach, and with huge C
        also 1e-4 may be.
    max_iter : int, default=1000
        Most passes; a pass evaluates as many samples as there are, some perhaps repeatedly. A step
        of Newton's method takes three: scores, sums, and second derivatives.
    warm_start : bool, default=False
        Start from the dual variables of the last fit (l1: from its weights): for a path of growing
        C on the same samples.
    random_state : int, RandomState or None, default=0
        Order of the samples. The same number gives the same model, on any number of threads.
    form : {"auto", "low-rank", "full", "local", "two-level"}, default="auto"
        The solver's variables: r columns of a table; the value of the function at each level;
        the weights of local B-splines (`SplineMap` only); the function's values at the ends of
        blocks of levels, and between them (kernels like intersection only). All forms give the
        same model; ``"auto"`` takes the form with the cheapest look-ups.
    levels : array-like, shape (L,), (1, L) or (d, L), optional
        With these levels X must be codes of them, uint8. A map must then be fitted.
    level_ranges : {"auto", "shared", "own"}, default="auto"
        Of kernels, and of maps that have one curve for all features: whether features share their
        levels (``"shared"``), or each has as many over its own range (``"own"``), which takes a
        table for each feature and keeps small columns apart from large ones. ``"auto"`` takes
        levels of their own where columns are of unlike units: of the columns that are not zero in
        at least 90 % of the samples, the 99 % quantiles of sizes differ by more than 100 times
        (not where all values have a level each); and where a value is more than 10⁶ times as large
        as the median of its column's non-zero values. Both are for tables of up to 200 columns, and
        a `ColumnNote` says so.
    smooth : float, default=0.0
        Price of curvature, ≥ 0: the penalty gets smooth / 2 times the integral of the squared
        second derivative of every feature's function, over its range scaled to 0 … 1. For the
        forms ``"low-rank"`` and ``"full"``.
    n_blocks : int or "auto", default=1
        Number of blocks of a binary problem's samples, as on the computers of a cluster
        (:class:`kmaps.dask.BlockwiseSVC`). All descend at once, and their changes are added
        (CoCoA+). More blocks need more passes. "auto" is one below 16 million codes, then two; from
        4 thousand million on, one for every 2 thousand million. The model depends on the number of
        blocks, within ``tol``. With ``penalty="l1"`` there is one.
    penalty : {"l2", "l1"}, default="l2"
        ``"l2"``: half the squared norm, as in kernel machines. ``"l1"``: the sum of the norms of
        all features' functions (and of the intercept's weight), each in the norm of its kernel,
        which drops features as a whole (a group lasso, as in SpAM); for the hinges, in form
        ``"low-rank"``. Its time grows with the cube of the columns kept, and ``max_iter``
        counts its rounds.
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        The hinge is solved fastest and is the loss of `KernelSVC`; the squared hinge is the
        default of LIBLINEAR and `LiblinearSVC`. ``"logistic"`` is logistic regression.
    multiclass : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; in one-vs-rest only on the class's own side, as in LIBLINEAR.
        "balanced" gives every class the same sum of sample weights.
    calibrate : bool, default=False
        Turn one-vs-rest scores into log-odds, by a logistic regression on the training scores of
        each class, so that classes are comparable (lac Sect. 6).
    probability : True, {"temperature", "sigmoid", "isotonic"} or None, default=None
        Learn ``predict_proba`` as well, from the scores of samples held out in five folds (five
        more trainings): by one temperature of all scores (True), the best (expected calibration
        errors of 0.02 on digits, 0.07 by sigmoids, 0.04 by isotonic regression), by
        Platt's sigmoid of each class, or by isotonic regression, which needs some thousand samples.
        The levels and the map are learnt from all samples.
    n_jobs : int or None, default=None
        Threads for the binary problems, one for each. None: as many as `kmaps.threads` says, -1:
        one per processor.
    verbose : int, default=0
        Not 0: print the number of binary problems, and every two seconds how many are solved and
        about how much time is left.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    levels_ : ndarray, shape (1 or d, L)
        The levels; a feature with fewer levels repeats its last.
    map_ : map or str
        The fitted map, or the name of the kernel.
    model_ : CodedModel
        The arrays for prediction, ``model_bytes_`` bytes.
    objective_, duality_gap_ : ndarray, shape (P,)
        The primal objective and the relative duality gap of each binary problem.
    n_iter_, n_blocks_ : ndarray of int, shape (P,)
        Passes, rounded up, and blocks (not with ``penalty="l1"``).
    form_, codes_bytes_, n_features_in_
        The form in use, bytes of the training set as codes, features.
    timings_ : dict
        Seconds: ``convert_s`` (levels, codes, tables), ``train_s``, and ``probability_s``.

    See Also
    --------
    CodedSVCCV : Chooses C along a path.
    RandomFeatureSVC : Exponential kernels, for features that interact.
    KernelSVC : Any kernel, on a Gram matrix; with LIBSVM the reference for it.
    LiblinearSVC : Linear models, and maps with more than 256 levels.
    CodedSVR : Regression.

    Notes
    -----
    Training takes one byte per value, or three per non-zero value when these are few, and four
    bytes per weight of each binary problem that runs at once (twelve per block, with blocks).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> model = CodedSVC("chi2", C=10.0).fit(X, ["up", "up", "right", "right"])
    >>> model.predict(X).tolist()
    ['up', 'up', 'right', 'right']
    """

    C: float = 1.0
    _: KW_ONLY
    penalty: str = "l2"
    loss: str = "hinge"
    multiclass: str = "ovr"
    class_weight: dict | str | None = None
    calibrate: bool = False
    probability: str | bool | None = None
    n_blocks: int | str = 1
    smooth: float = 0.0
    n_jobs: int | None = None
    verbose: int = 0

    _stored = STORED_SVC

    def fit(
        self,
        X: ArrayLike | CodedRows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        progress: Progress = None,
    ) -> "CodedSVC":
        """Turn X into codes and train one binary model per problem of the reduction.

        Parameters
        ----------
        X : ndarray or CSR of float32, float64 or uint8, shape (n, d)
            Other types are converted to float64. With ``levels``, codes. Or what
            :func:`kmaps.svm.code_rows` made, which has its own map, levels and form.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.
        sample_weight : array-like, shape (n,), optional
            Factor on C for each sample, ≥ 0: a weight of 2 is the sample twice, 0 leaves it out.
            Levels, and a map that learns from data, count every sample once.
        progress : callable, optional
            Called from the training threads with the number of the problem, its passes so far, and
            its relative duality gap.

        Notes
        -----
        A ConvergenceWarning says which gap ``max_iter`` passes reached. A parameter out of range
        raises ConfigError; NaN, infinity, a wrong shape, labels of one class, weights that are
        negative, or all zero in a class, InputError; a MemoryError says how much was needed.
        """
        self._check_parameters()
        self._seen = None
        self.timings_: dict[str, float] = {}
        if isinstance(X, CodedRows):
            labels = self._check_prepared(X, y, sample_weight)
            training = counting(X, labels)
            self.timings_["convert_s"] = 0.0
        else:
            X, labels = self._check_training(X, y, sample_weight)
            training = self._coded(counting(X, labels))
        solutions, calibration = self._solved(training, labels, progress)
        self._keep(training, solutions, labels.weights, calibration=calibration)
        return self

    def _solved(
        self, training: CodedRows, labels: Labels, progress: Progress
    ) -> tuple[list[CodedSolution], NDArray | None]:
        n_weights = training.n_features * training.layout.form.size
        problems = list(self._problems(labels, n_weights))
        with threads(threads_of(self.n_jobs)):
            self._fit_probabilities(training, labels)
            solutions = self._timed("train_s", self._train, training, problems, progress)
        calibration = None
        if self.calibrate:
            pairs = zip(problems, solutions, strict=True)
            calibration = np.array([self.log_odds_of(*pair) for pair in pairs])
        return solutions, calibration

    def _check_parameters(self) -> None:
        check_coded_svc(self)
        self._check_map()
        if self.n_blocks != "auto" and not is_whole(self.n_blocks, 1):
            raise ConfigError(
                f"n_blocks={self.n_blocks!r}: expected a whole number of at least 1, or 'auto'"
            )
        if self.penalty == "l1" and self.n_blocks not in ("auto", 1):
            raise ConfigError(
                f"n_blocks={self.n_blocks!r}: penalty='l1' has one block; leave n_blocks out"
            )
        threads_of(self.n_jobs)

    @property
    def _form(self) -> str:
        return "low-rank" if self.penalty == "l1" else self.form

    @property
    def _loss(self) -> Loss:
        return LOSSES[self.loss]()

    def _passes(self) -> str:
        return "rounds" if self.penalty == "l1" else "passes"

    def _train(self, training: CodedRows, problems: list[BinaryProblem], progress: Progress) -> Any:
        problems = _on_codes(problems, training)
        if self.penalty == "l1":
            return self._train_sparse(training, problems, progress)
        tasks = [partial(self.task_of, problem) for problem in problems]
        sizes = [len(problem.rows) for problem in problems]
        return self._descend(training, tasks, sizes, progress, with_margins=self.calibrate)

    def _train_sparse(
        self, training: CodedRows, problems: list[BinaryProblem], progress: Progress
    ) -> list[CodedSolution]:
        starts = self._duals if self._keeps_duals else None
        starts = starts if starts and len(starts) == len(problems) else [None] * len(problems)

        def train_one(k: int, _: int) -> CodedSolution:
            solution = self.solve_sparse_problem(training, problems[k], starts[k])
            if progress is not None:
                progress(k, solution.passes, solution.gap)
            return solution

        with single_threaded_blas():  # our threads hold one problem each
            return for_blocks(self._progress(len(problems)).counted(train_one), len(problems), 1)

    def solve_sparse_problem(
        self, training: CodedRows, problem: BinaryProblem, start: NDArray | None
    ) -> CodedSolution:
        """Solve a problem on the codes with the penalty l1 and the present C.

        Parameters
        ----------
        training : CodedRows
            The samples as codes, in the form ``"low-rank"``.
        problem : BinaryProblem
            The problem, whose rows are rows of the codes, as `problems_of` returns it.
        start : ndarray of float64 or None
            ``alpha`` of the solution from which to start, here weights. None, or another number of
            weights than the problem has, starts at zero.

        Returns
        -------
        CodedSolution
            The weights, the objective and the relative duality gap; its ``passes`` are rounds.
        """
        from kmaps.svm.coded.sparse import solve_sparse  # most models do not need it

        return solve_sparse(
            training,
            problem,
            self.C * problem.factors,
            loss=self._loss,
            bias=self.bias,
            tol=self.tol,
            max_iter=self.max_iter,
            start=start,
        )

    def problems_of(
        self, training: CodedRows, y: ArrayLike, sample_weight: ArrayLike
    ) -> list[BinaryProblem]:
        """Learn ``classes_``; return the binary problems, whose rows are the rows of the codes.

        Parameters
        ----------
        training : CodedRows
            n samples as codes.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.
        sample_weight : array-like, shape (n,), or None
            Factor on C for each sample, ≥ 0; None: all count once.

        Returns
        -------
        list of BinaryProblem
            P problems, in the order of the columns of scores.
        """
        labels = self._check_prepared(training, y, sample_weight)
        return _on_codes(list(self._problems(labels)), training)

    def task_of(self, problem: BinaryProblem, norms: NDArray[np.float64]) -> Task:
        """State a problem on the codes with the present C; ``norms`` are the norms of all rows.

        Parameters
        ----------
        problem : BinaryProblem
            The problem, whose rows are rows of the codes, as `problems_of` returns it.
        norms : ndarray of float64, shape (n,)
            The kernel of each row of the codes with itself.

        Returns
        -------
        Task
            The members, signs, costs, loss and bias, as coordinate descent takes them.
        """
        costs = self.C * problem.factors
        return make_task(problem.rows, problem.signs, norms, costs, self._loss, self.bias)

    def log_odds_of(self, problem: BinaryProblem, solution: CodedSolution) -> tuple[float, float]:
        """Return slope and shift that turn the scores of a solved problem into log-odds.

        Parameters
        ----------
        problem : BinaryProblem
            The problem, with m rows.
        solution : CodedSolution
            Its solution, with the margins (m,) of its rows.

        Returns
        -------
        tuple of (float, float)
            Slope a and shift b; a · score + b are the log-odds of the positive side.
        """
        return logistic_fit(problem.signs * solution.margins, problem.signs > 0, problem.factors)

    def decision_function(self, X: ArrayLike | CodedRows) -> NDArray:
        """Score rows, as every classifier here does, rows coded beforehand included."""
        if not isinstance(X, CodedRows):
            return super().decision_function(X)
        return combine_scores(self._scores_of_rows(X), len(self.classes_), self.multiclass)


def _on_codes(problems: list[BinaryProblem], training: CodedRows) -> list[BinaryProblem]:
    """Return problems whose rows are rows of the codes, of which some samples may be left out."""
    if training.members is None:
        return problems
    return [replace(problem, rows=training.members[problem.rows]) for problem in problems]
