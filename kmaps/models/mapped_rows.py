"""Samples as the outputs of a random map, encoded once and trained on many times."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from kmaps.errors import InputError
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.svm.learner import input_errors

MAX_FEATURES = 1 << 22  # a single frequency takes 50 MB then, at order 1


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Samples as the outputs of a fitted map: :class:`RandomFeatureSVC` trains on them.

    Attributes
    ----------
    map : RandomFeatures
        Fitted.
    outputs : ndarray, shape (n, 2m)
    members : ndarray of int, or None
        Those of the rows that count, in order; None: all.
    """

    map: RandomFeatures
    outputs: NDArray
    members: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.outputs if self.members is None else self.members)

    @property
    def n_features(self) -> int:
        """Number of features of the samples."""
        return self.map.n_features_in_

    def take(self, members: NDArray[np.intp]) -> "MappedRows":
        """Return some of the samples; the outputs are not copied."""
        return replace(self, members=members if self.members is None else self.members[members])

    def matrix(self) -> NDArray:
        """Return the outputs of the rows that count; a copy unless these are all."""
        return self.outputs if self.members is None else self.outputs[self.members]


def map_rows(random_map: RandomFeatures, sample: Any, blocks: Iterable[Any]) -> MappedRows:
    """Return the outputs of all blocks, of a map fitted to a sample, or else to the first block."""
    outputs: list[NDArray] = []
    for X in blocks:
        if not outputs:
            _check_width(X.shape[1])
            random_map.fit(X if sample is None else sample)
        outputs.append(random_map.transform(X))
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
