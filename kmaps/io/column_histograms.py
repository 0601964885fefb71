"""Histograms of columns: which values training had, and how the values of new rows differ.

A column is cut into 256 equal steps between its ends in training. A model file keeps, of each
column, which of these levels training had, and the shares of its rows in at most 16 groups of
neighbouring levels that hold about as many rows each. New rows are compared with both. By chance
alone some new values have a level that no training row had, and no two samples have the same
histogram: what is expected by chance is subtracted.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.io.stream import Rows

N_LEVELS = 256
"""Equal steps between the ends of a column."""

N_GROUPS = 16
"""Groups of levels whose shares are compared: with more of them chance would hide a change."""

_BLOCK_VALUES = 1 << 20  # values that are counted at a time


class ColumnHistograms:
    """How many values of each column have each level.

    Parameters
    ----------
    low, high : ndarray of float64, shape (d,)
        The ends of each column in training; values beyond them have the level of the end.

    Examples
    --------
    >>> import numpy as np
    >>> histograms = ColumnHistograms(np.zeros(2), np.ones(2))
    >>> histograms.add(np.array([[0.0, 1.0], [0.0, 0.0]]))
    >>> histograms.counts[:, [0, 255]].tolist()
    [[2, 0], [1, 1]]
    """

    MOST_COLUMNS = 1000  # whose histograms a file keeps, in about 200 bytes each

    def __init__(self, low: NDArray, high: NDArray) -> None:
        self._low = low
        width = high - low
        # A column without a range has one level.
        self._steps = np.where(width > 0, (N_LEVELS - 1) / np.where(width > 0, width, 1), 0)
        self.counts = np.zeros((len(low), N_LEVELS), np.int64)

    def add(self, X: Rows) -> None:
        """Count the values of the next rows, in single precision.

        Parameters
        ----------
        X : ndarray or CSR, shape (n, d)
            The rows.
        """
        d = len(self._low)
        columns = np.arange(d)
        if issparse(X):
            self._count(X.data, X.indices)
            n_zeros = X.shape[0] - np.bincount(X.indices, minlength=d)
            zero_levels = self._levels(np.zeros(d), columns)
            self.counts[columns, zero_levels] += n_zeros
            return
        n_rows = max(1, _BLOCK_VALUES // max(1, d))
        for start in range(0, X.shape[0], n_rows):
            rows = X[start : start + n_rows]
            self._count(rows, np.broadcast_to(columns, rows.shape))

    def _count(self, values: NDArray, columns: NDArray) -> None:
        cells = columns * N_LEVELS + self._levels(values, columns)
        counts = np.bincount(cells.ravel(), minlength=self.counts.size)
        self.counts += counts.reshape(self.counts.shape)

    def _levels(self, values: NDArray, columns: NDArray) -> NDArray:
        with np.errstate(over="ignore", invalid="ignore"):  # infinity has the level of its end
            single = np.asarray(values, np.float32).astype(np.float64)
            place = np.rint((single - self._low[columns]) * self._steps[columns])
        return np.clip(np.nan_to_num(place), 0, N_LEVELS - 1).astype(np.intp)

    def as_json(self) -> dict[str, Any]:
        """Return what a model file keeps of the histograms of training.

        Returns
        -------
        dict
            ``seen``, of each column the levels that training had, as bits in hexadecimal;
            ``once``, how many levels one row had; ``ends``, the last level of each group; and
            ``counts``, the rows of each group.
        """
        content: dict[str, Any] = {"seen": [], "once": [], "ends": [], "counts": []}
        for counts in self.counts:
            content["seen"].append(np.packbits(counts > 0).tobytes().hex())
            content["once"].append(int((counts == 1).sum()))
            summed = np.cumsum(counts)
            goals = summed[-1] * np.arange(1, N_GROUPS + 1) / N_GROUPS
            ends = np.unique(np.searchsorted(summed, goals))
            ends[-1] = N_LEVELS - 1
            content["ends"].append(ends.tolist())
            content["counts"].append(_in_groups(counts, ends).tolist())
        return content


class TrainingHistograms:
    """The histograms of training, as a model file keeps them, that new rows are compared with.

    Parameters
    ----------
    content : dict
        What `ColumnHistograms.as_json` returned.
    n_columns : int
        The columns of the model.

    Raises
    ------
    ValueError
        When ``content`` is no such dictionary, or not of so many columns.
    """

    def __init__(self, content: Any, n_columns: int) -> None:
        try:
            bits = [np.frombuffer(bytes.fromhex(seen), np.uint8) for seen in content["seen"]]
            self._seen = np.array([np.unpackbits(of_column) for of_column in bits], bool)
            self._once = np.array(content["once"], np.int64)
            self._ends = [np.array(ends, np.intp) for ends in content["ends"]]
            self._counts = [np.array(counts, np.int64) for counts in content["counts"]]
        except (TypeError, KeyError, AttributeError, OverflowError) as error:
            raise ValueError(f"no histograms: {error}") from None
        lengths = {len(self._once), len(self._ends), len(self._counts), n_columns}
        are_sound = self._seen.shape == (n_columns, N_LEVELS) and lengths == {n_columns}
        if not are_sound or not all(map(_are_groups, self._ends, self._counts)):
            raise ValueError("the histograms do not fit the columns")

    def unseen(self, counts: NDArray) -> NDArray:
        """Return the share of each column's values whose level no training row had.

        The share that is expected by chance, of levels that one training row had (Good and
        Turing), is subtracted.

        Parameters
        ----------
        counts : ndarray of int64, shape (d, 256)
            The `ColumnHistograms.counts` of new rows.

        Returns
        -------
        ndarray of float64, shape (d,)
            Between 0 and 1.
        """
        n_rows = np.maximum(1, counts.sum(axis=1))
        shares = np.where(self._seen, 0, counts).sum(axis=1) / n_rows
        n_training = np.array([max(1, of_column.sum()) for of_column in self._counts])
        return np.maximum(0.0, shares - self._once / n_training)

    def distances(self, counts: NDArray) -> NDArray:
        """Return the total variation distance of each column's histogram to that of training.

        It is the share of rows that would have to change their group of levels. The distance that
        two samples of these sizes have by chance is subtracted: half the sum over groups of
        √(2 p (1 - p) (1/n + 1/m) / π).

        Parameters
        ----------
        counts : ndarray of int64, shape (d, 256)
            The `ColumnHistograms.counts` of new rows.

        Returns
        -------
        ndarray of float64, shape (d,)
            Between 0 and 1.
        """
        distances = np.zeros(len(counts))
        for j, (ends, training) in enumerate(zip(self._ends, self._counts, strict=True)):
            new = _in_groups(counts[j], ends)
            n_new = max(1, new.sum())
            n_training = max(1, training.sum())
            pooled = (new + training) / (n_new + n_training)
            deviations = np.sqrt(pooled * (1 - pooled) * (1 / n_new + 1 / n_training))
            by_chance = np.sqrt(2 / np.pi) * deviations.sum() / 2
            distance = np.abs(new / n_new - training / n_training).sum() / 2
            distances[j] = max(0.0, distance - by_chance)
        return distances


def _in_groups(counts: NDArray, ends: NDArray) -> NDArray:
    """Return the sums of the counts of levels over groups that end at some levels."""
    return np.diff(np.cumsum(counts)[ends], prepend=0)


def _are_groups(ends: NDArray, counts: NDArray) -> bool:
    """Return whether these are the ends of groups of levels, and their counts."""
    return bool(
        ends.ndim == counts.ndim == 1
        and len(ends) == len(counts) > 0
        and ends[0] >= 0
        and (np.diff(ends) > 0).all()
        and ends[-1] == N_LEVELS - 1
        and (counts >= 0).all()
    )
