r"""Landmarks: Nyström's approximation of an exponential kernel by some samples.

With the kernel matrix :math:`K_{mm}` of m landmarks, the outputs of a sample x are

.. math::
    z(x) = R^{-\top} k(x), \qquad R^\top R = K_{mm} + \varepsilon I, \qquad
    k(x) = (k(x, l_1), \dots, k(x, l_m)),

with the upper Cholesky factor R. It is a square root of the matrix up to a rotation, so
:math:`z(x)^\top z(y) = k(x)^\top (K_{mm} + \varepsilon I)^{-1} k(y)`.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from kmaps._loops.outputs import STRIP, upper_product
from kmaps.array_api import in_double, is_foreign, like, namespace
from kmaps.checks import (
    check_choice,
    check_positive,
    check_room,
    check_seed,
    check_whole,
    room_for_rows,
)
from kmaps.errors import InputError
from kmaps.estimators import ClassNamePrefixFeaturesOutMixin
from kmaps.gram_matrix import gram, mean_squared_distance, quick_gram, squared_distance, width_of
from kmaps.gram_sums import byte_step
from kmaps.kernels import EXP_KERNELS, KERNELS, WIDTH_KERNELS, check_kernel
from kmaps.maps import FeatureMap
from kmaps.matrices import AnyMatrix, issparse
from kmaps.models.landmarks_graph import add_distances
from kmaps.sample_matrix import SampleMatrix
from kmaps.svm.learner import input_errors
from kmaps.thread_pool import for_blocks, threads
from kmaps.validation import validate_data

_BLOCK_ROWS = 512  # each with m kernel values at a time
_POOL = 20_000  # rows among which k-means and pivots look for landmarks; twice m, if that is more
_JITTER = 1e-6  # kernel matrices of float32 distances need it; ten times as much is tried next
_MOST_JITTER = 1e-2
_MOST_IN_SINGLE = 64  # a factor of kernel values
_PER_VALUE = 32  # bytes for each value of the kernel matrix during its root
_ROUNDS = 10  # in k-means
_DRAWN = 128  # candidates at a time
_MOST_CENTRES = 1 << 28  # values of centres
_INPUT: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


def exponential(squared: NDArray, sigma: float) -> NDArray:
    """Return exp(-D² / 2σ²), of the dtype of D²."""
    # Two divisions, because the square of a tiny sigma is zero.
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-(squared / squared.dtype.type(sigma) / squared.dtype.type(sigma) / 2))


def jittered_inverse_root(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return the inverse of the upper Cholesky factor of a matrix plus ε I, and ε.

    It is the least of 1e-6, 1e-5, … at which no pivot is below ε / 2: smaller ones are rounding.
    """
    jitter = _JITTER
    while jitter <= _MOST_JITTER:
        shifted = matrix + jitter * np.eye(len(matrix))
        root, failed = lapack.dpotrf(shifted, lower=0, clean=1, overwrite_a=1)
        if not failed and np.diagonal(root).min() ** 2 >= jitter / 2:
            inverse, _ = lapack.dtrtri(root, lower=0, overwrite_c=1)
            return inverse, jitter
        jitter *= 10
    raise InputError(
        f"the kernel is not positive definite on the landmarks, even with {_MOST_JITTER:g} added "
        "to the diagonal: scale the data, or give a smaller sigma"
    )


