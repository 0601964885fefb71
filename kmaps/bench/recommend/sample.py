"""The sample that machines are compared on: some rows of a file, every class with its share."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_writer
from kmaps.models.folds import stratified_sample
from kmaps.samples import AnyMatrix

FILE = "sample.npz"

_SEED = 0
_FEWEST = 2  # rows of a class: one to train on, one to be held out


@dataclass(frozen=True)
class Sample:
    """Some rows of a file.

    Attributes
    ----------
    X : ndarray or csr_matrix, shape (n, d)
    y : ndarray, shape (n,)
        Their labels, at least two of each class.
    n_rows : int
        Rows of the whole file.
    """

    X: AnyMatrix
    y: NDArray
    n_rows: int

    @property
    def n_classes(self) -> int:
        """Number of the classes."""
        return len(np.unique(self.y))

    def write(self, folder: Path) -> None:
        """Write the rows and their labels to a folder, the same bytes for the same rows."""
        folder.mkdir(parents=True, exist_ok=True)
        with open_writer(folder / FILE, force=True, n_rows=self.X.shape[0]) as writer:
            writer.write(self.X, self.y)


def draw_sample(source: LabelledRows, n_rows: int) -> Sample:
    """Draw rows of a file without replacement, class by class; always the same ones.

    The file is read twice, block by block: for its labels, and for the rows that were drawn.

    Parameters
    ----------
    source : LabelledRows
    n_rows : int
        At most so many; all of a file that has no more.

    Raises
    ------
    InputError
        When there is one class, or a class has a single row in the sample.

    Examples
    --------
    >>> import tempfile
    >>> from kmaps.io import open_reader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", np.arange(20.0).reshape(10, 2))
    ...     rows = LabelledRows(open_reader(f"{folder}/X.npy"), np.arange(10) % 2)
    ...     sample = draw_sample(rows, 6)
    >>> sample.X.shape, np.bincount(sample.y).tolist(), sample.n_rows
    ((6, 2), [3, 3], 10)
    """
    for _ in source.blocks():  # the labels of a file are known once it was read
        pass
    y = source.labels()
    chosen = np.sort(stratified_sample(y, n_rows, _SEED))
    _check_classes(y, y[chosen], n_rows)
    parts: list[AnyMatrix] = []
    start = 0
    for block in source.blocks():
        first, last = np.searchsorted(chosen, [start, start + block.shape[0]])
        parts.append(block[chosen[first:last] - start])
        start += block.shape[0]
    X = vstack(parts, "csr") if issparse(parts[0]) else np.concatenate(parts)
    return Sample(X, y[chosen], len(y))


def _check_classes(y: NDArray, drawn: NDArray, n_rows: int) -> None:
    """Refuse labels of which there is nothing to learn, or nothing to measure."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise InputError(f"all {len(y)} labels are {classes[0]!s}; two classes are needed")
    if counts.min() < _FEWEST:
        raise InputError(
            f"class {classes[counts.argmin()]!s} has one row; expected one to train on and one to "
            "hold out: leave the class out, or add rows of it"
        )
    counts = np.array([(drawn == label).sum() for label in classes])
    if counts.min() < _FEWEST:
        raise InputError(
            f"n_rows={n_rows}: class {classes[counts.argmin()]!s} would have {counts.min()} rows "
            "in the sample, expected two; draw more"
        )
