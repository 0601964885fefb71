"""Rows into files of named columns, block by block: ``.csv``, Parquet and Arrow's own.

The columns are ``x0``, ``x1``, …, as scikit-learn calls those without names, and last ``label``,
where there are labels.
"""

import csv
import io
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.io.arrow_files import ColumnsFile
from kmaps.samples import AnyMatrix

LABEL = "label"


def _names(Z: AnyMatrix, y: NDArray | None) -> list[str]:
    return [*(f"x{j}" for j in range(Z.shape[1])), *([] if y is None else [LABEL])]


class CsvWriter:
    """Rows as text, with as many digits as their type needs to be read back the same.

    Parameters
    ----------
    file : binary file
    target : Path
        Where the file will be.
    n_rows : int or None
        Not used; the other writers' parameters.
    """

    keeps_sparse = False
    keeps_labels = True

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None) -> None:
        self._file, self._has_header = file, False

    def write(self, Z: AnyMatrix, y: NDArray | None) -> None:
        """Append rows and labels."""
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        if not self._has_header:
            table.writerow(_names(Z, y))
            self._has_header = True
        digits = {np.dtype("float32"): "%.9g", np.dtype("float64"): "%.17g"}.get(Z.dtype, "%d")
        numbers = ",".join([digits] * Z.shape[1])
        labels = [] if y is None else y.tolist()
        for i, row in enumerate((Z.toarray() if issparse(Z) else Z).tolist()):
            text.write(numbers % tuple(row))
            if labels:
                text.write(",")
                table.writerow([labels[i]])
            else:
                text.write("\n")
        self._file.write(text.getvalue().encode())

    def finish(self) -> None:
        """Nothing is left to write."""


class ArrowWriter:
    """Rows as the columns of a file of Arrow's own; parameters as :class:`CsvWriter`."""

    keeps_sparse = False
    keeps_labels = True
    parquet = False

    def __init__(self, file: BinaryIO, target: Path, n_rows: int | None) -> None:
        self._file = ColumnsFile(file, target, self.parquet)

    def write(self, Z: AnyMatrix, y: NDArray | None) -> None:
        """Append rows and labels."""
        columns = [*(Z.toarray() if issparse(Z) else Z).T, *([] if y is None else [y])]
        self._file.write(columns, _names(Z, y))

    def finish(self) -> None:
        """Complete the file."""
        self._file.finish()


class ParquetWriter(ArrowWriter):
    """Rows as the columns of a Parquet file, a row group a block."""

    parquet = True
