"""Kernel classifiers by LIBSVM, on a precomputed Gram matrix.

Each binary problem is the C-SVM (Chang and Lin, TIST 2011), with an unregularised intercept b:

    f(x) = sum over i of c_i K(x_i, x) + b,   0 <= c_i y_i <= C.
"""

import ctypes
import re
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, column_or_1d
from threadpoolctl import ThreadpoolController

from kmaps.checks import check_positive, check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import gram, mean_squared_distance
from kmaps.kernels import WIDTH_KERNELS
from kmaps.parallel import for_blocks, threads, threads_of
from kmaps.samples import AnyMatrix
from kmaps.svm.clib import NodeRows, blank, captured, gram_of, gram_rows, pointer_to, solver_library
from kmaps.svm.learner import input_errors
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import BinaryProblem, Labels, counting

_STEPS = re.compile(rb"optimization finished, #iter = (\d+)")
_LEAST_KERNEL = np.finfo(np.float32).tiny  # below it, numbers lose their digits
_LEAST_LIMIT = 10_000_000  # LIBSVM's max_iter for up to 100,000 rows


class SupportVectors(NamedTuple):
    """One trained binary problem: support rows, their coefficients c_i, the intercept b, steps."""

    support: NDArray[np.intp]
    dual: NDArray[np.float64]
    intercept: float
    steps: int


def _train(
    rows: NodeRows, problem: BinaryProblem, options: dict[str, float], printed: list[bytes]
) -> SupportVectors:
    lib = solver_library("libsvm.svm")
    addresses = rows.addresses[problem.rows]
    labels, factors = np.array([1, -1], np.int32), np.array(problem.side_factors)
    parameters = blank(
        lib.svm_parameter,
        svm_type=lib.svm_forms.C_SVC,
        kernel_type=lib.kernel_names.PRECOMPUTED,
        shrinking=1,
        nr_weight=len(labels),
        weight_label=pointer_to(labels, ctypes.c_int),
        weight=pointer_to(factors, ctypes.c_double),
        **options,
    )
    task = blank(
        lib.svm_problem,
        l=len(problem.rows),
        y=pointer_to(problem.signs, ctypes.c_double),
        x=pointer_to(addresses, ctypes.POINTER(lib.svm_node)),
    )
    trained = lib.libsvm.svm_train(ctypes.byref(task), ctypes.byref(parameters))
    try:
        model = trained.contents
        # The coefficients are positive for the label LIBSVM lists first, whichever that is.
        direction = model.label[0]
        dual = direction * np.ctypeslib.as_array(model.sv_coef[0], (model.l,))
        support = problem.rows[np.ctypeslib.as_array(model.sv_indices, (model.l,)) - 1]
        steps = _STEPS.search(b"".join(printed))
        return SupportVectors(
            support, dual, -direction * model.rho[0], int(steps[1] if steps else 0)
        )
    finally:
        lib.libsvm.svm_free_and_destroy_model(ctypes.byref(trained))


