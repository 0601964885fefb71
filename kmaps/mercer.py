"""Scalar kernels, also user-defined ones: their matrices, and the check that they are kernels.

A Mercer kernel's matrix on any points has no negative eigenvalue: it is checked on the points that
are used, each time.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from kmaps.checks import check_room
from kmaps.errors import ConfigError
from kmaps.kernels import ScalarKernel, scalar_kernel
from kmaps.sample_matrix import SampleMatrix
from kmaps.thread_pool import for_blocks

_BLOCK_VALUES = 1 << 20
_PAIRS = 1 << 18  # pairs of values at a time, for a Gram matrix
_POINTS = 256  # values on which the kernel is checked for negative eigenvalues
_Rank = Callable[[NDArray], NDArray]  # takes the eigenvalues of some features
_ROUNDING = 1e-8  # part of the largest: eigenvalues this far below zero are rounding


class TableKernel:
    """A scalar kernel that is known only on some points; other values count as the nearest point.

    Ties go to the lower point. A negative eigenvalue is found where the kernel is used, as with
    functions.

    Use it for similarities of ordered values that are measured or made by hand.

    Parameters
    ----------
    points : array-like, shape (L,)
        Ascending, finite.
    values : array-like, shape (L, L)
        The kernel of each point with each point: symmetric, finite.

    See Also
    --------
    CodedSVC : Trains with it.
    ExactMap : The kernel's map.
    gram : The kernel matrix of samples.

    Examples
    --------
    Grades of which neighbours are alike:

    >>> import numpy as np
    >>> alike = TableKernel([1, 2, 3], [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    >>> alike(np.array([1.0, 1.0]), np.array([2.2, 9.0]))
    array([0.5, 0. ])
    """

    def __init__(self, points: "ArrayLike", values: "ArrayLike"):
        try:
            self.points = np.array(points, float)
            self.values = np.array(values, float)
        except (TypeError, ValueError):
            raise ConfigError("TableKernel: points and values must be numbers") from None
        n = len(self.points) if self.points.ndim == 1 else 0
        if n == 0 or self.values.shape != (n, n):
            raise ConfigError(
                f"TableKernel: points of shape {self.points.shape} and values of shape "
                f"{self.values.shape}: expected (L,) and (L, L)"
            )
        if not (np.isfinite(self.points).all() and (np.diff(self.points) > 0).all()):
            raise ConfigError("TableKernel: points must be finite and ascending")
        if not (np.isfinite(self.values).all() and (self.values == self.values.T).all()):
            raise ConfigError("TableKernel: values must be finite and symmetric")
        self._edges = self.points[:-1] / 2 + self.points[1:] / 2

    def __call__(self, x: NDArray, y: NDArray) -> NDArray:
        """Return the kernel of the points nearest to x and to y (broadcast)."""
        return self.values[np.searchsorted(self._edges, x), np.searchsorted(self._edges, y)]


def kernel_name(kernel: object) -> str:
    """Return the name of a kernel in errors and files."""
    if isinstance(kernel, str):
        return kernel
    return str(getattr(kernel, "__name__", type(kernel).__name__))


def check_mercer(kernel: ScalarKernel, points: NDArray) -> NDArray[np.float64]:
    """Return the matrix of a kernel on points (L,); refuse a kernel that is none there."""
    name = kernel_name(kernel)
    counts = np.array([len(points)])
    matrices = _matrices(kernel, points[None], counts, name)
    with threadpool_limits(1, user_api="blas"):
        values = np.linalg.eigvalsh(matrices)[:, ::-1]
    _refuse_indefinite(values, points[None], counts, name)
    return (matrices[0] + matrices[0].T) / 2


def eigensystems(
    kernel: str | ScalarKernel, points: NDArray, counts: NDArray, rank: _Rank, more: int = 0
) -> tuple[NDArray, NDArray]:
    """Decompose the kernel matrix of each feature's points (f, N), the first ``counts[j]`` of them.

    Of each row of descending eigenvalues (b, N) ``rank(eigenvalues)`` are kept, zeros after them;
    each eigenvector has a positive largest component, and zeros for a point with k(z, z) = 0. There
    must be room for them twice, and for ``more`` bytes for each of them.
    """
    k = scalar_kernel(kernel)
    name = kernel_name(kernel)
    sizes = points[:, -1:]
    shapes = points / np.where(sizes > 0, sizes, 1)
    widest = sizes.argmax()
    # On multiples of the same points, an additive kernel has the same eigenvectors.
    multiples = np.isclose(shapes, shapes[widest], 1e-14, 0) | (sizes == 0)
    alike = isinstance(kernel, str) and multiples.all()
    different = np.array([widest]) if alike else np.arange(len(points))

    def block(start: int, stop: int) -> tuple[NDArray, NDArray]:
        block_points = points[different[start:stop]]
        n_used = counts[different[start:stop]]
        matrices = _matrices(k, block_points, n_used, name)
        values, vectors = np.linalg.eigh(matrices)
        values = values[:, ::-1]
        vectors = vectors[:, :, ::-1]
        _refuse_indefinite(values, block_points, n_used, name, start)
        vectors = vectors * (np.diagonal(matrices, axis1=1, axis2=2) > 0)[:, :, None]
        in_rank = np.arange(values.shape[1]) < rank(np.maximum(values, 0))[:, None]
        r = max(1, int(in_rank.sum(axis=1).max()))
        check_room(
            f"tables of {len(points):,} features, {n_points:,} points and {r:,} outputs each, take",
            r * (each * len(points) - 8 * n_points * start),  # less what is already there
            lambda free: f"{free // (each * r):,} features fit, or use fewer points",
        )
        values = (values * in_rank)[:, :r]
        vectors = (vectors * in_rank[:, None, :])[:, :, :r]
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None, :], axis=1)
        return values, vectors * np.where(largest < 0, -1, 1)

    n_points = points.shape[1]
    each = 16 * n_points + more
    with threadpool_limits(1, user_api="blas"):  # BLAS's threads within ours slow each other down
        size = max(1, _BLOCK_VALUES // n_points**2)
        blocks = for_blocks(block, len(different), size, "features decomposed")
    if alike:
        values, vectors = blocks[0]
        values = sizes / (sizes[widest] or 1) * values
        return values, np.repeat(vectors, len(points), axis=0)
    r = max(values.shape[1] for values, _ in blocks)
    eigenvalues = np.zeros((len(points), r))
    eigenvectors = np.zeros((len(points), n_points, r))
    for start, (values, vectors) in zip(range(0, len(points), size), blocks, strict=True):
        eigenvalues[start : start + size, : values.shape[1]] = values
        eigenvectors[start : start + size, :, : values.shape[1]] = vectors
    return eigenvalues, eigenvectors


def _matrices(k: ScalarKernel, points: NDArray, counts: NDArray, name: str) -> NDArray:
    """Return the kernel matrices (b, N, N); rows and columns beyond a feature's count are zero."""
    x, y = np.broadcast_arrays(points[:, :, None], points[:, None, :])
    try:
        matrices = np.asarray(k(x, y), float)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"kernel {name}: it failed on arrays ({error}): write k(x, y) elementwise, with NumPy"
        ) from None
    if matrices.shape != x.shape:
        raise ConfigError(
            f"kernel {name}: it gave shape {matrices.shape} for arrays of shape {x.shape}: write "
            "k(x, y) elementwise"
        )
    if not np.isfinite(matrices).all():
        raise ConfigError(f"kernel {name}: it gave a value that is not finite")
    if np.abs(matrices - matrices.swapaxes(1, 2)).max() > _ROUNDING * np.abs(matrices).max():
        raise ConfigError(f"kernel {name}: it is not symmetric, k(x, y) and k(y, x) differ")
    used = np.arange(points.shape[1]) < counts[:, None]
    return matrices * (used[:, :, None] & used[:, None, :])


def _refuse_indefinite(
    values: NDArray, points: NDArray, counts: NDArray, name: str, first: int | None = None
) -> None:
    """Refuse negative eigenvalues; ``first`` is the feature of the first row of points, if any."""
    excess = values[:, -1] + _ROUNDING * np.abs(values).max(axis=1)
    if (excess >= 0).all():
        return
    j = int(excess.argmin())
    low = points[j, 0]
    high = points[j, counts[j] - 1]
    where = "" if first is None else f" (feature {first + j})"
    raise ConfigError(
        f"kernel {name}: it is not positive semi-definite: its matrix on {counts[j]} points from "
        f"{low:.4g} to {high:.4g}{where} has the eigenvalue {values[j, -1]:.4g}, "
        f"and the largest is {values[j, 0]:.4g}"
    )


def user_gram(
    kernel: ScalarKernel, X: SampleMatrix, Y: SampleMatrix | None, sigma: float | None
) -> NDArray[np.float32]:
    r"""Return :math:`K(x, y) = \sum_j k(x_j, y_j)`, or with sigma its exponential form (n, m)."""
    rows = _dense(X)
    columns = rows if Y is None else _dense(Y)
    check_mercer(kernel, _spread(rows, columns))
    out = np.empty((len(rows), len(columns)), np.float32)
    diagonals = [np.asarray(kernel(Z, Z), float).sum(axis=1) for Z in (rows, columns)]

    def fill(start: int, stop: int) -> None:
        sums = np.zeros((stop - start, len(columns)))
        for j in range(rows.shape[1]):
            sums += kernel(rows[start:stop, j, None], columns[None, :, j])
        if sigma is not None:
            squared = np.maximum(diagonals[0][start:stop, None] + diagonals[1] - 2 * sums, 0)
            sums = np.exp(-squared / sigma / sigma / 2)
        out[start:stop] = sums

    for_blocks(fill, len(rows), max(1, _PAIRS // len(columns)))
    return out


def _dense(X: SampleMatrix) -> NDArray[np.float64]:
    """Return the samples as a dense matrix in double precision."""
    matrix = X.matrix.toarray() if sparse.issparse(X.matrix) else X.matrix
    return matrix.astype(np.float64)


def _spread(*arrays: NDArray) -> NDArray[np.float64]:
    """Return some of the values, from the least to the largest."""
    values = np.unique(np.concatenate([array.ravel() for array in arrays]))
    places = np.linspace(0, len(values) - 1, min(len(values), _POINTS)).astype(int)
    return values[places]