@dataclass(eq=False, repr=False)
class LandmarkMap(ClassNamePrefixFeaturesOutMixin, FeatureMap):
    r"""Approximate an exponential kernel by its values with m landmarks (Nyström's method).

    .. math::
        k(x, y) = e^{-D^2(x, y) / 2\sigma^2} \approx
        k(x)^\top (K_{mm} + \varepsilon I)^{-1} k(y)

    with the kernel values k(x) of x with the landmarks. It is exact where x or y is a landmark, and
    everywhere when all samples are. On Daimler and MNIST its models are more accurate than on as
    many random frequencies (:class:`kmaps.GeneralizedRBFMap`), which err less at narrow widths.

    Use it for exponential kernels where accuracy counts.

    See Williams and Seeger, Using the Nyström Method to Speed Up Kernel Machines, NIPS 2000; Chen,
    Epperly, Tropp and Webber, Randomly Pivoted Cholesky, 2023.

    Parameters
    ----------
    kernel : str, default="exp-chi2"
        "exp-chi2", "exp-intersection", "exp-js", "exp-hellinger" or "rbf", as in `kmaps.gram`.
    n_landmarks : int, default=1000
        m ≥ 1. If there are fewer samples, all are landmarks, with a warning.
    landmarks : {"kmeans", "uniform", "rpcholesky"}, default="kmeans"
        The centres of k-means, samples drawn at random, or samples drawn by their residuals from
        the earlier ones (randomly pivoted Cholesky). The first and the last look at 20,000 rows
        at most, or 2m. With exp-intersection the centres of bytes are bytes, rounded.
    sigma : float or None, default=None
        Width of the kernel, > 0. None: σ² is the mean squared distance D² between 1,000 rows.
    random_state : int, RandomState or None, default=0
        Draws the landmarks.

    Attributes
    ----------
    landmarks_ : ndarray or CSR, shape (m, d)
    sigma_ : float
        The width in use.
    whitening_ : ndarray of float64, shape (m, m)
        The inverse of R, upper triangular.
    jitter_ : float
        ε, 1e-6 unless the kernel matrix needs more.

    See Also
    --------
    LandmarkSVC : The model, with files.
    GeneralizedRBFMap : Random frequencies.
    NystroemMap : The additive kernels, feature by feature.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import LandmarkMap, gram
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> Z = LandmarkMap("exp-js", n_landmarks=50).fit_transform(X)
    >>> Z.shape, bool(np.abs(Z @ Z.T - gram(X, kernel="exp-js")).max() < 0.05)
    ((200, 50), True)
    """

    source = "Williams and Seeger, NIPS 2000"
    _accepts_sparse = True
    _preserved = ("float32",)

    kernel: str = "exp-chi2"
    n_landmarks: int = 1000
    landmarks: str = "kmeans"
    sigma: float | None = None
    random_state: int | RandomState | None = 0

    def check_alone(self) -> None:
        """Refuse parameters out of range."""
        check_kernel(self.kernel, WIDTH_KERNELS)
        check_whole("n_landmarks", self.n_landmarks, 1)
        check_choice("landmarks", self.landmarks, CHOICES)
        check_positive("sigma", self.sigma, ", or None to take it from the data", or_none=True)
        check_seed("random_state", self.random_state)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Take the landmarks, and the width unless it is given, from X (n, d), dense or CSR."""
        with input_errors():
            X = validate_data(self, X, array_api=True, **_INPUT)
        self.check_alone()
        self.sigma_ = mean_width(X, self.kernel) if self.sigma is None else float(self.sigma)
        n, m = X.shape[0], self.n_landmarks
        if m > n:
            warnings.warn(f"n_landmarks={m}: all of the {n} samples are landmarks", stacklevel=2)
        random, m = check_random_state(self.random_state), min(m, n)
        check_room(
            f"the kernel matrix of {m:,} landmarks takes",
            _PER_VALUE * m**2,
            lambda free: f"n_landmarks={int((free / _PER_VALUE) ** 0.5)} would fit",
        )
        with _pools().limit(limits=1):
            self.landmarks_ = X if m >= n else CHOICES[self.landmarks](self, X, m, random)
        self.__dict__.pop("_root", None)
        if self.jitter_ > _JITTER:  # a kernel that is not positive definite shows here
            warnings.warn(
                f"the kernel is not positive definite on the landmarks: {self.jitter_:g} was added "
                "to its diagonal (jitter_)",
                stacklevel=2,
            )
        return self

    def with_sigma(self, sigma: float) -> Self:
        """Return a copy with the same landmarks and another width.

        A number that is not positive and finite raises ConfigError.

        Parameters
        ----------
        sigma : float
            The width of the kernel, > 0, in the unit of the distance D.

        Returns
        -------
        LandmarkMap
            A fitted map, which shares ``landmarks_`` with this one.
        """
        check_is_fitted(self)
        check_positive("sigma", sigma)
        other = copy.copy(self)
        other.sigma_ = float(sigma)
        other.__dict__.pop("_root", None)
        return other

    def with_landmarks(self, landmarks: AnyMatrix, sigma: float) -> Self:
        """Return a fitted copy of the map with these landmarks and this width.

        Parameters
        ----------
        landmarks : ndarray or CSR, shape (m, d)
            The landmarks, which are taken as they are.
        sigma : float
            The width of the kernel, > 0.

        Returns
        -------
        LandmarkMap
            The fitted map; this one stays as it is.
        """
        fitted = copy.copy(self)
        fitted.landmarks_, fitted.sigma_ = landmarks, sigma
        fitted.n_features_in_ = landmarks.shape[1]
        return fitted

    @cached_property
    def _root(self) -> tuple[NDArray[np.float64], float, NDArray]:
        """The inverse of R, ε, and what outputs are made with: kernel values do not need them."""
        squared = squared_distance(self.landmarks_, kernel=self.kernel)
        own = exponential(squared.astype(np.float64), self.sigma_)
        with _pools().limit(limits=1, user_api="blas"):
            inverse, jitter = jittered_inverse_root(own)
        # Small pivots multiply rounding errors: those of single precision would exceed the errors
        # of kernel values.
        dtype = np.float32 if np.abs(inverse).max() <= _MOST_IN_SINGLE else np.float64
        return inverse, jitter, np.pad(inverse.astype(dtype), (0, -len(inverse) % STRIP))

    @property
    def whitening_(self) -> NDArray[np.float64]:
        """The inverse of R."""
        return self._root[0]

    @property
    def jitter_(self) -> float:
        """The number added to the diagonal."""
        return self._root[1]

    @property
    def n_outputs_(self) -> int:
        """Number of outputs of a row."""
        return self.landmarks_.shape[0]

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return the outputs of every row, shape (n, m), float32.

        An array of another library that scikit-learn dispatches is transformed there, in its dtype.
        """
        check_is_fitted(self)
        with input_errors():
            X = validate_data(self, X, reset=False, array_api=True, **_INPUT)
        if is_foreign(X):
            return self._transform_foreign(X)
        return self._blockwise(X.shape[0], lambda a, b: self.kernel_values(X[a:b]))

    def _transform_foreign(self, X: Any) -> Any:
        base, gamma = (
            ("hellinger", 2.0) if self.kernel == "rbf" else (EXP_KERNELS[self.kernel], 1.0)
        )
        # In double precision: distances are small differences of large terms.
        xp, x, columns = namespace(X), in_double(X), []
        for i in range(self.n_outputs_):  # one at a time, to take no more memory than the rows
            row = self.landmarks_[[i]]
            landmark = like(x, row.toarray() if issparse(row) else row)
            terms = xp.abs(x) ** gamma + xp.abs(landmark) ** gamma
            squared = xp.sum(terms - 2 * KERNELS[base](x, landmark, gamma), axis=1)
            columns.append(xp.exp(-squared / self.sigma_ / self.sigma_ / 2))
        return xp.astype(xp.stack(columns, axis=1) @ like(x, self.whitening_), X.dtype)

    def of_distances(self, squared: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the outputs of rows whose squared distances to the landmarks are known.

        Parameters
        ----------
        squared : ndarray of float32, shape (n, m)
            The squared distances D² of n rows to the landmarks.

        Returns
        -------
        ndarray of float32, shape (n, m)
            The outputs that :meth:`transform` has for these rows.
        """
        return self._blockwise(len(squared), lambda a, b: exponential(squared[a:b], self.sigma_))

    def kernel_values(self, X: Any) -> NDArray[np.float32]:
        """Return the kernel of rows with the landmarks.

        Parameters
        ----------
        X : ndarray or CSR, shape (n, d)
            Rows, of the features that the map was fitted on.

        Returns
        -------
        ndarray of float32, shape (n, m)
            The values k(x, l), from 0 to 1, of each row x with each landmark l.
        """
        return quick_gram(X, self.landmarks_, kernel=self.kernel, sigma=self.sigma_)

    def kernel_values_in(self, graph: Any, x: Any) -> Any:
        """Return :meth:`kernel_values` in an ONNX graph, which holds the landmarks.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`, to which nodes are added.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The kernel values (n, m), float64.
        """
        squared = add_distances(graph, x, self.landmarks_, self.kernel)
        narrowed = graph.node("Div", graph.node("Div", squared, -self.sigma_), 2 * self.sigma_)
        return graph.node("Exp", narrowed)

    def add_to_graph(self, graph: Any, x: Any) -> Any:
        """Add the map to an ONNX graph.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`, to which nodes are added.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The outputs (n, m) of :meth:`transform`, but float64.
        """
        return graph.node("MatMul", self.kernel_values_in(graph, x), self.whitening_)

    def _blockwise(self, n: int, values: Callable[[int, int], NDArray]) -> NDArray[np.float32]:
        """Whiten kernel values, some rows at a time."""
        m, whitening = self.n_outputs_, self._root[2]
        out = room_for_rows(n, m, np.float32)

        def fill(start: int, stop: int) -> None:
            block = np.zeros((stop - start, len(whitening)), whitening.dtype)
            with threads(1):
                block[:, :m] = values(start, stop)
            out[start:stop] = upper_product(block, whitening)[:, :m]

        # One thread of BLAS for each of ours: more threads slow each other down.
        with _pools().limit(limits=1, user_api="blas"):
            for_blocks(fill, n, _BLOCK_ROWS)
        return out

    @property
    def _n_features_out(self) -> int:
        return self.n_outputs_


def mean_width(X: AnyMatrix, kernel: str, gamma: float = 1.0, *, robust: bool = False) -> float:
    """Return the σ whose square is the mean squared distance between rows.

    ``robust`` leaves out a row that alone makes it much larger, as `mean_squared_distance` does.
    """
    return width_of(mean_squared_distance(X, kernel=kernel, gamma=gamma, robust=robust))


def _uniform(of: LandmarkMap, X: AnyMatrix, m: int, random: RandomState) -> AnyMatrix:
    return X[np.sort(random.choice(X.shape[0], m, replace=False))]


def _pool(X: AnyMatrix, m: int, random: RandomState) -> AnyMatrix:
    size = max(_POOL, 2 * m)
    return X if X.shape[0] <= size else X[np.sort(random.choice(X.shape[0], size, replace=False))]


def _centres(of: LandmarkMap, X: AnyMatrix, m: int, random: RandomState) -> AnyMatrix:
    from sklearn.cluster import KMeans

    if m * X.shape[1] > _MOST_CENTRES:
        raise InputError(
            f"the centres of k-means are dense, and {m:,} with {X.shape[1]:,} features do not fit "
            "into memory: choose landmarks='uniform'"
        )
    pool = _pool(X, m, random)
    if issparse(pool):
        n, d = pool.shape
        check_room(
            f"{n:,} rows of {d:,} features, among which k-means looks for landmarks, take",
            pool.dtype.itemsize * n * d,
            lambda free: "choose landmarks='uniform'",
        )
        # k-means rounds otherwise on sparse rows, and would find other centres.
        pool = pool.toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # warns of fewer than m different rows
        clusters = KMeans(m, init="random", n_init=1, max_iter=_ROUNDS, random_state=random)
        centers = clusters.fit(pool).cluster_centers_
    # Between bytes, distances of intersection are fast.
    step = byte_step(SampleMatrix.check(X, "X")) if of.kernel == "exp-intersection" else 0
    if step:
        centers = np.rint(centers / step) * step
    # K-means subtracts means and adds them again, which can make zeros negative.
    return centers if X.min() < 0 else np.maximum(centers, 0)


def _pivots(of: LandmarkMap, X: AnyMatrix, m: int, random: RandomState) -> AnyMatrix:
    """Draw rows by how much of their kernel is left, as the pivots of a Cholesky factorisation.

    Some are drawn at once, and accepted by their residuals from the earlier ones, so that they have
    the same distribution as if drawn one by one (Epperly, Tropp and Webber, 2024).
    """
    X = _pool(X, m, random)
    n, done = X.shape[0], 0

    def left_of(rows: Any, others: NDArray[np.intp]) -> NDArray[np.float64]:
        values = gram(X[rows], X[others], kernel=of.kernel, sigma=of.sigma_)
        return values - factor[rows, :done] @ factor[others, :done].T.astype(np.float64)

    left, factor, chosen = np.ones(n), np.zeros((n, m), np.float32), np.empty(m, np.intp)
    while done < m and left.sum() > _JITTER * n:
        drawn = random.choice(n, _DRAWN, p=left / left.sum())
        accepted = _accepted(left_of(drawn, drawn), random.random_sample(_DRAWN) * left[drawn])
        pivots = drawn[accepted][: m - done]
        columns = left_of(slice(None), pivots)
        columns = columns @ jittered_inverse_root(columns[pivots])[0]
        factor[:, done : done + len(pivots)] = columns
        left = np.maximum(left - (columns**2).sum(axis=1), 0)
        left[pivots] = 0
        chosen[done : done + len(pivots)] = pivots
        done += len(pivots)
    # If no row has a residual, copies of chosen rows fill the rest.
    chosen[done:] = random.permutation(np.setdiff1d(np.arange(n), chosen[:done]))[: m - done]
    return X[np.sort(chosen)]


def _accepted(residual: NDArray[np.float64], chances: NDArray[np.float64]) -> list[int]:
    """Return which candidates to take, of the kernel that is left between them."""
    accepted = []
    for i, chance in enumerate(chances):
        if residual[i, i] > max(chance, _JITTER):
            accepted.append(i)
            residual = residual - np.outer(residual[:, i], residual[i] / residual[i, i])
    return accepted


CHOICES = {"uniform": _uniform, "kmeans": _centres, "rpcholesky": _pivots}


@cache
def _pools() -> ThreadpoolController:
    return ThreadpoolController()
