"""Samples as the outputs of a map of all features: in memory, or in a temporary file."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from tempfile import TemporaryFile, gettempdir
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import InputError
from kmaps.progress import ProgressReporter
from kmaps.svm.learner import input_errors
from kmaps.svm.reduction import Places
from kmaps.thread_pool import ahead
from kmaps.validation import check_array

MAX_FEATURES = 1 << 22  # for frequencies or landmarks: one frequency then takes 50 MB at order 1
MOST_VALUES = 1 << 28  # outputs of all rows that memory holds: 1 GB
_CHUNK_VALUES = 1 << 22  # outputs of rows that are in memory at a time: 16 MB
_PIECES = 64  # of consecutive rows, in a part of the rows

RowMap: TypeAlias = Any  # with ``n_outputs_`` once fitted: `RandomFeatures`, `LandmarkMap`


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Samples that a fitted map encoded, or some of them: models on a map train on these."""

    map: RowMap
    members: Places | None  # the rows that count, in order; None: all
    outputs: "NDArray | Stored"  # of all rows, (n_rows, r)

    def __len__(self) -> int:
        return len(self.outputs if self.members is None else self.members)

    @property
    def n_features(self) -> int:
        """Number of features of the samples."""
        return self.map.n_features_in_

    @property
    def nbytes(self) -> int:
        """The bytes of the outputs in memory."""
        return self.outputs.nbytes

    def take(self, members: Places) -> Self:
        """Return some of the samples; the outputs are not copied."""
        return replace(self, members=members if self.members is None else self.members[members])

    def in_single(self) -> Self:
        """Return the rows in single precision, those in memory without the rows between them."""
        if isinstance(self.outputs, Stored):
            return self
        outputs = self.outputs if self.members is None else self.outputs[self.members]
        return replace(self, members=None, outputs=outputs.astype(np.float32, copy=False))

    def chunks(self, random: np.random.Generator | None = None) -> Iterator[tuple[Places, NDArray]]:
        """Yield the outputs of some rows that count, and their places among these.

        They come in order, some at a time. For descent, whose passes are fewer then, rows in memory
        come at once, and others in parts that are made of random pieces.
        """
        places = np.arange(len(self))
        if random is not None and not isinstance(self.outputs, Stored):
            yield places, self.outputs[slice(None) if self.members is None else self.members]
            return
        size = _chunk_rows(self.map)
        if random is not None:
            pieces = np.array_split(places, _PIECES * -(-len(self) // size))
            random.shuffle(pieces)
            places = np.concatenate(pieces)

        def chunk(start: int) -> tuple[Places, NDArray]:
            block = places[start : start + size]
            return block, self.outputs[block if self.members is None else self.members[block]]

        yield from ahead(map(chunk, range(0, len(self), size)))


class Stored:
    """Rows of numbers in single precision in a temporary file, which ends with this object."""

    nbytes = 0  # in memory

    def __init__(self, width: int) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
        self._width, self._n_rows = width, 0

    def __del__(self) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self._n_rows

    def __getitem__(self, rows: Places) -> NDArray[np.float32]:
        # The file is mapped for a moment only: mapped pages count as memory of the process.
        shape = self._n_rows, self._width
        return np.asarray(np.memmap(self._file, np.float32, "r", shape=shape)[rows])

    def append(self, rows: NDArray) -> None:
        """Write more rows."""
        try:
            self._file.write(np.ascontiguousarray(rows, np.float32).data)
            self._file.flush()
        except OSError as error:
            hint = "set TMPDIR to a folder with more room, or take fewer outputs or rows"
            raise InputError(f"outputs in {gettempdir()}: {error}: {hint}") from None
        self._n_rows += len(rows)


def _chunk_rows(row_map: RowMap) -> int:
    return max(1, _CHUNK_VALUES // row_map.n_outputs_)


def map_rows(row_map: RowMap, sample: Any, blocks: Callable[[], Iterable[Any]]) -> MappedRows:
    """Return the outputs of all blocks, of a map fitted to a sample, or else to the first block.

    More than 2²⁸ outputs go to a temporary file.
    """
    outputs: list[NDArray] = []
    stored, n_rows, most_rows = None, 0, 0
    for number, X in enumerate(blocks()):
        if number == 0:
            if X.shape[1] > MAX_FEATURES:
                raise InputError(
                    f"X has {X.shape[1]:,} features, and exponential kernels take at most "
                    f"{MAX_FEATURES:,}: hash or select features first"
                )
            row_map.fit(X if sample is None else sample)
            most_rows = MOST_VALUES // row_map.n_outputs_
        n_rows += X.shape[0]
        if n_rows <= most_rows:
            outputs.append(row_map.transform(X))
            continue
        stored = stored or Stored(row_map.n_outputs_)
        while outputs:
            stored.append(outputs.pop(0))
        _store(row_map, X, stored)
    if not n_rows:
        raise InputError("no samples: expected at least one row")
    return MappedRows(
        row_map, None, stored or (np.concatenate(outputs) if len(outputs) > 1 else outputs[0])
    )


def _store(row_map: RowMap, X: Any, stored: Stored) -> None:
    """Encode and write samples, some at a time."""
    n, size, progress = X.shape[0], _chunk_rows(row_map), ProgressReporter(None)
    parts = (row_map.transform(X[start : start + size]) for start in range(0, n, size))
    for number, outputs in enumerate(ahead(parts), 1):
        stored.append(outputs)
        done = min(number * size, n)
        progress.report(done / n, f"{done:,} of {n:,} rows encoded", "rows encoded")


def single(X: Any) -> Any:
    """Return rows in single precision, checked."""
    with input_errors():
        return check_array(X, accept_sparse="csr", dtype=np.float32, order="C")
