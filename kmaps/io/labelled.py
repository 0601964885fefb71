"""The rows of an array file together with their labels."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.errors import FileNote, InputError
from kmaps.io.column_watch import ColumnWatch
from kmaps.io.digest import RunningDigest
from kmaps.io.labels import joined_labels, target_numbers
from kmaps.io.reader import Reader
from kmaps.io.stream import MEMORY, Rows, read_blocks, sample_rows

Report = Callable[[str, int, int], None]


class LabelledRows:
    """The rows of an array file, block by block and as often as needed, and their labels.

    Learners take one as the source of samples that may be larger than memory.

    Parameters
    ----------
    reader : Reader
        As `open_reader` returns it.
    y : ndarray, shape (n,), optional
        The labels; by default those that the file itself holds.
    memory : int
        Bytes for the block in memory at one time.
    progress : callable, optional
        Called after every block with the name of the pass, the part done and the total.
    keep_large : bool
        Whether values of any size are kept; by default the first pass refuses a value of more than
        10⁶ times the median size of its column's non-zero values.
    watch : bool
        Whether the first pass looks for such values, and warns of columns that count the rows or
        alone tell all classes apart (`FileNote`); labels of rows to predict need no watch.

    Raises
    ------
    InputError
        When there are no labels, or not as many as rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kmaps.io import open_reader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", np.eye(3))
    ...     rows = LabelledRows(open_reader(f"{folder}/X.npy"), np.array([0, 1, 1]))
    ...     print([X.shape for X in rows.blocks()], rows.labels())
    [(3, 3)] [0 1 1]
    """

    def __init__(
        self,
        reader: Reader,
        y: NDArray | None = None,
        *,
        memory: int = MEMORY,
        progress: Report = lambda stage, done, total: None,
        keep_large: bool = False,
        watch: bool = True,
    ) -> None:
        self._reader = reader
        self._y = y
        self._memory = memory
        self._progress = progress
        self._watch: ColumnWatch | None = None
        if watch:
            self._watch = ColumnWatch(
                reader.name, reader.n_features, reader.columns, keep_large=keep_large
            )
        self._passes = 0
        self.ranges: tuple[NDArray, NDArray] | None = None  # of the columns, after a first pass
        self._digest = RunningDigest()
        self._read: list[NDArray] = []  # the labels of the file, of the last pass
        self._n_rows = reader.n_rows
        if y is None and not reader.has_labels:
            raise InputError(f"{reader.name}: holds no labels; pass them as y")
        self._check()

    @property
    def name(self) -> str:
        """What messages call the file."""
        return self._reader.name

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns, where the file has them."""
        return self._reader.columns

    def blocks(self) -> Iterator[Rows]:
        """Yield the rows from the first on; a block may be overwritten by the next one."""
        self._passes += 1
        stage = f"read {self._reader.name}, pass {self._passes}"
        read: list[NDArray] = []
        n_rows = 0
        for X, y in read_blocks(
            self._reader,
            memory=self._memory,
            progress=lambda done, total: self._progress(stage, done, total),
        ):
            n_rows += X.shape[0]
            if self._passes == 1:
                self._digest.add(X)
                self._look_at(X, y, n_rows)
                self._widen(X)
            if self._y is None and y is not None:
                read.append(y)
            yield X
        self._read, self._n_rows = read, n_rows
        self._check()
        if self._watch is not None:
            notes = self._watch.finish()
            self._watch = None
            for note in notes:
                warnings.warn(note, FileNote, stacklevel=2)

    def _widen(self, X: Rows) -> None:
        """Widen the ranges of the columns by the next rows."""
        low, high = X.min(axis=0), X.max(axis=0)
        if issparse(X):
            low, high = low.toarray().ravel(), high.toarray().ravel()
        if self.ranges is not None:
            low = np.minimum(self.ranges[0], low)
            high = np.maximum(self.ranges[1], high)
        self.ranges = (low.astype(np.float64), high.astype(np.float64))

    def _look_at(self, X: Rows, y: NDArray | None, n_rows: int) -> None:
        """Show the next rows to the watch, with their labels where there are as many."""
        if self._watch is None:
            return
        if self._y is not None:
            y = self._y[n_rows - X.shape[0] : n_rows]
        self._watch.add(X, y if y is not None and len(y) == X.shape[0] else None)

    def digest(self) -> str:
        """Return the SHA-256 of the rows, as they were read, and of their labels.

        The digest covers all data that the first pass read.

        Returns
        -------
        str
            In hexadecimal.
        """
        return self._digest.of(self.labels())

    def sample(self) -> Rows:
        """Return rows drawn at random, for a map that learns from data.

        Returns
        -------
        ndarray or CSR matrix, shape (rows, d)
            As :func:`sample_rows` draws them.
        """
        return sample_rows(self._reader)

    def labels(self, classes: NDArray | None = None) -> NDArray:
        """Return the label of each row; labels in the file itself come once all blocks were read.

        :func:`kmaps.io.typed_labels` decides on their type, also for the ``classes`` of a model.

        Parameters
        ----------
        classes : ndarray, optional
            The labels of a model that these are for.

        Returns
        -------
        ndarray, shape (n,)
        """
        if self._y is not None:
            return self._y
        if not self._read:
            raise InputError(f"{self._reader.name}: its labels are known once its blocks are read")
        return joined_labels(self._read, classes, typed=self._reader.labels_typed)

    def targets(self) -> NDArray:
        """Return the label of each row as a number, for a regression; refuse text.

        Labels in the file itself come once all blocks were read.

        Returns
        -------
        ndarray of float64, shape (n,)
        """
        if self._y is not None:
            return target_numbers(self._y, self._reader.name)
        if not self._read:
            raise InputError(f"{self._reader.name}: its labels are known once its blocks are read")
        labels = np.concatenate(self._read)
        return target_numbers(labels, self._reader.name, typed=self._reader.labels_typed)

    def _check(self) -> None:
        """Refuse labels that are not as many as the rows, once these are counted."""
        if self._y is not None and self._n_rows not in (None, len(self._y)):
            raise InputError(
                f"{len(self._y)} labels, but {self._reader.name} has {self._n_rows} rows"
            )
