"""Columns that spoil a model or that are no features, found while rows are read once.

A column that counts the rows, or that alone tells the classes apart, is reported. A value that is
far larger than all others of its column is refused, because levels, widths and weights follow it.
"""

from collections.abc import Sequence
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import LARGEST_RATIO, present, ratios_to_medians
from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, issparse

_LARGEST_COUNT = 2**52  # beyond, one more may be the same number
_LEAST_ROWS = 10  # fewer may count themselves by chance
_CHANCE = 1e-3  # that a column without any relation to the labels is reported
_SAMPLE_ROWS = 2000
_SAMPLE_BYTES = 16 << 20
_MOST_SPARSE_COLUMNS = 10_000  # of sparse rows, in which columns are looked at one by one
_MOST_RANGES = 10**7  # ranges of classes in columns
_MOST_CLASSES = 1000  # more are the numbers of a regression
_FEW_NAMES = 3
_FEW_ROWS = 3


class ColumnWatch:
    """What the columns of some rows show, block by block.

    Parameters
    ----------
    name : str
        What messages call the file.
    n_features : int
        Columns d.
    columns : sequence of str, optional
        Their names.
    keep_large : bool
        Whether values of any size are kept.
    """

    def __init__(
        self,
        name: str,
        n_features: int,
        columns: Sequence[str] | None = None,
        *,
        keep_large: bool = False,
    ) -> None:
        self._name = name
        self._names = columns
        self._keep_large = keep_large
        self._n_features = n_features
        self._n_rows = 0
        self._counting: NDArray[np.intp] | None = None
        self._first = np.empty(0)
        self._step: NDArray[np.float64] | None = None  # from row to row, from the second row on
        self._class_ranges = _ClassRanges(n_features)
        self._largest = np.zeros(n_features)
        self._largest_rows = np.zeros(n_features, np.int64)
        self._sample = _Sample(n_features)

    def add(self, X: AnyMatrix, y: NDArray | None) -> None:
        """Look at the next rows, an array or a CSR matrix, and their labels, if there are any.

        Parameters
        ----------
        X : ndarray or CSR matrix, shape (n, d)
            The next rows.
        y : ndarray, shape (n,), or None
            Their labels, if there are any.
        """
        n = X.shape[0]
        is_wide = issparse(X) and self._n_features > _MOST_SPARSE_COLUMNS
        if not is_wide:
            self._count(X)
            if y is not None:
                self._class_ranges.add(X, y)
        if not self._keep_large and (X.dtype.kind == "f" or X.dtype.itemsize > 2):
            self._measure(X)
            self._sample.add(X)
        self._n_rows += n

    def finish(self) -> list[str]:
        """Return a line about each kind of column that may be no feature.

        Returns
        -------
        list of str
            Without a newline; empty where every column is one.

        Raises
        ------
        InputError
            For the value that exceeds `LARGEST_RATIO` by the most, unless values of any size are
            kept.
        """
        self._check_large()
        lines = []
        counting = [] if self._counting is None else self._counting.tolist()
        if counting and self._n_rows >= _LEAST_ROWS:
            lines.append(f"{self._called(counting)} counts the rows: is it a feature?")
        perfect = [column for column in self._class_ranges.perfect() if column not in counting]
        if perfect:
            lines.append(
                f"{self._called(perfect)} alone tells all classes apart: is it the label, or "
                "something that is only known with it?"
            )
        return [f"{self._name}: {line}" for line in lines]

    def _called(self, columns: Sequence[int]) -> str:
        shown = [self._column(column) for column in columns[:_FEW_NAMES]]
        more = len(columns) - len(shown)
        names = ", ".join(shown) + f" and {more:,} more" * (more > 0)
        return f"each of {names}" if len(columns) > 1 else names

    def _column(self, column: int) -> str:
        named = "" if self._names is None else f" ({self._names[column]!r})"
        return f"column {column + 1} of the features{named}"

    def _count(self, X: AnyMatrix) -> None:
        """Keep the columns whose values change by the same whole number from row to row."""
        if self._counting is None:
            first = _dense(X[:1])[0].astype(float)
            self._counting = np.flatnonzero(np.abs(first) < _LARGEST_COUNT)
            self._first = first[self._counting]
        if len(self._counting) == 0:
            return
        rows = self._n_rows + np.arange(X.shape[0])
        if self._step is None and rows[-1] > 0:
            second = _columns_of(X[1 - self._n_rows : 2 - self._n_rows], self._counting)[0]
            step = second.astype(float) - self._first
            self._step = step
            self._stop_counting((step != 0) & (step % 1 == 0))
        if self._step is None or len(self._counting) == 0:
            return
        # Most columns stop counting within a few rows.
        few = _columns_of(X[:_FEW_ROWS], self._counting)
        self._stop_counting((few == self._counted(rows[: len(few)])).all(axis=0))
        if len(self._counting):
            values = _columns_of(X, self._counting)
            self._stop_counting((values == self._counted(rows)).all(axis=0))

    def _counted(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the values that the counting columns have in some rows, if they count on."""
        return self._first + present(self._step, "the step") * rows[:, None]

    def _stop_counting(self, goes_on: NDArray[np.bool_]) -> None:
        """Keep those of the counting columns that go on."""
        self._counting = present(self._counting, "the columns")[goes_on]
        self._first = self._first[goes_on]
        self._step = present(self._step, "the step")[goes_on]

    def _measure(self, X: AnyMatrix) -> None:
        """Keep the largest size of each column, and its row."""
        if issparse(X):
            sizes = np.abs(X.data.astype(float))
            largest = np.zeros(self._n_features)
            np.maximum.at(largest, X.indices, sizes)
            rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            are_new = (sizes == largest[X.indices]) & (sizes > self._largest[X.indices])
            self._largest_rows[X.indices[are_new]] = self._n_rows + rows[are_new]
            self._largest = np.maximum(self._largest, largest)
            return
        largest = np.maximum(X.max(axis=0).astype(float), -X.min(axis=0).astype(float))
        larger = np.flatnonzero(largest > self._largest)
        if len(larger):
            places = np.abs(X[:, larger].astype(float)).argmax(axis=0)
            self._largest_rows[larger] = self._n_rows + places
            self._largest[larger] = largest[larger]

    def _check_large(self) -> None:
        if self._keep_large or not self._n_rows:
            return
        medians = self._sample.medians()
        ratios = ratios_to_medians(self._largest, medians)
        column = int(ratios.argmax())
        if ratios[column] > LARGEST_RATIO:
            raise InputError(
                f"{self._name}: X[{self._largest_rows[column]}, {column}], in "
                f"{self._column(column)}, has the size {self._largest[column]:g}, more than 10⁶ "
                f"times the median size {medians[column]:g} of the column's non-zero values; is it "
                "a fill value? Replace it, leave the row out, or pass keep_large=True"
            )


class _ClassRanges:
    """The range of each class in each column, while no two classes overlap there."""

    def __init__(self, n_features: int) -> None:
        self._columns = np.arange(n_features)
        self._n_features = n_features
        self._places: dict[object, int] = {}
        self._counts: list[int] = []
        self._low = np.empty((0, n_features))
        self._high = np.empty((0, n_features))

    def add(self, X: AnyMatrix, y: NDArray) -> None:
        if not len(self._columns):
            return
        classes, members = np.unique(y, return_inverse=True)
        n_classes = len(self._places) + len(classes)
        if n_classes > _MOST_CLASSES or n_classes * len(self._columns) > _MOST_RANGES:
            self._columns = self._columns[:0]
            self._counts = []
            return
        for number, label in enumerate(classes.tolist()):
            rows = np.flatnonzero(members == number)
            low, high = _range(X[rows], self._columns)
            place = self._places.setdefault(label, len(self._places))
            if place == len(self._low):
                self._low = np.vstack([self._low, low])
                self._high = np.vstack([self._high, high])
                self._counts.append(len(rows))
            else:
                self._low[place] = np.minimum(self._low[place], low)
                self._high[place] = np.maximum(self._high[place], high)
                self._counts[place] += len(rows)
        order = np.argsort(self._low, axis=0)
        lows = np.take_along_axis(self._low, order, axis=0)
        highs = np.take_along_axis(self._high, order, axis=0)
        disjoint = (highs[:-1] < lows[1:]).all(axis=0)
        self._columns = self._columns[disjoint]
        self._low = self._low[:, disjoint]
        self._high = self._high[:, disjoint]

    def perfect(self) -> list[int]:
        """Return the columns that alone tell all classes apart, unless chance makes some."""
        n_classes, n = len(self._counts), sum(self._counts)
        if n_classes < 2:
            return []
        # Of the orders of the rows by a column, so many keep each class together.
        together = lgamma(n_classes + 1) + sum(lgamma(count + 1) for count in self._counts)
        if log(self._n_features) + together - lgamma(n + 1) > log(_CHANCE):
            return []
        return self._columns.tolist()


class _Sample:
    """Rows that are drawn so that each set is equally likely, for medians of columns."""

    def __init__(self, n_features: int) -> None:
        self._most = max(1, min(_SAMPLE_ROWS, _SAMPLE_BYTES // (8 * n_features)))
        self._rng = np.random.default_rng(0)
        self._draws = np.empty(0)
        self._rows: list[AnyMatrix] = []

    def add(self, X: AnyMatrix) -> None:
        draws = self._rng.random(X.shape[0])
        if len(self._draws) >= self._most:
            chosen = draws < self._draws.max()
        else:
            chosen = np.ones(len(draws), bool)
        if not chosen.any():
            return
        from kmaps.matrices import stacked

        rows = [*self._rows, X[np.flatnonzero(chosen)]]
        sample = stacked(rows) if len(rows) > 1 else rows[0]
        self._draws = np.concatenate([self._draws, draws[chosen]])
        if len(self._draws) > self._most:
            smallest = np.argpartition(self._draws, self._most)[: self._most]
            sample = sample[smallest]
            self._draws = self._draws[smallest]
        self._rows = [sample]

    def medians(self) -> NDArray[np.float64]:
        """Return the median size of each column's non-zero values; 0 where all are zero."""
        if not self._rows:
            return np.zeros(1)
        X: Any = self._rows[0]
        medians = np.zeros(X.shape[1])
        if issparse(X):
            by_column = X.tocsc()
            by_column.eliminate_zeros()
            for column in np.flatnonzero(np.diff(by_column.indptr)):
                first, last = by_column.indptr[column : column + 2]
                medians[column] = np.median(np.abs(by_column.data[first:last].astype(float)))
            return medians
        for column in range(X.shape[1]):
            sizes = np.abs(X[:, column].astype(float))
            sizes = sizes[sizes > 0]
            if len(sizes):
                medians[column] = np.median(sizes)
        return medians


def _dense(X: AnyMatrix) -> NDArray:
    return X.toarray() if issparse(X) else np.asarray(X)


def _columns_of(X: AnyMatrix, columns: NDArray[np.intp]) -> NDArray:
    """Return some columns as an array."""
    return _dense(X if len(columns) == X.shape[1] else X[:, columns])


def _range(X: AnyMatrix, columns: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
    """Return the smallest and the largest value of some columns."""
    chosen = X if len(columns) == X.shape[1] else X[:, columns]
    if issparse(chosen):
        return chosen.min(axis=0).toarray()[0], chosen.max(axis=0).toarray()[0]
    return chosen.min(axis=0), chosen.max(axis=0)
