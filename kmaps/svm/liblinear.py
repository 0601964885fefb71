"""Linear classifiers by LIBLINEAR.

Each binary problem is one of (Fan et al., JMLR 2008, with the bias as one more, regularised
weight):

    min over w of  penalty(w) + C * sum over i of loss(y_i * w'x_i),
    penalty: l2 is w'w / 2, l1 is sum |w_j|;
    loss(m): hinge max(0, 1 - m), squared_hinge max(0, 1 - m)^2, logistic log(1 + exp(-m)).
"""

import ctypes
import re
import threading
import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state

from kmaps.checks import check_choice, check_positive
from kmaps.errors import ConfigError
from kmaps.svm.clib import NodeRows, blank, captured, feature_rows, pointer_to
from kmaps.svm.losses import LOSSES
from kmaps.svm.reduction import REDUCTIONS, BinaryProblem, LinearClassifier, check_bias


class _Solver(NamedTuple):
    number: int  # LIBLINEAR's -s
    tol: float


# With these tolerances the objective is within 0.3 % of the optimum for hinge and 0.02 % for the
# others (measured by a test, C = 0.1). LIBLINEAR's own, 0.1 for the dual and 0.01 for the rest,
# miss it by up to a tenth on MNIST with C = 1.
_SOLVERS = {
    ("l2", "hinge"): _Solver(3, 1e-2),
    ("l2", "squared_hinge"): _Solver(2, 1e-4),
    ("l2", "logistic"): _Solver(0, 1e-4),
    ("l1", "squared_hinge"): _Solver(5, 1e-3),
    ("l1", "logistic"): _Solver(6, 1e-4),
}

# Not "of inner iterations", which the outer loop makes up for.
_LIMIT_REACHED = re.compile(rb"reaching max number of (Newton )?iterations")

# C's rand() is one for the whole process: seeding and training must not be interleaved.
_rand_lock = threading.Lock()


