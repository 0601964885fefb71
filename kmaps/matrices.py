"""Matrices of samples, dense (NumPy) or CSR (SciPy), in the types that compiled loops take.

SciPy is imported where it is needed: maps and models that get no sparse matrix do without.
"""

import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

AnyMatrix: TypeAlias = Any  # an ndarray or a sparse matrix of SciPy, which has no types


def issparse(X: object) -> bool:
    """Return whether X is a sparse matrix of SciPy, which is not imported to know it."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def row_blocks(X: Any, size: int) -> Iterator[Any]:
    """Yield ``size`` rows after the other, of any library or CSR."""
    for start in range(0, X.shape[0], size):
        yield X[start : min(start + size, X.shape[0]), :]


def stacked(blocks: list[AnyMatrix]) -> AnyMatrix:
    """Return arrays, or sparse matrices as CSR, one below the other."""
    if not issparse(blocks[0]):
        return np.concatenate(blocks)
    from scipy.sparse import vstack

    return vstack(blocks, "csr")


def as_float(X: NDArray) -> NDArray:
    """Return X as uint8, float32 or float64, converted without loss where there is a choice."""
    return X if X.dtype == np.uint8 else np.ascontiguousarray(X, float_type(X))


def float_type(X: AnyMatrix) -> type[np.floating]:
    """Return float32 where it holds every value of X's type, else float64."""
    return np.float32 if np.promote_types(X.dtype, np.float32) == np.float32 else np.float64


def read_only(array: NDArray) -> NDArray:
    """Return a view that cannot be written through, the type that loops are compiled for."""
    view = array.view()
    view.flags.writeable = False
    return view


def ratio_of_sizes(X: AnyMatrix) -> float | None:
    """Return the largest magnitude in X over the smallest but zero; None if they agree."""
    values = np.asarray(X.data if issparse(X) else X, float)
    magnitudes = np.abs(values[values != 0])
    if len(magnitudes) == 0 or magnitudes.max() == magnitudes.min():
        return None
    return float(magnitudes.max() / magnitudes.min())


def largest_column(X: AnyMatrix) -> int:
    """Return the number of the column with the largest magnitude."""
    sizes = abs(X).max(axis=0)
    return int((sizes.toarray().ravel() if issparse(sizes) else sizes).argmax())


def summed(X: AnyMatrix) -> AnyMatrix:
    """Return a CSR or CSC matrix without duplicate entries; the caller's is left alone."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def widened(X: AnyMatrix, data: NDArray, r: int) -> AnyMatrix:
    """Return the CSR matrix (n, d·r) with r values of ``data`` for each that X (n, d) stores."""
    shape = (X.shape[0], X.shape[1] * r)
    index = np.int32 if max(len(data), shape[1]) < 2**31 else np.int64
    indices = X.indices[:, None].astype(index) * r + np.arange(r, dtype=index)
    return type(X)((data, indices.ravel(), X.indptr.astype(index) * r), shape=shape)


def row_norms(X: AnyMatrix, power: float) -> NDArray[np.float64]:
    """Return the norm (Σ|x|^p)^(1/p) of each row of samples, and 1 for rows of zeros.

    Parameters
    ----------
    X : ndarray or CSR, shape (n, d)
        Floating-point values; powers are taken in their type, and summed in double precision.
    power : float
        p, above 0.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    values = X.data if issparse(X) else X
    powers = np.abs(values) if power == 1 else np.abs(values) ** np.float32(power)
    if issparse(X):
        # reduceat gives an empty row the next row's first value: hence the zeros below.
        sums = np.add.reduceat(np.append(powers, powers.dtype.type(0)), X.indptr[:-1], dtype=float)
        sums[np.diff(X.indptr) == 0] = 0
    else:
        sums = powers.sum(axis=1, dtype=np.float64)
    return np.where(sums > 0, sums, 1) ** (1 / power)
