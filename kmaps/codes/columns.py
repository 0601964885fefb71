"""What maps and codes ask of a matrix of samples: its columns, one at a time, and its range."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, issparse

from kmaps._loops.distinct import collect, empty_table, widen
from kmaps.checks import refuse_not_finite
from kmaps.errors import InputError
from kmaps.samples import AnyMatrix, read_only, summed


class Columns:
    """The columns of a dense or CSR matrix; zeros that a CSR matrix does not store are values too.

    Attributes
    ----------
    low, high : ndarray (d,)
        The range of each column.
    """

    def __init__(self, X: AnyMatrix) -> None:
        # Compiled loops know the processor's byte order only.
        native = X.astype(X.dtype.newbyteorder("="), copy=False)
        self._X = summed(native.tocsc()) if issparse(X) else native
        self.n_rows, self.n_columns = X.shape
        self.low, self.high = (end.astype(float) for end in _ends(self._X))

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
        found, table = np.empty(most + 1), empty_table(most)
        stored = X.data[None, :] if issparse(X) else X
        n_found = collect(stored, found, 0, table)
        if issparse(X) and X.nnz < X.shape[0] * X.shape[1] and n_found <= most:
            n_found = collect(np.zeros((1, 1)), found, n_found, table)
        return None if n_found > most else np.sort(found[:n_found])

    def has_zero(self) -> NDArray:
        """Return, for each column, whether one of its values is zero."""
        if issparse(self._X):
            return np.diff((self._X != 0).indptr) < self.n_rows
        return (self._X == 0).any(axis=0)


def _ends(X: AnyMatrix) -> tuple[NDArray, NDArray]:
    """Return the least and the largest value of each column."""
    if issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    if X.flags.f_contiguous or not X.flags.c_contiguous:  # the loop goes along rows
        return X.min(axis=0), X.max(axis=0)
    low, high = X[0].copy(), X[0].copy()
    widen(read_only(X), low, high)
    return low, high


class RunningColumns:
    """What `choose_levels` asks of columns, of samples that come in blocks.

    Parameters
    ----------
    most : int
        Distinct values of all columns up to which they are kept.
    """

    def __init__(self, most: int):
        self.most = most
        self._values: NDArray | None = np.empty(0)
        self.n_rows = self.n_columns = self.n_nonzero = 0

    def add(self, X: AnyMatrix) -> None:
        """Take the next samples into account."""
        if self.n_rows and X.shape[1] != self.n_columns:
            raise InputError(f"a block of {X.shape[1]} features after one of {self.n_columns}")
        columns = Columns(X)
        low, high, zero = columns.low, columns.high, columns.has_zero()
        if not np.isfinite([low, high]).all():
            refuse_not_finite(X.toarray() if issparse(X) else X)
        if not self.n_rows:
            self.n_columns, self.low, self.high, self._zero = X.shape[1], low, high, zero
        self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
        self._zero = self._zero | zero
        self.n_rows += X.shape[0]
        self.n_nonzero += X.count_nonzero() if issparse(X) else int(np.count_nonzero(X))
        if self._values is not None:
            self._take_values(columns.few(self.most))

    def merge(self, other: "RunningColumns") -> None:
        """Take into account what another one knows, with the same ``most``, of other samples."""
        if not other.n_rows:
            return
        if not self.n_rows:
            self.__dict__.update(other.__dict__)
            return
        if other.n_columns != self.n_columns:
            raise InputError(f"a block of {other.n_columns} features after one of {self.n_columns}")
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self._zero = self._zero | other._zero
        self.n_rows += other.n_rows
        self.n_nonzero += other.n_nonzero
        self._take_values(other._values)

    def _take_values(self, found: NDArray | None) -> None:
        if self._values is not None:
            together = None if found is None else np.union1d(self._values, found)
            self._values = None if together is None or len(together) > self.most else together

    def few(self, most: int) -> NDArray | None:
        """Return the distinct values of all columns, ascending; None if they are more."""
        return self._values

    def has_zero(self) -> NDArray:
        """Return, for each column, whether one of its values is zero."""
        return self._zero