class LiblinearSVC(LinearClassifier):
    """Linear SVM or logistic regression, trained by LIBLINEAR.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the penalty.
    penalty : {"l2", "l1"}, default="l2"
        ``"l1"`` gives sparse weights; with ``loss="hinge"`` it is not available.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        Hinge is solved in the dual (LIBLINEAR's solver 3), l2 squared hinge and logistic in the
        primal (2 and 0: no random order, no limit of 300 passes, which the dual reaches on
        MNIST for C >= 1), l1 by coordinate descent and by GLMNET (5 and 6).
    multiclass : {"ovr", "ovo"}, default="ovr"
        One-vs-rest or one-vs-one.
    bias : float, default=1.0
        Value of a constant feature whose weight makes the intercept. That weight is
        regularised like the others: the larger ``bias``, the less. 0 for no intercept.
    tol : float or None, default=None
        LIBLINEAR's stopping tolerance; None is 0.01 (hinge), 1e-3 (l1 squared hinge) or 1e-4.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; in one-vs-rest only on the class's own side, as in LIBLINEAR.
    random_state : int, RandomState or None, default=0
        Seeds C's ``rand`` before each binary problem: the same seed gives the same bits.

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
    coef_ : ndarray, shape (P, d), dtype of the training data
        P is 1 for two classes, K for one-vs-rest, K(K-1)/2 for one-vs-one, in the order of
        :func:`kmaps.svm.reduction.class_pairs`.
    intercept_ : ndarray, shape (P,)
    n_features_in_ : int
    timings_ : dict
        Seconds: ``convert_s`` (building LIBLINEAR's rows) and ``train_s``.
    copy_bytes_ : int
        Bytes of LIBLINEAR's rows.
    model_bytes_ : int
        Bytes of ``coef_`` and ``intercept_``.

    Notes
    -----
    LIBLINEAR's rows take 16 bytes a non-zero value and 32 a row, built once and shared by all
    binary problems. It is single-threaded; two fits in two threads wait for each other, because C
    has one ``rand``.

    The limit on passes is compiled into LIBLINEAR (300 for hinge, 1000 for the others); reaching
    it is reported as a ``ConvergenceWarning``. On MNIST, mapped by the homogeneous map, hinge does
    reach it: one digit against the others ends 2.5 % above the optimum with C = 1, and at three
    times the optimum with C = 10.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> model = LiblinearSVC(C=10.0, loss="hinge").fit(X, ["up", "up", "right", "right"])
    >>> model.predict(X).tolist()
    ['up', 'up', 'right', 'right']
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        multiclass: str = "ovr",
        bias: float = 1.0,
        tol: float | None = None,
        class_weight: dict | str | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ):
        self.C = C
        self.penalty = penalty
        self.loss = loss
        self.multiclass = multiclass
        self.bias = bias
        self.tol = tol
        self.class_weight = class_weight
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> "LiblinearSVC":
        """Train one binary model for each problem of the reduction.

        Parameters
        ----------
        X : ndarray or CSR of float32 or float64, shape (n, d)
            Other types are converted to float64.
        y : array-like, shape (n,)
            Labels, numbers or strings, of at least two classes.

        Returns
        -------
        self

        Raises
        ------
        ConfigError
            For a parameter out of range, or a penalty and loss LIBLINEAR does not combine.
        InputError
            For NaN, infinity, a wrong shape, or labels of one class.
        MemoryError
            Saying how much LIBLINEAR's rows would take.
        """
        solver = self.check_parameters()
        X, codes = self._check_training(X, y)
        self.timings_: dict[str, float] = {}
        rows = self._timed("convert_s", feature_rows, X, self.bias)
        self.copy_bytes_ = rows.nbytes
        weights = self._timed("train_s", self._train, rows, self._problems(codes), solver)
        self._set_weights(weights, X)
        return self

    def check_parameters(self) -> _Solver:
        """Raise ConfigError for a parameter out of range; return which of LIBLINEAR's solvers."""
        check_choice("multiclass", self.multiclass, REDUCTIONS)
        check_positive("C", self.C)
        if self.tol is not None:
            check_positive("tol", self.tol)
        check_bias(self.bias)
        check_choice("loss", self.loss, LOSSES)
        if (self.penalty, self.loss) not in _SOLVERS:
            known = ", ".join(f"{penalty} + {loss}" for penalty, loss in _SOLVERS)
            raise ConfigError(
                f"penalty={self.penalty!r} with loss={self.loss!r}: LIBLINEAR combines {known}"
            )
        return _SOLVERS[self.penalty, self.loss]

    def _train(
        self, rows: NodeRows, problems: Iterable[BinaryProblem], solver: _Solver
    ) -> NDArray[np.float64]:
        from liblinear.liblinear import liblinear, parameter

        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        options = blank(
            parameter,
            solver_type=solver.number,
            eps=solver.tol if self.tol is None else self.tol,
            C=self.C,
            regularize_bias=1,
        )
        weights, unfinished = [], 0
        with _rand_lock, captured(liblinear.set_print_string_function) as printed:
            for problem in problems:
                ctypes.CDLL(None).srand(seed)
                weights.append(_train_binary(rows, problem, options, self.bias))
                unfinished += _LIMIT_REACHED.search(b"".join(printed)) is not None
                printed.clear()
        if unfinished:
            warnings.warn(
                f"LIBLINEAR reached its limit of passes in {unfinished} of {len(weights)} binary "
                f"problems: lower C (now {self.C:g}), scale the features, raise tol (now "
                f"{options.eps:g}), or replace the hinge by loss='squared_hinge'",
                ConvergenceWarning,
                stacklevel=4,
            )
        return np.array(weights)


def _train_binary(
    rows: NodeRows, problem: BinaryProblem, options: ctypes.Structure, bias: float
) -> NDArray[np.float64]:
    """Return the weights of one problem, the bias feature's last, positive for ``signs`` = +1."""
    from liblinear import liblinear as lib

    addresses = rows.addresses[problem.rows]
    labels, factors = np.array([1, -1], np.int32), np.array(problem.weights)
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
        # LIBLINEAR's weights point to the label it lists first, which depends on the order in which
        # it met the labels and on its version.
        direction = trained.contents.label[0]
        weights = direction * np.ctypeslib.as_array(trained.contents.w, (rows.n_columns,))
    finally:
        lib.liblinear.free_and_destroy_model(ctypes.byref(trained))
    return weights
