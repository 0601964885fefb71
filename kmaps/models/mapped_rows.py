"""Samples as the outputs of a map of all features: in memory, or encoded again in every pass."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.samples import check_array
from kmaps.svm.learner import input_errors
from kmaps.svm.losses import MAX_FEATURES

MOST_VALUES = 1 << 28  # outputs of all rows that memory holds: 1 GB
_CHUNK_VALUES = 1 << 24  # outputs of rows that are encoded in every pass, at a time: 64 MB


RowMap: TypeAlias = Any  # with ``n_outputs_`` once fitted: `RandomFeatures`, `LandmarkMap`


@dataclass(frozen=True, eq=False)
class _Rows:
    """Samples that a fitted map encodes, or some of them: models on a map train on these."""

    map: RowMap
    n_rows: int  # of all samples
    members: NDArray[np.intp] | None  # the rows that count, in order; None: all

    def __len__(self) -> int:
        return self.n_rows if self.members is None else len(self.members)

    @property
    def n_features(self) -> int:
        """Number of features of the samples."""
        return self.map.n_features_in_

    def take(self, members: NDArray[np.intp]) -> Self:
        """Return some of the samples; the outputs are not copied."""
        return replace(self, members=members if self.members is None else self.members[members])


@dataclass(frozen=True, eq=False)
class MappedRows(_Rows):
    """Samples as outputs (n_rows, 2m) in memory."""

    outputs: NDArray

    @property
    def nbytes(self) -> int:
        """The bytes of the outputs in memory."""
        return self.outputs.nbytes

    def matrix(self) -> NDArray:
        """Return the outputs of the rows that count; a copy unless these are all."""
        return self.outputs if self.members is None else self.outputs[self.members]

    def chunks(self) -> Iterator[tuple[NDArray[np.intp], NDArray]]:
        """Yield the outputs of some rows that count, and their places among these."""
        outputs, size = self.matrix(), _chunk_rows(self.map)
        for start in range(0, len(self), size):
            part = outputs[start : start + size]
            yield np.arange(start, start + len(part)), part


@dataclass(frozen=True, eq=False)
class StreamedRows(_Rows):
    """Samples that ``blocks()`` returns, whenever it is called, as blocks of rows."""

    blocks: Callable[[], Iterable[Any]]
    nbytes = 0  # of the outputs in memory between passes

    def chunks(self) -> Iterator[tuple[NDArray[np.intp], NDArray]]:
        """Yield the outputs of some rows that count, and their places among these."""
        places = np.arange(self.n_rows)
        if self.members is not None:
            places[:] = -1
            places[self.members] = np.arange(len(self.members))
        size, start = _chunk_rows(self.map), 0
        for X in self.blocks():
            for first in range(0, X.shape[0], size):
                part = X[first : first + size]
                found = places[start + first : start + first + part.shape[0]]
                counts = found >= 0
                if counts.any():
                    yield found[counts], self.map.transform(part[counts])
            start += X.shape[0]


def _chunk_rows(row_map: RowMap) -> int:
    return max(1, _CHUNK_VALUES // row_map.n_outputs_)


def map_rows(
    row_map: RowMap, sample: Any, blocks: Callable[[], Iterable[Any]]
) -> MappedRows | StreamedRows:
    """Return the outputs of all blocks, of a map fitted to a sample, or else to the first block.

    Rows of more than 2²⁸ outputs are encoded when they are needed.
    """
    outputs: list[NDArray] = []
    n_rows, most_rows = 0, 0
    for number, X in enumerate(blocks()):
        if number == 0:
            if X.shape[1] > MAX_FEATURES:
                raise InputError(
                    f"X has {X.shape[1]:,} features, exponential kernels take at most "
                    f"{MAX_FEATURES:,}: hash or select features first"
                )
            row_map.fit(X if sample is None else sample)
            most_rows = MOST_VALUES // row_map.n_outputs_
        n_rows += X.shape[0]
        if n_rows > most_rows:
            outputs.clear()
        else:
            outputs.append(row_map.transform(X))
    if n_rows > most_rows:
        return StreamedRows(row_map, n_rows, None, blocks)
    if not outputs:
        raise InputError("no samples: expected at least one row")
    together = np.concatenate(outputs) if len(outputs) > 1 else outputs[0]
    return MappedRows(row_map, n_rows, None, together)


def single(X: Any) -> Any:
    """Return rows in single precision, checked."""
    with input_errors():
        return check_array(X, accept_sparse="csr", dtype=np.float32, order="C")
