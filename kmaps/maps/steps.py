"""A step function: the code of a value, then a row of a table."""

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import encode as loops
from kmaps.codes.codebook import Codebook


class StepGrid:
    """The curve that has the value ``table[f, c]`` wherever feature f has the code c.

    It takes the place of a grid, but is the curve itself, for every dtype.

    Parameters
    ----------
    codebook : Codebook
        Gives each value its code.
    table : ndarray (f, n_codes, r)
        f is 1 when all features share codebook and table.
    """

    dtypes = (np.uint8, np.float32, np.float64)

    def __init__(self, codebook: Codebook, table: NDArray):
        self.codebook = codebook
        self.tables = {np.float32: table.astype(np.float32), np.float64: table}

    def encode(self, values: NDArray, features: NDArray, out: NDArray) -> tuple[bool, int]:
        """Fill ``out`` (n, m·r) from ``values`` (n, m) of the m ``features``.

        Returns whether a value is not finite, and how many lay outside and were clamped.
        """
        table = self.tables[out.dtype.type]
        codes = np.empty(values.shape, np.uint8)
        outside = self.codebook.encode(values, features, codes)
        # Several rows are a dense block, of all features in order.
        own = features if len(values) == 1 and len(table) > 1 else None
        loops.take(codes, own, table, out, loops.unrolled(table.shape[2]))
        return bool(outside) and not np.isfinite(values).all(), outside

    def curve(self, x: NDArray, feature: NDArray) -> NDArray:
        """Return the curve of each ``feature`` at ``x``: float64, ``x.shape + (r,)``."""
        table = self.tables[np.float64]
        of = feature if len(table) > 1 else np.zeros_like(feature)
        return table[of, self.codebook.codes(x, feature)]
