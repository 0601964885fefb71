"""Linear classifiers by LIBLINEAR.

Each binary problem is one of (Fan et al., JMLR 2008, with the bias as one more, regularised
weight):

    min over w of  penalty(w) + C * sum over i of loss(y_i * w'x_i),
    penalty: l2 is w'w / 2, l1 is sum |w_j|;
    loss(m): hinge max(0, 1 - m), squared_hinge max(0, 1 - m)^2, logistic log(1 + exp(-m)).
"""

import ctypes
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from kmaps.checks import check_choice, check_positive, check_whole
from kmaps.errors import ConfigError
from kmaps.svm.clib import NodeRows, blank, captured, feature_rows, pointer_to, solver_library
from kmaps.svm.learner import counting
from kmaps.svm.parameters import REDUCTIONS, check_loss, check_probability
from kmaps.svm.probabilities import LinearClassifier
from kmaps.svm.reduction import BinaryProblem


class _Solver(NamedTuple):
    number: int  # LIBLINEAR's option -s
    tol: float


# With these tolerances the objective is within 0.3 % of the optimum for hinge and 0.02 % for the
# others (measured by a test, C = 0.1). LIBLINEAR's own, 0.1 for the dual and 0.01 for the rest,
# miss it by up to a tenth on MNIST with C = 1.
_SOLVERS = {
    "l2": {
        "hinge": _Solver(3, 1e-2),
        "squared_hinge": _Solver(2, 1e-4),
        "logistic": _Solver(0, 1e-4),
    },
    "l1": {"squared_hinge": _Solver(5, 1e-3), "logistic": _Solver(6, 1e-4)},
}

# The limits of passes that are compiled into LIBLINEAR.
_HINGE_LIMIT, _LIMIT = 300, 1000

_PASSES = re.compile(rb"optimization finished, #iter = (\d+)")  # of dual and l1 solvers
_NEWTON_STEP = b"iter "  # the start of a line of the primal solvers

# Without "of inner iterations", for which the outer loop compensates.
_LIMIT_REACHED = re.compile(rb"reaching max number of (Newton )?iterations")

_Trained = tuple[NDArray[np.float64], int, bool]  # weights, passes, whether at the limit

# The whole process shares C's rand(): seeding and training must not be interleaved.
_rand_lock = threading.Lock()


