"""What prediction needs of a machine trained on codes: plain tables, which a file can hold."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.forms import Rows
from kmaps.codes.codebook import Codebook
from kmaps.svm.coded.rows import Coder, rows_of
from kmaps.svm.coded.scores import ScoreTables


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
    """

    needed: ClassVar[tuple[str, ...]] = ("levels", "zero", "weights", "intercept")

    levels: NDArray[np.float64]
    ends: NDArray[np.float64] | None
    cells: NDArray[np.uint8] | None
    zero: NDArray[np.intp]
    basis: NDArray[np.float32] | None
    weights: NDArray[np.float32]
    intercept: NDArray[np.float64]
    calibration: NDArray[np.float64] | None

    @property
    def arrays(self) -> dict[str, NDArray]:
        """All there is, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: array for name, array in values.items() if array is not None}

    @classmethod
    def of(cls, arrays: dict[str, NDArray]) -> "CodedModel":
        """Return the model with these `arrays`; names that are missing are None."""
        return cls(**{field.name: arrays.get(field.name) for field in fields(cls)})

    @property
    def nbytes(self) -> int:
        """Size of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())

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
