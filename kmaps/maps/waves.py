"""The homogeneous map of a named kernel as plain numbers, without scikit-learn."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import compiled
from kmaps.maps.grids import LogGrid, grid_of_waves
from kmaps.maps.parameters import OPTIMAL
from kmaps.maps.registry import parameters_of
from kmaps.maps.signatures import default_period, discrete_spectrum, homogeneous_kernel, waves
from kmaps.matrices import AnyMatrix, as_float, issparse, summed, widened
from kmaps.thread_pool import for_parts, threads

_BLOCK_VALUES = 1 << 18  # outputs of a block: what NumPy makes on the way stays in the cache
_NO_FEATURES = np.empty(0)


@dataclass(frozen=True)
class HomogeneousWaves:
    """The homogeneous map of a named kernel, as of `HomogeneousMap`, without scikit-learn."""

    has_codes = learns_from_data = False
    takes_sparse_ = True

    spectrum: NDArray[np.float64]
    period: float
    gamma: float = 1.0

    @classmethod
    def of(cls, kernel: str, order: int) -> "HomogeneousWaves":
        """Return the map inside `GeneralizedRBFMap`."""
        return cls.given(kernel, 0 if kernel == "hellinger" else order, "rectangular", None, 1.0)

    @classmethod
    def given(
        cls, kernel: str, order: int, window: str, period: float | None, gamma: float
    ) -> "HomogeneousWaves":
        """Return the map with the parameters of `HomogeneousMap`, which are not checked."""
        of = homogeneous_kernel(kernel)
        length = default_period(of, order, window) if period is None else float(period)
        return cls(discrete_spectrum(of, order, length, window), length, gamma)

    @property
    def n_outputs(self) -> int:
        """Number of outputs of a feature."""
        return 2 * len(self.spectrum) - 1

    @cached_property
    def _grid(self) -> LogGrid | None:
        return grid_of_waves(self.curve, self.spectrum, self.period, self.gamma)

    def curve(self, x: NDArray, feature: NDArray | None = None) -> NDArray:
        """Return the outputs at ``x``, ``x.shape + (r,)``."""
        return waves(x, self.spectrum, self.period, self.gamma)

    @property
    def compiled(self) -> bool:
        """Whether compiled loops encode."""
        return compiled()

    def compile(self) -> None:
        """Encode by compiled loops, which take half a second to import, if they are installed."""
        with suppress(ImportError):
            import_module("kmaps._loops.encode")

    def fit(self, X: AnyMatrix) -> Self:
        """Return the map itself, which learns nothing."""
        return self

    def transform(self, X: AnyMatrix) -> AnyMatrix:
        """Return the outputs of `HomogeneousMap.transform` for finite rows, dense or CSR."""
        if not issparse(X):
            return self.encode(as_float(X))
        X = summed(X)
        return widened(X, self.encode(as_float(X.data)[None, :])[0], self.n_outputs)

    def encode(self, X: NDArray) -> NDArray:
        """Return the outputs of rows of uint8, float32 or float64, (n, d·r)."""
        r = self.n_outputs
        out: NDArray = np.empty(
            (len(X), X.shape[1] * r), np.float64 if X.dtype == np.float64 else np.float32
        )

        def part(rows: slice, columns: slice) -> None:
            self._fill(X[rows, columns], out[rows, columns.start * r : columns.stop * r])

        # NumPy's loops use one thread, so joblib need not be asked for their number.
        with nullcontext() if compiled() else threads(1):
            for_parts(part, X.shape, _BLOCK_VALUES // r)
        return out

    def _fill(self, values: NDArray, out: NDArray) -> None:
        if values.dtype == np.uint8:
            out[...] = self._bytes[values].reshape(out.shape)
        elif values.dtype == np.float32 and self._grid is not None:
            self._grid.encode(np.ascontiguousarray(values), _NO_FEATURES, out)
        else:
            out[...] = self.curve(values).reshape(out.shape)

    @cached_property
    def _bytes(self) -> NDArray[np.float32]:
        return self.curve(np.arange(256.0)).astype(np.float32)


def light_map(name: str, given: Mapping[str, Any]) -> HomogeneousWaves | None:
    """Return a map without scikit-learn, with the parameters given of its class, checked before.

    None: there is none such of this map, or of these parameters.
    """
    if name != "homogeneous" or given.get("period") == OPTIMAL:
        return None
    return HomogeneousWaves.given(**{**parameters_of(name), **given})
