"""The arrays of a coded model for prediction: plain tables, which a file can hold.

The score of a sample x is baseline + Σ_j f_j(x_j): each feature has one function, with one value on
each level, for each column of scores.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmaps.checks import MAX_LEVELS
from kmaps.codes.codebook import Codebook
from kmaps.errors import ConfigError
from kmaps.matrices import issparse
from kmaps.svm.model_file import ModelFile
from kmaps.thread_pool import for_blocks

if TYPE_CHECKING:  # training and large data need compiled loops and scikit-learn
    from kmaps._loops.forms import CodeRows
    from kmaps.onnx_graph import Graph, Tensor
    from kmaps.svm.coded.training import Coder

_TOGETHER = 16  # problems in one vector
_MOST_PROBLEMS = 4096  # problems whose functions are summarised at once
KEPT_BYTES = 1 << 28  # of tables to keep; larger ones are made again for each group of problems
_BLOCK_VALUES = 1 << 16
_BLOCK_CODES, _MOST_BLOCKS = 1 << 22, 8


class ScoreTables:
    """Each code's part of the score of each binary problem, and its sums, in ``dtype``.

    The weights (P, d, m) belong to a basis (1 or d, L, m) on the levels; None: they are the values.
    The values are of single precision.
    """

    def __init__(self, basis: NDArray | None, weights: NDArray, dtype: DTypeLike = np.float32):
        self.basis = basis
        self.weights = weights
        self.dtype = np.dtype(dtype)
        n_problems, d, m = weights.shape
        self.n_levels = m if basis is None else basis.shape[1]
        self.nbytes = self.dtype.itemsize * d * self.n_levels * n_problems

    @cached_property
    def _kept(self) -> list[tuple[NDArray, int, int]]:
        return list(self._made())

    def values(self, problems: slice = slice(None)) -> NDArray[np.float32]:
        """Return the tables of some problems, (d, L, p)."""
        weights = self.weights[problems]
        if self.basis is None:
            return weights.transpose(1, 2, 0)
        if len(self.basis) > 1:
            return self.basis @ weights.transpose(1, 2, 0)
        p, d, m = weights.shape
        values = self.basis[0] @ weights.reshape(p * d, m).T
        return values.reshape(-1, p, d).transpose(2, 0, 1)

    def score(self, rows: "CodeRows") -> NDArray:
        """Return the scores of rows, (n, P), without intercepts.

        Codes that the rows leave out add nothing.
        """
        from kmaps._loops.forms import CodeRows, look_up

        n = len(rows.bounds) - 1
        scores = np.empty((n, len(self.weights)), self.dtype)
        per_row = max(1, len(rows.codes) // max(1, n))
        column = 0
        for table, lanes, width in self._kept if self.nbytes <= KEPT_BYTES else self._made():
            out = np.empty((n, lanes), self.dtype)

            def block(
                start: int,
                stop: int,
                table: NDArray = table,
                lanes: int = lanes,
                out: NDArray = out,
            ) -> None:
                block_rows = CodeRows(rows.codes, rows.bounds[start : stop + 1], rows.features)
                size = self.n_levels * lanes
                flat = out[start:stop].reshape(-1)
                look_up(block_rows, table, size, (0,) * lanes, flat)

            for_blocks(block, n, max(1, _BLOCK_VALUES // per_row))
            scores[:, column : column + width] = out[:, :width]
            column += width
        return scores

    def groups(self) -> Iterator[NDArray]:
        """Yield the tables (d, L, p) of each group of problems."""
        for start in range(0, len(self.weights), _TOGETHER):
            yield self.values(slice(start, start + _TOGETHER)).astype(self.dtype, copy=False)

    def _made(self) -> Iterator[tuple[NDArray, int, int]]:
        """Yield the tables (d · L · lanes,) of each group of problems, and how many these are."""
        from kmaps._loops.vectors import aligned_zeros

        for values in self.groups():
            width = values.shape[2]
            lanes = next(lanes for lanes in (1, 4, 8, 16) if width <= lanes)
            table = aligned_zeros(values.shape[0] * values.shape[1] * lanes, self.dtype)
            table.reshape(*values.shape[:2], lanes)[:, :, :width] = values
            yield table, lanes, width


@dataclass(frozen=True, eq=False)
class CodedModel:
    """Levels, the functions that weights belong to, weights."""

    levels: NDArray[np.float64]  # (1 or d, L)
    # (2, 1 or d): the range of the training values; None: samples are codes already
    ends: NDArray[np.float64] | None
    # (1 or d, L): the row of the tables that each code stands for, when some share one
    cells: NDArray[np.uint8] | None
    zero: NDArray[np.intp]  # (0,): A row of the tables that is zero for all features
    basis: NDArray[np.float32] | None  # (1 or d, rows, m)
    # (P, d, m): the function of feature j in problem p has the values ``basis[j] @ weights[p, j]``
    # on the rows of the tables; without a basis these are ``weights[p, j]``
    weights: NDArray[np.float32]
    intercept: NDArray[np.float64]  # (P,)
    # (P, 2): slope and shift that turn scores into log-odds
    calibration: NDArray[np.float64] | None
    # (P, d): the standard deviation of each function over the training samples
    importance: NDArray[np.float32]
    # The features without weight, each of a single value in the training samples; None: none
    unweighted: NDArray[np.intp] | None = None
    # Whether scores are summed in double precision: isotonic probabilities need it, being steep
    exact: bool = False

    @property
    def arrays(self) -> dict[str, NDArray]:
        """All there is, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: array for name, array in values.items() if isinstance(array, np.ndarray)}

    @classmethod
    def from_file(cls, file: ModelFile, n_problems: int) -> "CodedModel":
        """Return the model in a file, each of its arrays checked against the others.

        What else there is in the file was taken before. An array that is missing, unknown, or
        cannot belong to the others raises InputError.
        """
        weights = file.array("weights", np.float32, (n_problems, None, None))
        _, d, m = weights.shape
        basis = cells = None
        if "basis" in file:
            basis = file.array("basis", np.float32, ((1, d), None, m))
        n_rows = m if basis is None else basis.shape[1]
        levels = file.array("levels", np.float64, ((1, d), None))
        if "cells" in file:
            cells = file.array("cells", np.uint8, ((1, d), levels.shape[1]), 0, n_rows - 1)
        _check_levels(file, levels, cells, n_rows)
        model = cls(
            levels=levels,
            ends=_ends(file, len(levels)),
            cells=cells,
            zero=file.array("zero", np.intp, ((0, 1),), 0, n_rows - 1),
            basis=basis,
            weights=weights,
            intercept=file.array("intercept", np.float64, (n_problems,)),
            calibration=file.array("calibration", np.float64, (n_problems, 2))
            if "calibration" in file
            else None,
            importance=file.array("importance", np.float32, (n_problems, d), 0),
            unweighted=file.array("unweighted", np.intp, (None,), 0, d - 1)
            if "unweighted" in file
            else None,
            exact=file.parameters.get("probability") == "isotonic",
        )
        file.check_all_taken()
        return model

    @property
    def nbytes(self) -> int:
        """Size of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def n_rows(self) -> int:
        """Number of rows of the tables."""
        return self.weights.shape[2] if self.basis is None else self.basis.shape[1]

    @property
    def baseline(self) -> NDArray[np.float64]:
        """The scores (P,) of a sample to which no function adds anything."""
        if self.calibration is None:
            return self.intercept
        return self.intercept * self.calibration[:, 0] + self.calibration[:, 1]

    def values(
        self, features: NDArray[np.intp], problems: slice = slice(None)
    ) -> NDArray[np.float64]:
        """Return the table rows of some features as parts of the scores, (f, rows, P)."""
        values = self.weights[problems][:, features].transpose(1, 2, 0).astype(np.float64)
        if self.basis is not None:
            values = self.basis[features if len(self.basis) > 1 else slice(None)] @ values
        return values if self.calibration is None else values * self.calibration[problems, 0]

    @cached_property
    def book(self) -> Codebook | None:
        """The codebook that gives each value its code; None: samples are codes already."""
        if self.ends is None:
            return None
        low, high = self.ends
        return Codebook(self.levels, low, high, unweighted=self.unweighted)

    @cached_property
    def coder(self) -> "Coder":
        """The coder that turns samples into rows of the tables."""
        from kmaps.svm.coded.training import Coder

        return Coder(self.book, self.levels.shape[1], self.cells)

    @cached_property
    def tables(self) -> ScoreTables:
        """The tables of each code's part of the scores."""
        return ScoreTables(self.basis, self.weights, np.float64 if self.exact else np.float32)

    def scores(self, X: Any, owner: str = "CodedSVC") -> NDArray[np.float64]:
        """Return the scores (n, P) of validated samples; warnings name the class ``owner``."""
        from kmaps.svm.coded.training import rows_of

        return self.score_rows(rows_of(self.coder.encode(X, owner), self.zero))

    def graph_scores(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Return the scores (n, P) of samples in an ONNX graph."""
        book = self.book
        if book is None and x.dtype != np.uint8:
            raise ConfigError(f"dtype='{x.dtype}': was trained on codes; choose dtype='uint8'")
        codes = graph.cast(x, np.int64) if book is None else book.add_to_graph(graph, x)
        table = self._by_level(self.tables.values(), slice(None))
        values = graph.polynomials(codes, None, table[:, :, None])
        values = graph.cast(values, np.float64) if self.exact else values
        total = graph.cast(graph.node("ReduceSum", values, [1], keepdims=0), np.float64)
        scores = graph.node("Add", total, self.intercept)
        if self.calibration is None:
            return scores
        slope, shift = self.calibration.T
        return graph.node("Add", graph.node("Mul", scores, slope), shift)

    def _by_level(self, values: NDArray, features: Any) -> NDArray:
        """Return values of the levels of some features, (f, L, P), from values of table rows."""
        if self.cells is None:
            return values
        cells = self.cells[features] if len(self.cells) > 1 else self.cells
        return np.take_along_axis(values, cells[:, :, None].astype(np.intp), axis=1)

    def score_rows(self, rows: "CodeRows") -> NDArray[np.float64]:
        """Return the scores (n, P) of rows of the tables."""
        return self.finished(self.tables.score(rows))

    def finished(self, sums: NDArray) -> NDArray[np.float64]:
        """Return the scores (n, P) of sums of table values, which lack the intercepts."""
        scores = sums + self.intercept
        if self.calibration is None:
            return scores
        return scores * self.calibration[:, 0] + self.calibration[:, 1]


def _check_levels(
    file: ModelFile, levels: NDArray[np.float64], cells: NDArray[np.uint8] | None, n_rows: int
) -> None:
    """Refuse levels that no code can name, or whose codes have no row in the tables."""
    n_levels = levels.shape[1]
    if max(n_levels, n_rows) > MAX_LEVELS:
        raise file.damaged(f"{n_levels} levels, {n_rows} rows of tables, not at most {MAX_LEVELS}")
    if cells is None and n_rows != n_levels:
        raise file.damaged(f"{n_levels} levels, but {n_rows} rows of tables")
    if cells is not None and cells[:, 0].any():
        raise file.damaged("cells: the row of the first level is not the first")
    if (np.diff(levels) < 0).any():
        raise file.damaged("levels are not in ascending order")


def _ends(file: ModelFile, n_ranges: int) -> NDArray[np.float64] | None:
    if "ends" not in file:
        return None
    ends = file.array("ends", np.float64, (2, n_ranges))
    if (ends[0] > ends[1]).any():
        raise file.damaged("ends: the low end of a range is above the high end")
    return ends


class FeatureFunction(NamedTuple):
    """A feature's part of the scores, as a function. A value counts as the nearest level."""

    name: str
    levels: NDArray[np.float64]  # (l,), ascending
    values: NDArray[np.float64]  # (l, P): the part of a level in each column of scores


def code_counts(
    rows: "CodeRows",
    members: NDArray[np.intp],
    weights: NDArray[np.float64],
    shape: tuple[int, int],
    zero: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return how much weight each row of the tables of each feature has, of shape (d, rows)."""
    from kmaps._loops.codes import count_codes

    def block(start: int, stop: int) -> NDArray[np.float64]:
        own, counts = slice(start, stop), np.zeros(shape)
        count_codes(rows.codes, rows.bounds, rows.features, members[own], weights[own], counts)
        return counts

    n, n_codes = len(members), len(rows.codes) // max(1, len(rows.bounds) - 1) * len(members)
    # Independent of threads; each block has at least as many codes as rows of tables to count.
    n_blocks = min(max(1, n_codes // max(_BLOCK_CODES, shape[0] * shape[1])), _MOST_BLOCKS)
    counts: NDArray[np.float64] = sum(for_blocks(block, n, max(1, -(-n // n_blocks))))
    if rows.features is not None:  # omitted codes have the row that maps to zero
        omitted = weights.sum() - counts.sum(axis=1)
        counts[:, zero[0]] += np.maximum(omitted, 0)  # rounding leaves less than nothing
    return counts


def deviations(model: CodedModel, counts: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the standard deviation of each function by the weight of each row, (P, d)."""
    n_problems, d, _ = model.weights.shape
    total = counts[0].sum()
    spreads = np.empty((n_problems, d), np.float32)
    size = max(1, _BLOCK_VALUES // (model.n_rows * n_problems))
    for first, start in product(range(0, n_problems, _MOST_PROBLEMS), range(0, d, size)):
        some, features = slice(first, first + _MOST_PROBLEMS), slice(start, start + size)
        share, values = (
            counts[features, :, None] / total,
            model.values(np.arange(d)[features], some),
        )
        mean = (share * values).sum(axis=1, keepdims=True)
        spreads[some, features] = np.sqrt((share * (values - mean) ** 2).sum(axis=1)).T
    return spreads


def function_of(model: CodedModel, feature: int, name: str) -> FeatureFunction:
    """Return the function of a feature, on its levels."""
    levels = model.levels[feature if len(model.levels) > 1 else 0]
    rows = np.arange(len(levels))
    if model.cells is not None:
        rows = model.cells[feature if len(model.cells) > 1 else 0].astype(np.intp)
    different = np.r_[True, np.diff(levels) > 0]  # a feature with fewer levels repeats the last one
    values = model.values(np.array([feature]))[0][rows]
    return FeatureFunction(name, levels[different], values[different])


def level_numbers(model: CodedModel, X: Any, features: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which of its function's levels each value of some features counts as, (n, f)."""
    columns = X[:, features]
    columns = columns.toarray() if issparse(columns) else columns
    book = model.coder.book
    if book is None:
        return columns.astype(np.intp)
    codes = [book.codes(columns[:, [k]], features[[k]]) for k in range(len(features))]
    return np.hstack(codes).astype(np.intp)