@dataclass(eq=False, repr=False)
class LiblinearSVC(LinearClassifier):
    """Linear SVM or logistic regression, trained by LIBLINEAR.

    Use it for linear models, the outputs of a map, values of any precision, and sparse weights.

    Parameters
    ----------
    C
        As in :class:`CodedSVC`.
    penalty : {"l2", "l1"}, default="l2"
        ``"l1"`` gives sparse weights; with ``loss="hinge"`` it is not available.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        The squared hinge, where all other models have the hinge: in the primal it has no limit of
        300 passes, which the dual of the hinge reaches on MNIST for C >= 1. The hinge is solved in
        the dual (LIBLINEAR's solver 3), l2 squared hinge and logistic in the primal (2 and 0: no
        random order), l1 by coordinate descent and by GLMNET (5 and 6).
    multiclass, bias
        As in :class:`CodedSVC`.
    tol : float or None, default=None
        LIBLINEAR's stopping tolerance; None is 0.01 (hinge), 1e-3 (l1 squared hinge) or 1e-4.
    max_iter : int or None, default=None
        Most passes over the samples, ≥ 1. None is LIBLINEAR's compiled limit, 300 for hinge and
        1000 for the others; with a number, scikit-learn's build of LIBLINEAR trains.
    class_weight, probability
        As in :class:`CodedSVC`.
    random_state : int, RandomState or None, default=0
        Seeds C's ``rand`` before each binary problem: the same seed gives the same bits. Also draws
        the folds of ``probability``.
    verbose
        As in :class:`CodedSVC`.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shape (P, d) and (P,), dtype of the training data
        P is 1 for two classes, K for one-vs-rest, K(K-1)/2 for one-vs-one, in the order of
        :func:`kmaps.svm.reduction.class_pairs`.
    n_iter_ : ndarray of int, shape (P,)
        Passes over the samples, Newton steps where the primal is solved.
    classes_, n_features_in_
        As in :class:`CodedSVC`.
    timings_ : dict
        Seconds: ``convert_s`` (building LIBLINEAR's rows), ``train_s`` and ``probability_s``.
    copy_bytes_, model_bytes_ : int
        Bytes of LIBLINEAR's rows (0 where scikit-learn made its own), and of the weights.

    See Also
    --------
    CodedSVC : The model of an additive map or kernel, without the map's outputs in memory.
    GroupLassoSVC : Drops groups of features as a whole.
    prune : Drops the frequencies to which ``penalty="l1"`` gives no weight.

    Notes
    -----
    LIBLINEAR's rows take 16 bytes per non-zero value and 32 per row, built once and shared by all
    binary problems. Fits in two threads wait for each other, because C has one ``rand``.

    LIBLINEAR has factors on C for classes, not for samples. Where samples of a class have different
    weights, or with ``max_iter``, scikit-learn's build of LIBLINEAR (LinearSVC, LogisticRegression)
    solves the same problem; ``penalty="l1"`` with ``loss="logistic"`` takes no such weights.

    A ``ConvergenceWarning`` reports the limit on passes. On MNIST hinge does reach its 300: one
    digit against the others ends 2.5 % above the optimum with C = 1, threefold with C = 10.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> model = LiblinearSVC(C=10.0, loss="hinge").fit(X, ["up", "up", "right", "right"])
    >>> model.predict(X).tolist()
    ['up', 'up', 'right', 'right']
    """

    C: float = 1.0
    _: KW_ONLY
    penalty: str = "l2"
    loss: str = "squared_hinge"
    multiclass: str = "ovr"
    bias: float = 1.0
    tol: float | None = None
    max_iter: int | None = None
    class_weight: dict | str | None = None
    probability: str | bool | None = None
    random_state: int | np.random.RandomState | None = 0
    verbose: int = 0

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "LiblinearSVC":
        """Train one binary model per problem of the reduction, as `CodedSVC.fit` does.

        A MemoryError says how much LIBLINEAR's rows would take.
        """
        solver = self.check_parameters()
        X, labels = self._check_training(X, y, sample_weight)
        X = counting(X, labels)
        problems = list(self._problems(labels, 2 * X.shape[1]))
        self.timings_: dict[str, float] = {}
        self._fit_probabilities(X, labels)
        if self.max_iter or any(problem.side_factors is None for problem in problems):
            self.timings_["convert_s"], self.copy_bytes_ = 0.0, 0
            train = partial(self._train_by_sklearn, X)
        else:
            rows = self._timed("convert_s", feature_rows, X, self.bias)
            self.copy_bytes_ = rows.nbytes
            train = partial(self._train, rows)
        tol = solver.tol if self.tol is None else self.tol
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        trained = self._timed("train_s", list, train(problems, solver.number, tol, seed))
        weights, passes, unfinished = zip(*trained, strict=True)
        self.n_iter_ = np.array(passes)
        self._warn_unfinished(sum(unfinished), len(problems), tol)
        self._set_weights(np.array(weights), X)
        return self

    def check_parameters(self) -> _Solver:
        """Raise ConfigError for a parameter out of range; return which of LIBLINEAR's solvers.

        Returns
        -------
        _Solver
            The number of the solver in LIBLINEAR, and its default ``tol``.
        """
        check_loss(self, "LiblinearSVC", _SOLVERS, self.penalty)
        check_choice("multiclass", self.multiclass, REDUCTIONS)
        check_positive("tol", self.tol, or_none=True)
        check_whole("max_iter", self.max_iter, 1, or_none=True)
        check_probability(self)
        return _SOLVERS[self.penalty][self.loss]

    def _train(
        self, rows: NodeRows, problems: list[BinaryProblem], number: int, tol: float, seed: int
    ) -> Iterator[_Trained]:
        lib = solver_library("liblinear.liblinear")
        options = blank(lib.parameter, solver_type=number, eps=tol, C=self.C, regularize_bias=1)
        train = self._progress(len(problems)).counted(_train_binary)
        c_library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
        with _rand_lock, captured(lib.liblinear.set_print_string_function) as printed:
            for problem in problems:
                c_library.srand(seed)
                weights = train(rows, problem, options, self.bias)
                text = b"".join(printed)
                printed.clear()
                finished = _PASSES.search(text)
                passes = int(finished[1]) if finished else max(1, text.count(_NEWTON_STEP))
                yield weights, passes, _LIMIT_REACHED.search(text) is not None

    def _train_by_sklearn(
        self, X: Any, problems: list[BinaryProblem], number: int, tol: float, seed: int
    ) -> Iterator[_Trained]:
        """Train with scikit-learn's LIBLINEAR: the official one has no weights and no limits."""
        model = self._sklearn_model(tol, seed)
        train = self._progress(len(problems)).counted(model.fit)
        for problem in problems:
            if problem.side_factors is None:
                factors = problem.factors
                if (self.penalty, self.loss) == ("l1", "logistic"):
                    raise ConfigError(
                        "penalty='l1' with loss='logistic': sample_weight must not vary within a "
                        "class; choose loss='squared_hinge' or penalty='l2'"
                    )
            else:
                factors = None
                positive, negative = problem.side_factors
                model.set_params(class_weight={1: positive, -1: negative})
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                train(X[problem.rows], problem.signs, factors)
            unfinished = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
            constant = model.intercept_ / self.bias if self.bias else []
            weights = np.concatenate([model.coef_[0], constant])
            yield weights, int(np.max(model.n_iter_)), unfinished

    def _sklearn_model(self, tol: float, seed: int) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        shared = {
            "C": self.C,
            "tol": tol,
            "max_iter": self.max_iter or self._compiled_limit,
            "fit_intercept": self.bias > 0,
            "intercept_scaling": self.bias or 1.0,
            "random_state": seed,
        }
        if self.loss == "logistic":
            model = LogisticRegression(solver="liblinear", **shared)
            if self.penalty == "l1":
                # Since scikit-learn 1.8 the ratio decides, and the penalty is deprecated.
                kind = {"penalty": "l1"} if model.penalty == "l2" else {"l1_ratio": 1.0}
                model.set_params(**kind)
            return model
        return LinearSVC(penalty=self.penalty, loss=self.loss, dual=self.loss == "hinge", **shared)

    @property
    def _compiled_limit(self) -> int:
        return _HINGE_LIMIT if self.loss == "hinge" else _LIMIT

    def _warn_unfinished(self, unfinished: int, n_problems: int, tol: float) -> None:
        if unfinished:
            warnings.warn(
                f"LIBLINEAR reached its limit of passes in {unfinished} of {n_problems} binary "
                f"problems: lower C (now {self.C:g}), scale the features, raise tol (now "
                f"{tol:g}) or max_iter (now {self.max_iter or self._compiled_limit}), or replace "
                "the hinge by loss='squared_hinge'",
                ConvergenceWarning,
                stacklevel=3,
            )