def _train_by_sklearn(
    rows: NodeRows, problem: BinaryProblem, options: dict[str, float], max_iter: int | None
) -> SupportVectors:
    """Train with scikit-learn's LIBSVM: the official one has no weights of samples and no limit."""
    from sklearn.svm import SVC

    model = SVC(
        kernel="precomputed",
        C=options["C"],
        tol=options["eps"],
        cache_size=options["cache_size"],
        max_iter=max_iter or -1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # reported for all problems at once
        own = rows.take(problem.rows)
        model.fit(gram_of(own, own), problem.signs, problem.factors)
    return SupportVectors(
        problem.rows[model.support_],
        model.dual_coef_[0],
        float(model.intercept_[0]),
        int(model.n_iter_.max()),
    )


@dataclass(eq=False, repr=False)
class KernelSVC(ProbabilisticClassifier):
    """Exact kernel SVM, trained by LIBSVM.

    Use it for up to some ten thousand samples, kernels that are neither additive nor approximated,
    and as the reference for all approximations.

    Parameters
    ----------
    kernel : str, default="chi2"
        A kernel of :func:`kmaps.gram`, or ``"precomputed"``: ``fit`` then takes the (n, n) Gram
        matrix and ``predict`` the (m, n) one of new rows against the training rows.
    C, class_weight, probability
        As in :class:`CodedSVC`. A width that is learnt is that of all samples.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One-vs-one is LIBSVM's choice: on pairs of classes the Gram matrix is small.
    gamma : float, default=1.0
        Degree of homogeneity of an additive kernel.
    sigma : float or None, default=None
        Width of an ``exp-`` or ``rbf`` kernel; None learns it from the training rows.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance on the gradient.
    cache_mb : float, default=200
        LIBSVM's cache of kernel rows, in megabytes.
    max_iter : int or None, default=None
        Most steps, ≥ 1; each changes two coefficients. None is LIBSVM's compiled limit, ten million
        or 100 per row; with a number, scikit-learn's build of LIBSVM trains, on 8 bytes more per
        value of the Gram matrix.
    random_state, n_jobs
        The folds of ``probability``; threads, as in :class:`GroupLassoSVC`, each with a cache.

    Attributes
    ----------
    support_ : ndarray of intp, shape (s,)
        Training rows that are a support vector of at least one problem, ascending.
    support_vectors_ : ndarray or CSR, shape (s, d)
        Those rows; absent for a precomputed kernel.
    dual_coef_ : scipy.sparse.csc_array of float64, shape (s, P)
        Sparse, because a row takes part in K-1 pairs at most; float64, because the terms cancel
        (each column sums to zero).
    classes_, intercept_, n_iter_, n_features_in_
        As in :class:`LiblinearSVC`, in float64; ``n_iter_`` has steps of LIBSVM.
    sigma_ : float or None
        The width in use.
    timings_ : dict
        Seconds: ``gram_s``, ``convert_s`` (building LIBSVM's rows), ``train_s`` and
        ``probability_s``.
    gram_bytes_, copy_bytes_, model_bytes_ : int
        Bytes of the Gram matrix (0 where it was given), of LIBSVM's copy of it, and of the support
        vectors (for a precomputed kernel: of ``support_``), dual coefficients and intercepts.

    See Also
    --------
    CodedSVC : Additive kernels: the same model on 256 levels, for any number of samples.
    RandomFeatureSVC : Exponential kernels, approximated, for any number of samples.
    gram : The kernel matrices.

    Notes
    -----
    LIBSVM's copy of the Gram matrix takes 16 (n + 2) bytes per row, four times a float32 matrix. To
    fit several times on one matrix, or on subsets of its rows, convert it once with
    :func:`gram_rows` and pass ``rows`` or ``rows.take(subset)`` to ``fit``.

    LIBSVM has factors on C for classes, not for samples. Where samples of a class have different
    weights, or with ``max_iter``, scikit-learn's build of LIBSVM solves the same problem. Both are
    held to one thread each: a second one of OpenMP could only copy kernel rows, and on a busy
    computer training took ten times as long. A ``ConvergenceWarning`` reports the limit on steps.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]], dtype=np.float32)
    >>> model = KernelSVC("chi2", C=10.0).fit(X, ["up", "up", "right", "right"])
    >>> model.predict(X).tolist()
    ['up', 'up', 'right', 'right']
    """

    kernel: str = "chi2"
    C: float = 1.0
    _: KW_ONLY
    multiclass: str = "ovo"
    gamma: float = 1.0
    sigma: float | None = None
    tol: float = 1e-3
    cache_mb: float = 200.0
    max_iter: int | None = None
    class_weight: dict | str | None = None
    probability: str | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None

    @property
    def _precomputed(self) -> bool:
        return self.kernel == "precomputed"

    @property
    def _checks(self) -> dict[str, Any]:
        return super()._checks | ({"accept_sparse": False} if self._precomputed else {})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    def fit(
        self, X: ArrayLike | NodeRows, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "KernelSVC":
        """Compute the Gram matrix and train one binary model per problem, as `CodedSVC.fit` does.

        X (n, d) is dense or CSR; for a precomputed kernel it is the (n, n) Gram matrix, or the
        :class:`NodeRows` made from it. A width that is learnt counts every sample once. A
        MemoryError says how much LIBSVM's rows would take.
        """
        self._check_parameters()
        self.sigma_, self.timings_ = self.sigma, {"gram_s": 0.0, "convert_s": 0.0}
        self.gram_bytes_ = 0
        if isinstance(X, NodeRows):
            rows, labels = X, self._check_converted(X, y, sample_weight)
        elif self._precomputed:
            X, labels = self._check_training(X, y, sample_weight)
            rows = self._timed("convert_s", gram_rows, X)
        else:
            X, labels = self._check_training(X, y, sample_weight)
            X = counting(X, labels)
            matrix = self._timed("gram_s", self._training_gram, X)
            rows = self._timed("convert_s", gram_rows, matrix)
            self.gram_bytes_ = 0 if self._precomputed else matrix.nbytes
            del matrix  # LIBSVM reads its own copy
        self.copy_bytes_ = rows.nbytes
        if self._precomputed:
            rows = counting(rows, labels)
        self._fit_probabilities(rows, labels)
        support = self._timed("train_s", self._train, rows, list(self._problems(labels)))
        if not self._precomputed:
            # NodeRows were refused by _check_converted.
            self.support_vectors_ = cast("NDArray | sp.csr_array", X)[support]
        self.support_ = labels.places[support]
        kept = self.support_ if self._precomputed else self.support_vectors_
        self.model_bytes_ = _nbytes(kept) + _nbytes(self.dual_coef_) + self.intercept_.nbytes
        return self

    def _check_parameters(self) -> None:
        for name in ("C", "tol", "cache_mb"):
            check_positive(name, getattr(self, name))
        if self.max_iter is not None:
            check_whole("max_iter", self.max_iter, 1)
        if str(self.sigma) == "auto":
            raise ConfigError("sigma='auto': choose a width with kmaps.models.choose_width, set it")
        self._check_probability()
        threads_of(self.n_jobs, 1)

    def _check_converted(
        self, rows: NodeRows, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Labels:
        if not self._precomputed:
            raise ConfigError(
                f"kernel={self.kernel!r}: rows converted from a Gram matrix need "
                "kernel='precomputed'"
            )
        with input_errors():
            y = column_or_1d(y)
            check_consistent_length(rows, y)
        self.n_features_in_ = len(rows)
        return self._check_labels(y, sample_weight)

    def _check_training(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, Labels]:
        X, labels = super()._check_training(X, y, sample_weight)
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise InputError(
                f"the precomputed Gram matrix has shape {X.shape}: expected (n, n), the kernel of "
                "every training row with every training row"
            )
        return X, labels

    def _training_gram(self, X: NDArray | sp.csr_array) -> NDArray:
        if self.sigma is None and self.kernel in WIDTH_KERNELS:
            mean = mean_squared_distance(X, kernel=self.kernel, gamma=self.gamma)
            # Rows all alike have no width: None lets gram say so.
            self.sigma_ = mean**0.5 or None
        matrix = gram(X, kernel=self.kernel, gamma=self.gamma, sigma=self.sigma_)
        largest = matrix.diagonal().max()
        if largest < _LEAST_KERNEL and abs(X).max() > 0:
            raise InputError(
                f"the kernel of a row with itself is at most {largest:.2g}, in single precision "
                f"next to nothing: it has to be {_LEAST_KERNEL:.2g} or more; multiply the features "
                "by a number"
            )
        return matrix

    def _train(self, rows: NodeRows, problems: list[BinaryProblem]) -> NDArray[np.intp]:
        """Train all models; return the rows that are a support vector of any."""
        library = solver_library("libsvm.svm").libsvm
        # It sees LIBSVM's OpenMP only once it is loaded, hence after the import.
        pools = ThreadpoolController()
        options = {"eps": self.tol, "C": self.C, "cache_size": self.cache_mb}

        def train_one(k: int, _: int) -> SupportVectors:
            # OpenMP has a limit for each thread.
            with (
                pools.limit(limits=1, user_api="openmp"),
                captured(library.svm_set_print_string_function) as printed,
            ):
                if self.max_iter or problems[k].side_factors is None:
                    return _train_by_sklearn(rows, problems[k], options, self.max_iter)
                return _train(rows, problems[k], options, printed)

        with threads(threads_of(self.n_jobs, 1)):
            models = for_blocks(train_one, len(problems), 1)
        self.n_iter_ = np.array([model.steps for model in models])
        sizes = [len(problem.rows) for problem in problems]
        limits = [self.max_iter or max(_LEAST_LIMIT, 100 * size) for size in sizes]
        unfinished = int((self.n_iter_ >= limits).sum())
        if unfinished:
            warnings.warn(
                f"LIBSVM reached its limit of steps in {unfinished} of {len(models)} binary "
                f"problems: lower C (now {self.C:g}), or raise tol (now {self.tol:g}) or max_iter "
                f"(now {self.max_iter or 'its own'})",
                ConvergenceWarning,
                stacklevel=4,
            )
        support, places = np.unique(
            np.concatenate([model.support for model in models]), return_inverse=True
        )
        starts = np.cumsum([0, *(len(model.support) for model in models)])
        self.dual_coef_ = sp.csc_array(
            (
                np.concatenate([model.dual for model in models]),
                places.astype(np.int32),
                starts.astype(np.int32),
            ),
            shape=(len(support), len(models)),
        )
        self.dual_coef_.sort_indices()
        self.intercept_ = np.array([model.intercept for model in models])
        return support

    def _scores_of_others(
        self,
        rows: NodeRows,
        y: NDArray,
        weights: NDArray[np.float64],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
    ) -> NDArray:
        """Train and score on the Gram matrix that there is."""
        known, unseen = rows.take(train), rows.take(test)
        self.set_params(kernel="precomputed").fit(known, y[train], weights[train])
        return self.decision_function(gram_of(unseen, known))

    def _score_width(self) -> int:
        return max(self.dual_coef_.shape)

    def _scores(self, X: Any) -> NDArray:
        if self._precomputed:
            block = X[:, self.support_]
        else:
            known = self.support_vectors_
            block = gram(X, known, kernel=self.kernel, gamma=self.gamma, sigma=self.sigma_)
        return block @ self.dual_coef_ + self.intercept_


def _nbytes(matrix: AnyMatrix) -> int:
    if sp.issparse(matrix):
        return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return matrix.nbytes
