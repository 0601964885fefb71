"""Samples as the outputs of a random map, encoded once and trained on many times."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from kmaps.errors import InputError
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.models.streamed_rows import StreamedRows
from kmaps.svm.learner import input_errors

MAX_FEATURES = 1 << 22  # a single frequency takes 50 MB then, at order 1


MOST_VALUES = 1 << 28
"""Outputs of all rows up to which they are held in memory: LIBLINEAR takes 24 bytes for each."""


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Samples as the outputs of a fitted map: :class:`RandomFeatureSVC` trains on them."""

    map: RandomFeatures  # fitted
    outputs: NDArray  # (n, 2m)
    members: NDArray[np.intp] | None = None  # those of the rows that count, in order; None: all

    def __len__(self) -> int:
        return len(self.outputs if self.members is None else self.members)

    @property
    def n_features(self) -> int:
        """Number of features of the samples."""
        return self.map.n_features_in_

    @property
    def nbytes(self) -> int:
        """What is in memory of the outputs."""
        return self.outputs.nbytes

    def take(self, members: NDArray[np.intp]) -> "MappedRows":
        """Return some of the samples; the outputs are not copied."""
        return replace(self, members=members if self.members is None else self.members[members])

    def matrix(self) -> NDArray:
        """Return the outputs of the rows that count; a copy unless these are all."""
        return self.outputs if self.members is None else self.outputs[self.members]


def map_rows(
    random_map: RandomFeatures, sample: Any, blocks: Callable[[], Iterable[Any]]
) -> MappedRows | StreamedRows:
    """Return the outputs of all blocks, of a map fitted to a sample, or else to the first block.

    Rows of more than 2²⁸ outputs are encoded when they are needed.
    """
    outputs: list[NDArray] = []
    n_rows, most_rows = 0, MOST_VALUES // (2 * random_map.n_frequencies)
    for number, X in enumerate(blocks()):
        if number == 0:
            _check_width(X.shape[1])
            random_map.fit(X if sample is None else sample)
        n_rows += X.shape[0]
        if n_rows > most_rows:
            outputs.clear()
        else:
            outputs.append(random_map.transform(X))
    if n_rows > most_rows:
        return StreamedRows(random_map, blocks, n_rows)
    if not outputs:
        raise InputError("no samples: expected at least one row")
    return MappedRows(random_map, np.concatenate(outputs) if len(outputs) > 1 else outputs[0])


def _check_width(n_features: int) -> None:
    if n_features > MAX_FEATURES:
        raise InputError(
            f"X has {n_features:,} features, random features take at most {MAX_FEATURES:,}: hash "
            "or select features first"
        )


def single(X: Any) -> Any:
    """Return rows in single precision, checked."""
    with input_errors():
        return check_array(X, accept_sparse="csr", dtype=np.float32, order="C")
