"""Samples as codes: the form in which they are trained on and scored."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from kmaps._loops import code_rows as loops
from kmaps._loops.forms import CodeRows
from kmaps.codes.codebook import Codebook
from kmaps.codes.table import check_codes
from kmaps.parallel import for_blocks
from kmaps.samples import AnyMatrix

_BLOCK_VALUES = 1 << 20
_TOGETHER = 1 << 22  # codes that are dense at a time, if they are to be listed
SPARSE = 1 / 3
"""Part of the codes below which they are listed: each takes three bytes then, or five."""


@dataclass(frozen=True)
class Coder:
    """From samples to the rows of the tables."""

    book: Codebook | None  # gives each value its code; None: samples are codes already
    n_levels: int
    # (1 or d, L): the row of the table that each code stands for, when some share one; None: row c.
    # Code 0 has row 0
    cells: NDArray[np.uint8] | None

    def encode(self, X: Any) -> NDArray[np.uint8] | csr_array:
        """Return the row of the table of every value (n, d); what a CSR leaves out has row 0."""
        if self.book is not None:
            codes = self.book.to_codes(X, "CodedSVC")
        else:
            check_codes(X, None, self.n_levels)
            codes = X if self.cells is None else X.copy()
        if self.cells is None:
            return codes
        if issparse(codes):
            loops.recode_stored(codes.data, codes.indices, self.cells)
        else:
            _in_blocks(loops.recode, codes, self.cells)
        return codes


def coded(coder: Coder, X: Any, zero: NDArray[np.intp]) -> CodeRows:
    """Return samples as the rows to train on; codes that are listed are never all there dense."""
    n, d = X.shape
    size = max(1, _TOGETHER // max(1, d))
    if issparse(X) or not len(zero) or n <= size:
        return rows_of(coder.encode(X), zero)
    spread = coder.encode(X[:: 8 * (n // size)])
    if rows_of(spread, zero).features is None:
        return rows_of(coder.encode(X), zero, sparse=0)
    parts = (coder.encode(X[start : start + size]) for start in range(0, n, size))
    return joined(rows_of(part, zero, np.inf) for part in parts)


def rows_of(codes: AnyMatrix, zero: NDArray[np.intp], sparse: float = SPARSE) -> CodeRows:
    """Return codes, dense or CSR, in the form for the compiled loops: listed, if most are ``zero``.

    That is a code (1,) that maps to zero for every feature; (0,): there is none. ``sparse`` is the
    part of others below which they are listed.
    """
    if issparse(codes):
        if list(zero) != [0] or sparse == 0:
            return rows_of(codes.toarray(), zero, sparse)
        features = codes.indices.astype(_feature_type(codes.shape[1]))
        return CodeRows(codes.data, codes.indptr.astype(np.int64), features)
    n, d = codes.shape
    if len(zero) and sparse:
        counts = np.empty(n, np.int64)
        _in_blocks(lambda part, out: loops.count_others(part, zero[0], out), codes, by_row=counts)
        if counts.sum() < sparse * codes.size:
            return _listed(codes, zero[0], counts)
    return CodeRows(np.ascontiguousarray(codes).reshape(-1), np.arange(n + 1) * d, None)


def _listed(codes: NDArray[np.uint8], zero: np.intp, counts: NDArray[np.int64]) -> CodeRows:
    bounds = np.concatenate([[0], np.cumsum(counts)])
    listed = np.empty(bounds[-1], np.uint8)
    features = np.empty(bounds[-1], _feature_type(codes.shape[1]))

    def block(start: int, stop: int) -> None:
        loops.list_others(codes[start:stop], zero, bounds[start : stop + 1], listed, features)

    for_blocks(block, len(codes), max(1, _BLOCK_VALUES // max(1, codes.shape[1])))
    return CodeRows(listed, bounds, features)


def joined(parts: Iterable[CodeRows]) -> CodeRows:
    """Return listed rows one after another; each part may go before the next one comes."""
    codes, bounds = np.empty(0, np.uint8), [np.zeros(1, np.int64)]
    features: NDArray | None = None
    for part in parts:
        assert part.features is not None  # they are listed
        if features is None:
            features = np.empty(0, part.features.dtype)
        filled = len(codes)
        for whole, own in ((codes, part.codes), (features, part.features)):
            # Large arrays grow by moving their pages, without a second copy.
            whole.resize(filled + len(own), refcheck=False)
            whole[filled:] = own
        bounds.append(filled + part.bounds[1:])
    return CodeRows(codes, np.concatenate(bounds), features)


def _feature_type(n_features: int) -> type:
    return np.uint16 if n_features <= 1 << 16 else np.uint32


def _in_blocks(
    function: Callable[..., None], codes: NDArray, *rest: NDArray, by_row: NDArray | None = None
) -> None:
    """Call a function on blocks of rows, in parallel."""

    def block(start: int, stop: int) -> None:
        own = () if by_row is None else (by_row[start:stop],)
        function(codes[start:stop], *rest, *own)

    for_blocks(block, len(codes), max(1, _BLOCK_VALUES // max(1, codes.shape[1])))
