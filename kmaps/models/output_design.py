"""Rows of a map's outputs as the features of Newton's method: products of matrices, by blocks."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kmaps.models.mapped_rows import MappedRows
from kmaps.svm.losses import Floats
from kmaps.svm.newton import COPY_NS, LARGE_NS

_BLOCK_VALUES = 1 << 20  # outputs that are in double precision at a time


class OutputDesign:
    """Some rows of outputs, which may be in a temporary file, as `kmaps.svm.newton.Design`."""

    def __init__(self, rows: MappedRows, members: NDArray[np.intp]):
        self.rows = rows
        self.members = members if rows.members is None else rows.members[members]
        self.n_weights = int(rows.map.n_outputs_)

    def scores(self, weights: Floats, places: NDArray[np.intp] | None = None) -> Floats:
        """Return w·φ(x_i) for some rows, or for all."""
        scores = np.empty(self._count(places))
        for block, outputs in self._blocks(places):
            scores[block] = outputs @ weights
        return scores

    def weighted_sum(self, factors: Floats, places: NDArray[np.intp] | None = None) -> Floats:
        """Return Σ factor_i φ(x_i) over some rows, or over all."""
        total = np.zeros(self.n_weights)
        for block, outputs in self._blocks(places):
            total += factors[block] @ outputs
        return total

    def second_moments(self, factors: Floats, places: NDArray[np.intp]) -> Floats:
        """Return Σ factor_i φ(x_i) φ(x_i)' over some rows."""
        moments = np.zeros((self.n_weights, self.n_weights))
        root = np.sqrt(factors)
        for block, outputs in self._blocks(places):
            outputs *= root[block, None]
            moments += outputs.T @ outputs
        return moments

    def moments_ns(self, n_rows: int) -> float:
        """Return about how long :meth:`second_moments` takes."""
        return n_rows * self.n_weights * (self.n_weights * LARGE_NS / 2 + COPY_NS)

    def expanded(self, places: NDArray[np.intp]) -> Floats:
        """Return the outputs of some rows."""
        return self.rows.outputs[self.members[places]].astype(np.float64)

    def block_places(self) -> list[NDArray[np.intp]]:
        """Return the weight of each output, (m, 1)."""
        return [np.arange(self.n_weights)[:, None]]

    def block_moments(self, factors: Floats, places: NDArray[np.intp]) -> list[Floats]:
        """Return the diagonal of :meth:`second_moments`, as blocks of one output, (m, 1, 1)."""
        diagonal = np.zeros(self.n_weights)
        for block, outputs in self._blocks(places):
            diagonal += factors[block] @ outputs**2
        return [diagonal.reshape(-1, 1, 1)]

    def _count(self, places: NDArray[np.intp] | None) -> int:
        return len(self.members) if places is None else len(places)

    def _blocks(self, places: NDArray[np.intp] | None) -> Iterator[tuple[slice, Floats]]:
        chosen = self.members if places is None else self.members[places]
        size = max(1, _BLOCK_VALUES // self.n_weights)
        for first in range(0, len(chosen), size):
            block = slice(first, first + size)
            yield block, self.rows.outputs[chosen[block]].astype(np.float64)
