"""Maps whose curve is a step function, so that one byte a value stores the samples."""

from numpy.typing import NDArray

from kmaps.codes.codebook import Codebook
from kmaps.codes.table import LookupTable
from kmaps.maps.base import AdditiveMap
from kmaps.maps.grids import StepGrid


class SteppedMap(AdditiveMap):
    """Base of the maps that are a code and a table; `_fit_curve` calls `_set_steps`.

    Attributes
    ----------
    table_ : ndarray, shape (1 or d, n_codes, r)
        The outputs of each code, float64; one table when all features share it.
    """

    has_codes = True

    def _set_steps(self, codebook: Codebook, table: NDArray) -> None:
        self.table_ = table
        self.shared_curve_ = codebook.shared
        self._steps = StepGrid(codebook, LookupTable(table))

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        return self._steps.curve(x, feature)

    def _grid(self) -> StepGrid:
        return self._steps

    def _tables(self) -> tuple[NDArray, ...]:
        return self._steps.codebook.levels, self.table_
