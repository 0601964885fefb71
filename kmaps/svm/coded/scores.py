"""Scores of codes: one look-up a feature, for up to sixteen binary problems at a time."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import forms as loops
from kmaps._loops.vectors import aligned_zeros
from kmaps.parallel import for_blocks

_TOGETHER = 16  # problems in one vector
_KEPT = 1 << 28  # bytes of tables to keep; larger ones are made anew for each group of problems
_BLOCK_VALUES = 1 << 18


class ScoreTables:
    """What each code adds to the score of each binary problem.

    Parameters
    ----------
    basis : ndarray of float32, shape (1 or d, L, m), or None
        The functions that the weights belong to, on the levels; None: the weights are the values.
    weights : ndarray of float32, shape (P, d, m)
    """

    def __init__(self, basis: NDArray | None, weights: NDArray):
        self.basis = basis
        self.weights = weights
        n_problems, d, m = weights.shape
        self.n_levels = m if basis is None else basis.shape[1]
        self.nbytes = 4 * d * self.n_levels * n_problems
        self._groups = list(self._made()) if self.nbytes <= _KEPT else None

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

    def score(self, rows: loops.Rows) -> NDArray[np.float32]:
        """Return the scores of rows, (n, P), without intercepts.

        Codes that the rows leave out add nothing.
        """
        n = len(rows.bounds) - 1
        scores = np.empty((n, len(self.weights)), np.float32)
        per_row = max(1, len(rows.codes) // max(1, n))
        column = 0
        for table, lanes, width in self._groups or self._made():
            out = np.empty((n, lanes), np.float32)

            def block(
                start: int,
                stop: int,
                table: NDArray = table,
                lanes: int = lanes,
                out: NDArray = out,
            ) -> None:
                part = loops.Rows(rows.codes, rows.bounds[start : stop + 1], rows.features)
                size = self.n_levels * lanes
                flat = out[start:stop].reshape(-1)
                loops.look_up(part, table, size, (0,) * lanes, flat)

            for_blocks(block, n, max(1, _BLOCK_VALUES // per_row))
            scores[:, column : column + width] = out[:, :width]
            column += width
        return scores

    def _made(self) -> Iterator[tuple[NDArray[np.float32], int, int]]:
        """Yield the tables (d · L · lanes,) of each group of problems, and how many these are."""
        for start in range(0, len(self.weights), _TOGETHER):
            values = self.values(slice(start, start + _TOGETHER))
            width = values.shape[2]
            lanes = next(lanes for lanes in (1, 4, 8, 16) if width <= lanes)
            table = aligned_zeros(values.shape[0] * values.shape[1] * lanes)
            table.reshape(*values.shape[:2], lanes)[:, :, :width] = values
            yield table, lanes, width
