"""The functions that a machine on codes is the sum of: one a feature, to be read and drawn.

The score of a sample x is baseline + Σ_j f_j(x_j), and f_j has one value on each level, for each
column of scores.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps._loops import code_rows as loops
from kmaps._loops.forms import Rows
from kmaps.parallel import for_blocks
from kmaps.svm.coded.model import CodedModel

_BLOCK_VALUES = 1 << 16
_BLOCK_CODES, _MOST_BLOCKS = 1 << 22, 8


class FeatureFunction(NamedTuple):
    """What one feature adds to the scores.

    Attributes
    ----------
    name : str
        Of the feature.
    levels : ndarray of float64, shape (l,)
        Ascending. A value of the feature counts as the nearest of them.
    values : ndarray of float64, shape (l, P)
        What a level adds to each column of scores.
    """

    name: str
    levels: NDArray[np.float64]
    values: NDArray[np.float64]


def importances(
    model: CodedModel, rows: Rows, members: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Return the standard deviation of each function over some rows with weights, (P, d)."""
    shape = model.weights.shape[1], model.n_rows
    return deviations(model, code_counts(rows, members, weights, shape, model.zero))


def code_counts(
    rows: Rows,
    members: NDArray[np.intp],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
    zero: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return how much weight each row of the tables of each feature has, of shape (d, rows)."""

    def block(start: int, stop: int) -> NDArray[np.float64]:
        own, counts = slice(start, stop), np.zeros(shape)
        loops.count_codes(
            rows.codes, rows.bounds, rows.features, members[own], weights[own], counts
        )
        return counts

    n, n_codes = len(members), len(rows.codes) // max(1, len(rows.bounds) - 1) * len(members)
    n_blocks = min(max(1, n_codes // _BLOCK_CODES), _MOST_BLOCKS)  # whatever the threads are
    counts: NDArray[np.float64] = np.sum(for_blocks(block, n, max(1, -(-n // n_blocks))), axis=0)
    if rows.features is not None:  # what is left out has the row that maps to zero
        counts[:, zero[0]] += weights.sum() - counts.sum(axis=1)
    return counts


def deviations(model: CodedModel, counts: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the standard deviation of each function by the weight of each row, (P, d)."""
    n_problems, d, _ = model.weights.shape
    total = counts[0].sum()
    found = np.empty((n_problems, d), np.float32)
    size = max(1, _BLOCK_VALUES // (model.n_rows * n_problems))
    for start in range(0, d, size):
        part = slice(start, start + size)
        share, values = counts[part, :, None] / total, model.values(np.arange(d)[part])
        mean = (share * values).sum(axis=1, keepdims=True)
        found[:, part] = np.sqrt((share * (values - mean) ** 2).sum(axis=1)).T
    return found


def function_of(model: CodedModel, feature: int, name: str) -> FeatureFunction:
    """Return the function of a feature, on its levels."""
    levels = model.levels[feature if len(model.levels) > 1 else 0]
    rows = np.arange(len(levels))
    if model.cells is not None:
        rows = model.cells[feature if len(model.cells) > 1 else 0].astype(np.intp)
    different = np.r_[True, np.diff(levels) > 0]  # a feature with fewer repeats its last
    values = model.values(np.array([feature]))[0][rows]
    return FeatureFunction(name, levels[different], values[different])


def level_numbers(model: CodedModel, X: Any, features: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which of its function's levels each value of some features counts as, (n, f)."""
    columns = X[:, features]
    columns = columns.toarray() if issparse(columns) else columns
    book = model.coder.book
    if book is None:
        return columns.astype(np.intp)
    found = [book.codes(columns[:, [k]], features[[k]]) for k in range(len(features))]
    return np.hstack(found).astype(np.intp)
