"""Rows of a file in the normalised form that a model is trained on."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.codes.levels import Columns
from kmaps.svm.learner import LabelledSource
from kmaps.svm.normalization import OF_ROWS, Normalization, check_normalization


class NormalizedRows:
    """A source of labelled rows whose samples are normalised.

    Scales of columns are learnt from all rows, in a pass of their own; rows that are held out or in
    folds later are among them, as they are for the levels of codes.

    Parameters
    ----------
    source : object
        An object with ``blocks()``, ``sample()`` and ``labels()``, such as `kmaps.io.LabelledRows`.
    name : {"l1", "l2", "max", "min-max"}
        The normalisation.
    columns : sequence of str, optional
        The names of the features.
    """

    def __init__(
        self, source: LabelledSource, name: str, columns: Sequence[str] | None = None
    ) -> None:
        check_normalization(name)
        self.columns = columns
        self._source = source
        self._name = name
        self._normalization: Normalization | None = None

    @property
    def normalization(self) -> Normalization:
        """The normalisation with its scales, which a first pass over the rows learns."""
        if self._normalization is None:
            low = high = np.empty(0)
            if self._name not in OF_ROWS:
                low, high = self._ranges()
            self._normalization = Normalization.learnt(self._name, low, high)
        return self._normalization

    def _ranges(self) -> tuple[NDArray, NDArray]:
        low = high = None
        for X in self._source.blocks():
            block = Columns(X)
            low = block.low if low is None else np.minimum(low, block.low)
            high = block.high if high is None else np.maximum(high, block.high)
        if low is None or high is None:
            return np.empty(0), np.empty(0)
        return low, high

    def blocks(self) -> Iterator[Any]:
        """Yield all rows from the first on, normalised, in blocks."""
        normalization = self.normalization
        for X in self._source.blocks():
            yield normalization.of(X)

    def sample(self) -> Any:
        """Return some of the rows, drawn at random, normalised.

        Returns
        -------
        ndarray or CSR, shape (m, d)
            The rows, in the units that the model is trained on.
        """
        return self.normalization.of(self._source.sample())

    def labels(self) -> NDArray:
        """Return the labels, once all rows were read.

        Returns
        -------
        ndarray, shape (n,)
            A label for each row.
        """
        return self._source.labels()
