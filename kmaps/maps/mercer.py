"""Kernel matrices of scalar points, one a feature, and their eigenvectors."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmaps.errors import ConfigError
from kmaps.kernels import get_kernel
from kmaps.parallel import for_blocks

ScalarKernel = Callable[[NDArray, NDArray], NDArray]

_BLOCK_VALUES = 1 << 20
_ROUNDING = 1e-8  # eigenvalues this far below zero, of the largest, are a kernel's own rounding


def scalar_kernel(kernel: str | ScalarKernel) -> ScalarKernel:
    """Return the kernel of that name, or the callable itself."""
    return kernel if callable(kernel) else get_kernel(kernel)


def eigensystems(
    kernel: str | ScalarKernel,
    points: NDArray,
    counts: NDArray,
    rank: Callable[[NDArray], NDArray],
) -> tuple[NDArray, NDArray]:
    """Decompose the kernel matrix of each feature's points.

    Parameters
    ----------
    kernel : str or callable
        ``kernel(x, y)``, elementwise on arrays.
    points : ndarray (f, N)
        Only the first ``counts[j]`` points of feature j are taken.
    counts : ndarray (f,)
    rank : callable
        ``rank(eigenvalues)`` returns how many to keep of each row of descending eigenvalues (b, N).

    Returns
    -------
    eigenvalues : ndarray (f, r)
        Descending; r is the largest rank, and zeros follow where a feature has a lower one.
    eigenvectors : ndarray (f, N, r)
        Column i belongs to eigenvalue i, its largest component is positive; zeros as above. A point
        with k(z, z) = 0 has zeros exactly.

    Raises
    ------
    ConfigError
        When the kernel is not symmetric, not finite, or has a negative eigenvalue.
    """
    k = scalar_kernel(kernel)
    name = kernel if isinstance(kernel, str) else getattr(kernel, "__name__", repr(kernel))

    def block(start: int, stop: int) -> tuple[NDArray, NDArray]:
        part, n_points = points[start:stop], counts[start:stop]
        matrices = _matrices(k, part, n_points, name)
        values, vectors = np.linalg.eigh(matrices)
        values, vectors = values[:, ::-1], vectors[:, :, ::-1]
        _refuse_indefinite(values, part, n_points, start, name)
        vectors = vectors * (np.diagonal(matrices, axis1=1, axis2=2) > 0)[:, :, None]
        kept = np.arange(values.shape[1]) < rank(np.maximum(values, 0))[:, None]
        r = max(1, int(kept.sum(axis=1).max()))
        values, vectors = (values * kept)[:, :r], (vectors * kept[:, None, :])[:, :, :r]
        largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None, :], axis=1)
        return values, vectors * np.where(largest < 0, -1, 1)

    n_points = points.shape[1]
    with threadpool_limits(1, user_api="blas"):  # threads within our own hinder each other
        blocks = for_blocks(block, len(points), max(1, _BLOCK_VALUES // n_points**2))
    r = max(values.shape[1] for values, _ in blocks)
    eigenvalues = np.zeros((len(points), r))
    eigenvectors = np.zeros((len(points), n_points, r))
    start = 0
    for values, vectors in blocks:
        stop = start + len(values)
        eigenvalues[start:stop, : values.shape[1]] = values
        eigenvectors[start:stop, :, : values.shape[1]] = vectors
        start = stop
    return eigenvalues, eigenvectors


def _matrices(k: ScalarKernel, points: NDArray, counts: NDArray, name: str) -> NDArray:
    """Return the kernel matrices (b, N, N); rows and columns beyond a feature's count are zero."""
    x, y = np.broadcast_arrays(points[:, :, None], points[:, None, :])
    try:
        matrices = np.asarray(k(x, y), float)
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"kernel {name}: failed on arrays ({error}): write k(x, y) elementwise, with NumPy"
        ) from None
    if matrices.shape != x.shape:
        raise ConfigError(
            f"kernel {name}: gave shape {matrices.shape} for arrays of shape {x.shape}: write "
            "k(x, y) elementwise"
        )
    if not np.isfinite(matrices).all():
        raise ConfigError(f"kernel {name}: gave a value that is not finite")
    if np.abs(matrices - matrices.swapaxes(1, 2)).max() > _ROUNDING * np.abs(matrices).max():
        raise ConfigError(f"kernel {name}: not symmetric, k(x, y) and k(y, x) differ")
    own = np.arange(points.shape[1]) < counts[:, None]
    return matrices * (own[:, :, None] & own[:, None, :])


def _refuse_indefinite(
    values: NDArray, points: NDArray, counts: NDArray, first: int, name: str
) -> None:
    excess = values[:, -1] + _ROUNDING * np.abs(values).max(axis=1)
    if (excess >= 0).all():
        return
    j = int(excess.argmin())
    low, high = points[j, 0], points[j, counts[j] - 1]
    raise ConfigError(
        f"kernel {name}: not positive semi-definite: its matrix on {counts[j]} points from "
        f"{low:.4g} to {high:.4g} (feature {first + j}) has the eigenvalue {values[j, -1]:.4g}, "
        f"its largest is {values[j, 0]:.4g}"
    )
