"""Samples that are prepared once and trained on many times, and where blocks of them come from."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse


class BlockSource(Protocol):
    """Samples that may be larger than memory, such as `kmaps.io.LabelledRows`."""

    def blocks(self) -> Iterable[Any]:
        """Return all samples from the first on, as blocks of rows, dense or CSR.

        May be called more than once. A block may be overwritten by the next one.
        """

    def sample(self) -> Any:
        """Return some of the rows, drawn at random, for a map that learns from data."""


class PreparedRows(Protocol):
    """Samples in the form in which a learner trains on them."""

    @property
    def n_features(self) -> int:
        """Number of features of the samples, before they took this form."""

    def __len__(self) -> int: ...

    def take(self, members: NDArray[np.intp]) -> "PreparedRows":
        """Return some of the samples; what they are made of is not copied."""


def taken(X: Any, members: NDArray[np.intp]) -> Any:
    """Return some of the samples of an array, a CSR matrix or prepared rows."""
    return X[members] if isinstance(X, np.ndarray) or issparse(X) else X.take(members)
