"""What prediction needs of a machine trained on codes: plain tables, which a file can hold."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.forms import Rows
from kmaps.checks import MAX_LEVELS
from kmaps.codes.codebook import Codebook
from kmaps.svm.coded.rows import Coder, rows_of
from kmaps.svm.coded.scores import ScoreTables
from kmaps.svm.model_file import ModelFile


@dataclass(frozen=True, eq=False)
class CodedModel:
    """Levels, the functions that weights belong to, weights.

    Attributes
    ----------
    levels : ndarray, shape (1 or d, L)
    ends : ndarray, shape (2, 1 or d), or None
        The range of the training values; None: samples are codes already.
    cells : ndarray of uint8, shape (1 or d, L), or None
        The row of the tables that each code stands for, when some share one.
    zero : ndarray of int, shape (0,) or (1,)
        A row of the tables that is zero for all features.
    basis : ndarray of float32, shape (1 or d, rows, m), or None
    weights : ndarray of float32, shape (P, d, m)
        The function of feature j in problem p has the values ``basis[j] @ weights[p, j]`` on the
        rows of the tables; without a basis these are ``weights[p, j]``.
    intercept : ndarray, shape (P,)
    calibration : ndarray, shape (P, 2), or None
        Slope and shift that turn scores into log-odds.
    importance : ndarray of float32, shape (P, d)
        The standard deviation of each function over the training samples.
    """

    levels: NDArray[np.float64]
    ends: NDArray[np.float64] | None
    cells: NDArray[np.uint8] | None
    zero: NDArray[np.intp]
    basis: NDArray[np.float32] | None
    weights: NDArray[np.float32]
    intercept: NDArray[np.float64]
    calibration: NDArray[np.float64] | None
    importance: NDArray[np.float32]

    @property
    def arrays(self) -> dict[str, NDArray]:
        """All there is, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: array for name, array in values.items() if array is not None}

    @classmethod
    def from_file(cls, file: ModelFile, n_problems: int, others: tuple[str, ...]) -> "CodedModel":
        """Return the model in a file, each of its arrays checked against the others.

        ``others`` are the arrays that a file may hold besides.

        Raises
        ------
        InputError
            When one is missing, unknown, or cannot belong to the others.
        """
        file.check_arrays((*others, *(field.name for field in fields(cls))))
        weights = file.array("weights", np.float32, (n_problems, None, None))
        _, d, m = weights.shape
        basis = cells = None
        if "basis" in file:
            basis = file.array("basis", np.float32, ((1, d), None, m))
        n_rows = m if basis is None else basis.shape[1]
        levels = file.array("levels", np.float64, ((1, d), None))
        if "cells" in file:
            cells = file.array("cells", np.uint8, ((1, d), levels.shape[1]), 0, n_rows - 1)
        _check_levels(file, levels, cells, n_rows)
        return cls(
            levels=levels,
            ends=_ends(file, len(levels)),
            cells=cells,
            zero=file.array("zero", np.intp, ((0, 1),), 0, n_rows - 1),
            basis=basis,
            weights=weights,
            intercept=file.array("intercept", np.float64, (n_problems,)),
            calibration=file.array("calibration", np.float64, (n_problems, 2))
            if "calibration" in file
            else None,
            importance=file.array("importance", np.float32, (n_problems, d), 0),
        )

    @property
    def nbytes(self) -> int:
        """Size of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def n_rows(self) -> int:
        """Number of rows of the tables."""
        return self.weights.shape[2] if self.basis is None else self.basis.shape[1]

    @property
    def baseline(self) -> NDArray[np.float64]:
        """The scores (P,) of a sample to which no function adds anything."""
        if self.calibration is None:
            return self.intercept
        return self.intercept * self.calibration[:, 0] + self.calibration[:, 1]

    def values(self, features: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return what the rows of the tables of some features add to the scores, (f, rows, P)."""
        values = self.weights[:, features].transpose(1, 2, 0).astype(np.float64)
        if self.basis is not None:
            values = self.basis[features if len(self.basis) > 1 else slice(None)] @ values
        return values if self.calibration is None else values * self.calibration[:, 0]

    @cached_property
    def coder(self) -> Coder:
        """What turns samples into rows of the tables."""
        book = None if self.ends is None else Codebook(self.levels, *self.ends)
        return Coder(book, self.levels.shape[1], self.cells)

    @cached_property
    def tables(self) -> ScoreTables:
        """What each code adds to the scores."""
        return ScoreTables(self.basis, self.weights)

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores (n, P) of validated samples."""
        return self.score_rows(rows_of(self.coder.encode(X), self.zero))

    def score_rows(self, rows: Rows) -> NDArray[np.float64]:
        """Return the scores (n, P) of rows of the tables."""
        scores = self.tables.score(rows) + self.intercept
        if self.calibration is None:
            return scores
        return scores * self.calibration[:, 0] + self.calibration[:, 1]


def _check_levels(
    file: ModelFile, levels: NDArray[np.float64], cells: NDArray[np.uint8] | None, n_rows: int
) -> None:
    """Refuse levels that no code can name, or whose codes have no row in the tables."""
    n_levels = levels.shape[1]
    if max(n_levels, n_rows) > MAX_LEVELS:
        raise file.damaged(f"{n_levels} levels and {n_rows} rows of tables, {MAX_LEVELS} are most")
    if cells is None and n_rows != n_levels:
        raise file.damaged(f"{n_levels} levels, but {n_rows} rows of tables")
    if cells is not None and cells[:, 0].any():
        raise file.damaged("cells: the first level has another row than the first")
    if (np.diff(levels) < 0).any():
        raise file.damaged("levels are not in ascending order")


def _ends(file: ModelFile, n_ranges: int) -> NDArray[np.float64] | None:
    if "ends" not in file:
        return None
    ends = file.array("ends", np.float64, (2, n_ranges))
    if (ends[0] > ends[1]).any():
        raise file.damaged("ends: a range begins above its end")
    return ends
