"""What maps and codes ask of a matrix of samples: its columns, one at a time, and its range."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, issparse

from kmaps._loops.distinct import collect
from kmaps.errors import InputError


def as_float(X: NDArray) -> NDArray:
    """Return X as uint8, float32 or float64, converted without loss where there is a choice."""
    return X if X.dtype == np.uint8 else np.ascontiguousarray(X, float_type(X))


def float_type(X) -> type:
    """Return float32 where it holds every value of X's type, else float64."""
    return np.float32 if np.promote_types(X.dtype, np.float32) == np.float32 else np.float64


def summed(X):
    """Return a CSR or CSC matrix without duplicate entries; the caller's is left alone."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


class Columns:
    """The columns of a dense or CSR matrix; zeros that a CSR matrix does not store are values too.

    Attributes
    ----------
    low, high : ndarray (d,)
        The range of each column.
    """

    def __init__(self, X):
        self._X = summed(X.tocsc()) if issparse(X) else X
        self.n_rows, self.n_columns = X.shape
        ends = (self._X.min(axis=0), self._X.max(axis=0))
        self.low, self.high = (
            np.asarray(end.toarray() if issparse(end) else end, float).ravel() for end in ends
        )

    def one_range(self) -> bool:
        """Return whether there are columns that vary, each over the range that all values have."""
        same = (self.low == self.low.min()) & (self.high == self.high.max())
        varies = self.high > self.low
        return bool(varies.any() and same[varies].all())

    def distinct(self, j: int) -> tuple[NDArray, NDArray]:
        """Return the distinct values of column j, ascending, and how often each occurs."""
        if not issparse(self._X):
            values, counts = np.unique(self._X[:, j], return_counts=True)
            return values.astype(float), counts
        stored = self._X.data[self._X.indptr[j] : self._X.indptr[j + 1]]
        implicit = np.zeros(min(1, self.n_rows - len(stored)), stored.dtype)
        values, counts = np.unique(np.r_[stored, implicit], return_counts=True)
        if len(implicit):
            counts[np.searchsorted(values, 0)] += self.n_rows - len(stored) - 1
        return values.astype(float), counts

    def pooled(self) -> tuple[NDArray, NDArray]:
        """Return the distinct values of all columns and how often each occurs."""
        if not issparse(self._X):
            whole = Columns(self._X.reshape(-1, 1))
        else:
            stored, size = self._X.data, (self.n_rows * self.n_columns, 1)
            whole = Columns(csc_matrix((stored, np.arange(len(stored)), [0, len(stored)]), size))
        return whole.distinct(0)

    def few(self, most: int, j: int | None = None) -> NDArray | None:
        """Return the distinct values of column j, or of all, ascending; None if above ``most``.

        Gives up at the first value too many, so that it costs little where there are many.
        """
        X = self._X if j is None else self._X[:, j : j + 1]
        found, slots = np.empty(most + 1), np.full(4 << int(most).bit_length(), -1, np.int16)
        stored = X.data[None, :] if issparse(X) else X
        n_found = collect(stored, found, 0, slots)
        if issparse(X) and X.nnz < X.shape[0] * X.shape[1] and n_found <= most:
            n_found = collect(np.zeros((1, 1)), found, n_found, slots)
        return None if n_found > most else np.sort(found[:n_found])

    def has_zero(self) -> NDArray:
        """Return, for each column, whether one of its values is zero."""
        if issparse(self._X):
            return np.diff((self._X != 0).indptr) < self.n_rows
        return (self._X == 0).any(axis=0)


def refuse_not_finite(values: NDArray) -> None:
    """Raise InputError with the place of the first value that is not finite, if there is one."""
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"Input X contains NaN or infinity (the first at row {row}, column {column}): "
            "remove or impute it"
        )


def refuse_negative(values: NDArray, whom: str) -> None:
    """Raise InputError when there is a negative value."""
    if values.size and values.min() < 0:
        raise InputError(
            f"Negative values in data passed to {whom}: its kernel is one of histograms, shift the "
            "data or clip it at zero"
        )


def warn_outside(outside: int, total: int, whom: str, stacklevel: int) -> None:
    """Warn that values were clamped, if any were; ``stacklevel`` counts from here."""
    if outside:
        warnings.warn(
            f"{outside} of {total} values lie outside the range that {whom} was fitted on and "
            "were clamped to it",
            stacklevel=stacklevel,
        )
