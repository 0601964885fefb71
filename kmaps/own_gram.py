r"""Gram matrices of scalar kernels that users pass, as functions or tables.

Without a compiled loop: the function is called on blocks of pairs, feature by feature.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kmaps.mercer import ScalarKernel, check_mercer
from kmaps.parallel import for_blocks
from kmaps.samples import SampleMatrix

_PAIRS = 1 << 18  # at a time
_POINTS = 256  # of all values, on which it is seen whether there is a negative eigenvalue


def own_gram(
    kernel: ScalarKernel, X: SampleMatrix, Y: SampleMatrix | None, sigma: float | None
) -> NDArray[np.float32]:
    r"""Return :math:`K(x, y) = \sum_j k(x_j, y_j)`, or with sigma its exponential form (n, m).

    That is :math:`e^{-D^2 / 2\sigma^2}` with :math:`D^2 = K(x, x) + K(y, y) - 2 K(x, y)`.

    Raises
    ------
    ConfigError
        When k fails, is not symmetric, or has a negative eigenvalue on up to 256 of the values.
    """
    rows = _dense(X)
    columns = rows if Y is None else _dense(Y)
    check_mercer(kernel, _spread(rows, columns))
    out = np.empty((len(rows), len(columns)), np.float32)
    own = [np.asarray(kernel(Z, Z), float).sum(axis=1) for Z in (rows, columns)]

    def fill(start: int, stop: int) -> None:
        sums = np.zeros((stop - start, len(columns)))
        for j in range(rows.shape[1]):
            sums += kernel(rows[start:stop, j, None], columns[None, :, j])
        if sigma is not None:
            squared = np.maximum(own[0][start:stop, None] + own[1] - 2 * sums, 0)
            sums = np.exp(-squared / sigma / sigma / 2)
        out[start:stop] = sums

    for_blocks(fill, len(rows), max(1, _PAIRS // len(columns)))
    return out


def _dense(X: SampleMatrix) -> NDArray[np.float64]:
    matrix = X.matrix.toarray() if sparse.issparse(X.matrix) else X.matrix
    return matrix.astype(np.float64)


def _spread(*parts: NDArray) -> NDArray[np.float64]:
    """Return some of the values, from the least to the largest."""
    values = np.unique(np.concatenate([part.ravel() for part in parts]))
    return values[np.linspace(0, len(values) - 1, min(len(values), _POINTS)).astype(int)]