def _train_binary(
    rows: NodeRows, problem: BinaryProblem, options: ctypes.Structure, bias: float
) -> NDArray[np.float64]:
    """Return the weights of one problem, the bias feature's last, positive for ``signs`` = +1."""
    lib = solver_library("liblinear.liblinear")
    addresses = rows.addresses[problem.rows]
    labels, factors = np.array([1, -1], np.int32), np.array(problem.side_factors)
    options.nr_weight = len(labels)
    options.weight_label = pointer_to(labels, ctypes.c_int)
    options.weight = pointer_to(factors, ctypes.c_double)
    task = blank(
        lib.problem,
        l=len(problem.rows),
        n=rows.n_columns,
        y=pointer_to(problem.signs, ctypes.c_double),
        x=pointer_to(addresses, ctypes.POINTER(lib.feature_node)),
        bias=bias if bias > 0 else -1,
    )
    trained = lib.liblinear.train(ctypes.byref(task), ctypes.byref(options))
    try:
        # LIBLINEAR's weights are positive for the label that it lists first, which depends on the
        # order of the labels and on its version.
        direction = trained.contents.label[0]
        weights = direction * np.ctypeslib.as_array(trained.contents.w, (rows.n_columns,))
    finally:
        lib.liblinear.free_and_destroy_model(ctypes.byref(trained))
    return weights
