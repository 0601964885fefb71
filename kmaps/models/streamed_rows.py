"""Samples whose outputs are never in memory: encoded again, some rows at a time, in every pass."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.maps.random_fourier import RandomFeatures

_CHUNK_VALUES = 1 << 24  # of outputs at a time: 64 MB


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Samples as blocks that a fitted map encodes: `RandomFeatureSVC` trains on them in blocks."""

    map: RandomFeatures  # fitted
    # returns all samples as blocks of rows, whenever it is called
    blocks: Callable[[], Iterable[Any]]
    n_rows: int  # of all blocks
    members: NDArray[np.intp] | None = None  # those of the rows that count, in order; None: all

    def __len__(self) -> int:
        return self.n_rows if self.members is None else len(self.members)

    @property
    def n_features(self) -> int:
        """Number of features of the samples."""
        return self.map.n_features_in_

    @property
    def nbytes(self) -> int:
        """What is in memory of the outputs between passes."""
        return 0

    def take(self, members: NDArray[np.intp]) -> "StreamedRows":
        """Return some of the samples."""
        return replace(self, members=members if self.members is None else self.members[members])

    def chunks(self) -> Iterator[tuple[NDArray[np.intp], NDArray]]:
        """Yield the outputs of some rows that count, and their places among these."""
        places = np.arange(self.n_rows)
        if self.members is not None:
            places[:] = -1
            places[self.members] = np.arange(len(self.members))
        size, start = max(1, _CHUNK_VALUES // (2 * self.map.n_frequencies)), 0
        for X in self.blocks():
            for first in range(0, X.shape[0], size):
                part = X[first : first + size]
                found = places[start + first : start + first + part.shape[0]]
                counts = found >= 0
                if counts.any():
                    yield found[counts], self.map.transform(part[counts])
            start += X.shape[0]
