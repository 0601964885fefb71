"""Kernel classifiers on exact Gram matrices.

Each binary problem is the C-SVM (Chang and Lin, TIST 2011), with an unregularised intercept b:

    f(x) = sum over i of c_i K(x_i, x) + b,   0 <= c_i y_i <= C.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from kmaps.checks import check_choice, check_positive, check_whole
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import gram, quick_gram
from kmaps.kernels import GRAM_KERNELS, KERNELS, WIDTH_KERNELS, check_kernel
from kmaps.matrices import AnyMatrix
from kmaps.svm.clib import NODE, NodeRows, gram_rows
from kmaps.svm.learner import counting, input_errors
from kmaps.svm.losses import Floats
from kmaps.svm.parameters import REDUCTIONS, check_probability
from kmaps.svm.probabilities import ProbabilisticClassifier
from kmaps.svm.reduction import BinaryProblem, Labels, Places, SupportVectors
from kmaps.svm.training_gram import check_memory, training_gram
from kmaps.thread_pool import for_blocks, num_threads, threads, threads_of

if TYPE_CHECKING:
    from kmaps.svm.model_file import ModelFile
    from kmaps.svm.smo import GramRows

Rows: TypeAlias = Union["GramRows", NodeRows]

_AT_BOUND = 1e-6  # a coefficient so near to its bound, relatively, is at it
_LEAST_LIMIT = 10_000_000  # LIBSVM's limit of steps for up to 100,000 rows
SOLVERS = ("smo", "libsvm")
_MOST_FEATURES = 2**31 - 1  # of a file
_STORED = (  # the parameters in files
    "kernel",
    "C",
    "solver",
    "multiclass",
    "gamma",
    "sigma",
    "tol",
    "cache_mb",
    "max_iter",
    "probability",
)


@dataclass(eq=False, repr=False)
class KernelSVC(ProbabilisticClassifier):
    """Exact kernel SVM, on a Gram matrix.

    Use it for up to some ten thousand samples, kernels that are neither additive nor approximated,
    and as the reference for all approximations.

    Parameters
    ----------
    kernel : str, default="chi2"
        A kernel of :func:`kmaps.gram`, or ``"precomputed"``: ``fit`` then takes the (n, n) Gram
        matrix, and ``predict`` the (m, n) matrix of new rows and training rows.
    C
        As in :class:`CodedSVC`.
    solver : {"smo", "libsvm"}, default="smo"
        "smo" trains on the Gram matrix as it is, in single precision; "libsvm" is LIBSVM, which
        copies it. Both solve the same problems, in steps of the same kind, to the same tolerance.
    multiclass : {"ovo", "ovr"}, default="ovo"
        One-vs-one, where all other models have one-vs-rest: it is LIBSVM's choice, since the Gram
        matrix of a pair of classes is small.
    gamma : float, default=1.0
        Degree of homogeneity of an additive kernel.
    sigma : float or None, default=None
        Width of an ``exp-`` or ``rbf`` kernel; None learns it from the training rows.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance on the gradient.
    cache_mb : float, default=200
        Memory for kernel rows, in megabytes: LIBSVM's cache, or copied rows of the Gram matrix
        with some columns.
    max_iter : int or None, default=None
        Most steps, ≥ 1; each changes two coefficients. None is LIBSVM's compiled limit, ten million
        or 100 per row; with a number and ``solver="libsvm"``, scikit-learn's build of LIBSVM
        trains, on 8 bytes more per value of the Gram matrix.
    class_weight
        As in :class:`CodedSVC`.
    probability : True, {"temperature", "sigmoid", "isotonic"} or None, default=None
        As in :class:`CodedSVC`. A width that is learnt is learnt from all samples.
    random_state : int, RandomState or None, default=0
        Draws the folds of ``probability``.
    n_jobs : int or None, default=None
        Threads for the binary problems, each with ``cache_mb``. None: one for "libsvm", and for
        "smo" as many as `kmaps.threads` says; -1: one per processor.
    verbose
        As in :class:`CodedSVC`.

    Attributes
    ----------
    support_ : ndarray of intp, shape (s,)
        Training rows that are a support vector of at least one problem, ascending.
    support_vectors_ : ndarray or CSR, shape (s, d)
        The training rows of ``support_``; absent for a precomputed kernel.
    dual_coef_ : scipy.sparse.csc_array of float64, shape (s, P)
        Sparse, because a row takes part in K-1 pairs at most; float64, because the terms cancel
        (each column sums to zero).
    duality_gap_ : ndarray of float64, shape (P,)
        The relative duality gap of each problem; absent with ``solver="libsvm"``.
    classes_, intercept_, n_iter_, n_features_in_
        As in :class:`LiblinearSVC`, in float64; ``n_iter_`` has steps.
    sigma_ : float or None
        The width in use.
    timings_ : dict
        Seconds: ``gram_s``, ``convert_s`` (building LIBSVM's rows, or rows of single precision),
        ``train_s`` and ``probability_s``.
    gram_bytes_, copy_bytes_, model_bytes_ : int
        Bytes of the Gram matrix (0 where it was given), of a copy of it, and of the support vectors
        (for a precomputed kernel: of ``support_``), dual coefficients and intercepts.

    See Also
    --------
    KernelSVCCV : Chooses the width and C.
    CodedSVC : Additive kernels: the same model on 256 levels, for any number of samples.
    LandmarkSVC : Exponential kernels, approximated, for any number of samples.
    gram : The kernel matrices.

    Notes
    -----
    The Gram matrix takes 4 n² bytes, and LIBSVM's copy 16 n (n + 2); matrices that do not fit in
    memory are refused before the work begins. To fit several times on one matrix, or on subsets of
    its rows, pass the result of :meth:`prepare_rows`, or its ``take(subset)``, to ``fit``.

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
    solver: str = "smo"
    multiclass: str = "ovo"
    gamma: float = 1.0
    sigma: float | None = None
    tol: float = 1e-3
    cache_mb: float = 200.0
    max_iter: int | None = None
    class_weight: dict | str | None = None
    probability: str | bool | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    verbose: int = 0

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
        self, X: "ArrayLike | Rows", y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "KernelSVC":
        """Compute the Gram matrix and train one binary model per problem, as `CodedSVC.fit` does.

        X (n, d) is dense or CSR; for a precomputed kernel it is the (n, n) Gram matrix, or the rows
        that :meth:`prepare_rows` or, for LIBSVM, :func:`gram_rows` made of it. A learnt
        width counts every sample once. More samples than memory holds raise InputError.
        """
        from kmaps.svm.smo import GramRows  # other solvers do not need it

        check_kernel_solver(self)
        threads_of(self.n_jobs, 1)
        self.sigma_, self.timings_ = self.sigma, {"gram_s": 0.0, "convert_s": 0.0}
        self.gram_bytes_ = 0
        if isinstance(X, (GramRows, NodeRows)):
            rows, labels = X, self._check_converted(X, y, sample_weight)
        else:
            X, labels = self._check_training(X, y, sample_weight)
            if not self._precomputed:
                X = counting(X, labels)
                self._check_memory(X.shape[0])
            matrix = X if self._precomputed else self._timed("gram_s", self._training_gram, X)
            rows = self._timed("convert_s", self.prepare_rows, matrix)
            self.gram_bytes_ = 0 if self._precomputed else matrix.nbytes
            del matrix  # LIBSVM has a copy
        self.copy_bytes_ = rows.nbytes
        if self._precomputed:
            rows = counting(rows, labels)
        self._fit_probabilities(rows, labels)
        problems = list(self._problems(labels))
        self._least_factor = min(problem.factors.min() for problem in problems)
        support = self._timed("train_s", self._train, rows, problems)
        if not self._precomputed:
            # _check_converted has refused converted rows.
            self.support_vectors_ = cast("NDArray | sp.csr_array", X)[support]
        self.support_ = labels.places[support]
        self._count_bytes()
        return self

    def _check_memory(self, n_samples: int) -> None:
        """Refuse more samples than the memory holds a Gram matrix of."""
        check_memory(n_samples, NODE.itemsize if self.solver == "libsvm" else 0)

    def c_binds(self) -> bool:
        """Return whether a coefficient of the fitted model may be as large as C allows.

        If not, every larger C gives the same model.

        Returns
        -------
        bool
            Whether the largest coefficient reaches the least bound of a sample.
        """
        largest = np.abs(self.dual_coef_.data).max(initial=0.0)
        return bool(largest >= (1 - _AT_BOUND) * self.C * self._least_factor)

    def prepare_rows(self, matrix: NDArray) -> "Rows":
        """Return the rows of a Gram matrix (n, n) as `fit` trains on them, or on some of them.

        Parameters
        ----------
        matrix : ndarray, shape (n, n)
            The kernel of each training row with each training row.

        Returns
        -------
        GramRows or NodeRows
            NodeRows, LIBSVM's copy, where ``solver`` is "libsvm"; else GramRows. Either has a
            ``take``.
        """
        if self.solver == "libsvm":
            return gram_rows(matrix)
        from kmaps.svm.smo import GramRows

        return GramRows.of(matrix)

    def _check_converted(
        self, rows: "Rows", y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Labels:
        if not self._precomputed:
            raise ConfigError(
                f"kernel={self.kernel!r}: rows that were converted from a Gram matrix need "
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
                "each training row with each training row"
            )
        return X, labels

    def _training_gram(self, X: NDArray | sp.csr_array) -> NDArray:
        quick = self.solver == "smo"
        self.sigma_, matrix = training_gram(X, self.kernel, self.gamma, self.sigma, quick=quick)
        return matrix

    def _trainer(self, rows: "Rows") -> Callable[[BinaryProblem, int], SupportVectors]:
        options = {"C": self.C, "tol": self.tol, "cache_mb": self.cache_mb}
        if isinstance(rows, NodeRows):
            from kmaps.svm import libsvm

            return libsvm.trainer(rows, **options, max_iter=self.max_iter)
        from kmaps.svm import smo

        return smo.trainer(rows, **options)

    def _alternative(self) -> str:
        """Return the advice to take a model that solves the same problem at a large C."""
        if self.kernel in KERNELS:
            return "train kmaps.CodedSVC, whose time hardly depends on C, "
        if self.kernel in WIDTH_KERNELS:
            return "train kmaps.LandmarkSVC, whose time hardly depends on C, "
        return ""

    def _train(self, rows: "Rows", problems: list[BinaryProblem]) -> Places:
        """Train all models; return the rows that are a support vector of any."""
        train = self._trainer(rows)
        limits = [
            self.max_iter or max(_LEAST_LIMIT, 100 * len(problem.rows)) for problem in problems
        ]
        default = 1 if isinstance(rows, NodeRows) else num_threads()
        with threads(threads_of(self.n_jobs, default)):
            each = self._progress(len(problems)).counted(lambda k, _: train(problems[k], limits[k]))
            models = for_blocks(each, len(problems), 1)
        self.n_iter_ = np.array([model.steps for model in models])
        unfinished = int((self.n_iter_ >= limits).sum())
        if unfinished:
            gaps = [model.gap for model in models if model.gap is not None]
            reached = f", at a relative duality gap of up to {max(gaps):.1e}" if gaps else ""
            warnings.warn(
                f"the solver reached its limit of steps in {unfinished} of {len(models)} binary "
                f"problems{reached}: {self._alternative()}lower C (now {self.C:g}), or raise tol "
                f"(now {self.tol:g}) or max_iter (now {self.max_iter or 'its own'})",
                ConvergenceWarning,
                stacklevel=4,
            )
        if not isinstance(rows, NodeRows):
            self.duality_gap_ = np.array([model.gap for model in models])
        supports = [model.support for model in models]
        support, places = np.unique(np.concatenate(supports), return_inverse=True)
        starts = np.cumsum([0, *map(len, supports)])
        dual = np.concatenate([model.dual for model in models])
        parts = dual, places.astype(np.int32), starts.astype(np.int32)
        self.dual_coef_ = sp.csc_array(parts, shape=(len(support), len(models)))
        self.dual_coef_.sort_indices()
        self.intercept_ = np.array([model.intercept for model in models])
        return support

    def _count_bytes(self) -> None:
        stored = self.support_ if self._precomputed else self.support_vectors_
        self.model_bytes_ = _nbytes(stored) + _nbytes(self.dual_coef_) + self.intercept_.nbytes

    def _scores_of_others(
        self, rows: "Rows", y: NDArray, weights: Floats, train: Places, test: Places
    ) -> NDArray:
        """Train and score on the Gram matrix that there is."""
        training_rows: Any = rows.take(train)
        unseen: Any = rows.take(test)
        self.set_params(kernel="precomputed").fit(training_rows, y[train], weights[train])
        return self.decision_function(unseen.against(training_rows))

    def _score_width(self) -> int:
        return max(self.dual_coef_.shape)

    def _scores(self, X: Any) -> NDArray:
        if self._precomputed:
            block = X[:, self.support_]
        else:
            known, sigma = self.support_vectors_, self.sigma_
            make = gram if self.solver == "libsvm" or callable(self.kernel) else quick_gram
            block = make(X, known, kernel=self.kernel, gamma=self.gamma, sigma=sigma)
        return block @ self.dual_coef_ + self.intercept_

    def save(
        self, path: str | Path, *, force: bool = False, record: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to an ``.npz`` file: support vectors, coefficients and the width.

        The model of a precomputed kernel, which does not know its support vectors, or of a kernel
        of the user is refused (ConfigError).

        Parameters
        ----------
        path : str or Path
            Where the file is written.
        force : bool, default=False
            Whether an existing file is replaced; else it raises InputError.
        record : mapping of str to object, optional
            How the model was trained, in what JSON can hold, for `kmaps info`.
        """
        from kmaps.svm.model_file import matrix_arrays, write_model  # training does not need it

        check_is_fitted(self)
        if self.kernel not in GRAM_KERNELS:
            raise ConfigError(f"kernel={self.kernel!r}: only {', '.join(GRAM_KERNELS)} are saved")
        arrays = {
            "classes": self.classes_,
            "intercept": self.intercept_,
            "support": self.support_,
            **matrix_arrays("support_vectors", self.support_vectors_),
            **matrix_arrays("dual_coef", self.dual_coef_.T),
            **({} if self._probabilities is None else self._probabilities.arrays),
        }
        parameters = {name: getattr(self, name) for name in _STORED}
        fitted = {"n_features": self.n_features_in_, "sigma": self.sigma_}
        write_model(path, self, parameters, arrays, fitted=fitted, record=record, force=force)

    @classmethod
    def load(cls, path: str | Path) -> "KernelSVC":
        """Return a model that :meth:`save` wrote, ready to predict, as ``CodedSVC.load`` does.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        KernelSVC
            The fitted model.
        """
        from kmaps.svm.model_file import ModelFile

        return cls.from_file(ModelFile(path))

    @classmethod
    def from_file(cls, file: "ModelFile") -> "KernelSVC":
        """Return the model in an opened file, as :meth:`load` does.

        Parameters
        ----------
        file : ModelFile
            The opened file, whose content is checked as it is taken.

        Returns
        -------
        KernelSVC
            The fitted model.
        """
        from kmaps.svm.model_file import csr_or_dense, n_rows
        from kmaps.svm.reduction import count_problems, read_curves

        file.check_estimator(cls)
        sigma = file.fitted.get("sigma")
        parameters = file.checked_parameters(
            _STORED, lambda parameters: _check_stored(parameters, sigma)
        )
        model = cls(**file.parameters)
        model.sigma_ = None if sigma is None else float(sigma)
        model.classes_ = file.labels()
        model.n_features_in_ = file.whole("n_features", 1, _MOST_FEATURES)
        file.name_features(model)
        model._probabilities = read_curves(file, parameters, model.classes_)
        floats = np.float32, np.float64
        vectors = file.matrix("support_vectors", floats, (None, model.n_features_in_))
        n_vectors = n_rows(vectors)
        n_problems = count_problems(len(model.classes_), parameters.multiclass)
        dual = file.matrix("dual_coef", np.float64, (n_problems, n_vectors))
        model.support_vectors_ = csr_or_dense(vectors, model.n_features_in_)
        model.dual_coef_ = csr_or_dense(dual, n_vectors).T
        model.support_ = file.array("support", np.int64, (n_vectors,), 0)
        model.intercept_ = file.array("intercept", np.float64, (n_problems,))
        file.check_all_taken()
        model._count_bytes()
        return model


def check_kernel_solver(parameters: Any) -> None:
    """Refuse parameters of `KernelSVC` out of range, except the parameters of its kernel."""
    for name, value in (
        ("C", parameters.C),
        ("tol", parameters.tol),
        ("cache_mb", parameters.cache_mb),
    ):
        check_positive(name, value)
    check_choice("solver", parameters.solver, SOLVERS)
    check_whole("max_iter", parameters.max_iter, 1, or_none=True)
    if str(parameters.sigma) == "auto":
        raise ConfigError("sigma='auto': kmaps.KernelSVCCV chooses the width, with C")
    check_probability(parameters)


def _check_stored(parameters: Any, sigma: object) -> None:
    """Refuse parameters of a file, and a learnt width, that are out of range."""
    if parameters.sigma not in (None, sigma):
        raise ConfigError(f"sigma is {sigma!r}, expected the width that was trained with")
    check_kernel_solver(parameters)
    check_choice("multiclass", parameters.multiclass, REDUCTIONS)
    check_kernel(parameters.kernel, GRAM_KERNELS)
    check_positive("gamma", parameters.gamma)
    if parameters.kernel in ("linear", "rbf") and parameters.gamma != 1:
        raise ConfigError(f"kernel {parameters.kernel!r} has no gamma, got {parameters.gamma!r}")
    if parameters.kernel in WIDTH_KERNELS:
        check_positive("sigma", sigma)
    elif sigma is not None:
        raise ConfigError(
            f"kernel {parameters.kernel!r} has no sigma, only rbf and the exp- kernels do"
        )


def _nbytes(matrix: AnyMatrix) -> int:
    if sp.issparse(matrix):
        return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return matrix.nbytes
