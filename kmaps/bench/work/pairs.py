r"""How well the inner products of an additive map match its kernel on pairs of samples.

As in Theorem 1 of annfm, kernel and approximation are divided by the number D of features,

.. math::
    \epsilon(x, y) = \frac1D \left(\langle\hat\Psi(x), \hat\Psi(y)\rangle - K(x, y)\right)

so that errors on many features and on few compare: the mean error (part a of the theorem) and its
spread over the pairs, which falls as the errors of the features average out (part b).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps import ScalarKernel, gram
from kmaps.bench.work.errors import Range
from kmaps.bench.work.samples import Split
from kmaps.bench.work.storage import storage
from kmaps.features import Matrix
from kmaps.kernels import OF_ONE_VARIABLE, STATIONARY


def scalar_of(name: str, sigma: float) -> str | ScalarKernel:
    """Return the argument that maps and :func:`kmaps.gram` take for a kernel's name."""
    if name not in OF_ONE_VARIABLE:
        return name
    signature = STATIONARY[name](sigma)

    def kernel(x: NDArray, y: NDArray) -> NDArray:
        return signature(np.subtract(y, x))

    return kernel


def pair_errors(
    make: Callable[[str | ScalarKernel], Any],
    kernel: str,
    sigma: float,
    x_train: Matrix,
    x_test: Matrix,
) -> dict[str, Any]:
    """Fit the additive map ``make(kernel)`` on training samples and compare it with its kernel;
    ``sigma`` is the width of a kernel of :data:`kmaps.kernels.OF_ONE_VARIABLE`.

    Returned are columns of records: errors over all pairs of a test and a training sample, per
    feature, where ``bias`` is the absolute mean error and ``deviation`` its standard deviation over
    the pairs; and the columns of :func:`kmaps.bench.work.storage.storage` on the training rows.
    """
    scalar = scalar_of(kernel, sigma)
    fitted = make(scalar).fit(x_train)
    encoded = fitted.transform(x_train)
    product = fitted.transform(x_test) @ encoded.T
    dense = product.toarray() if issparse(product) else product
    exact = gram(x_test, x_train, kernel=scalar)
    error = (dense.astype(np.float64) - exact) / x_train.shape[1]
    return {
        "linf": float(np.abs(error).max()),
        "rms": float(np.sqrt(np.mean(error**2))),
        "bias": float(abs(error.mean())),
        "deviation": float(error.std()),
        "dim": encoded.shape[1],
        **storage(x_train, fitted, encoded, 0),
    }


def uniform_samples(range: str, n_features: int, train: int, test: int, split: int) -> Split:
    """Return samples of independent values, uniform over LOW:HIGH, by the number of the split."""
    ends = Range.parse(range)
    values = np.random.default_rng(split).uniform(ends.low, ends.high, (train + test, n_features))
    x = values.astype(np.float32)
    y = np.zeros(train + test, np.int64)
    return Split(x[:train], y[:train], x[train:], y[train:])


def drawn_columns(n_features: int, columns: int | None, split: int) -> NDArray[np.intp]:
    """Return the features of a cell: all, or some, drawn at random for the split; a larger number
    of features includes the smaller ones' features."""
    if columns is None:
        return np.arange(n_features)
    return np.sort(np.random.default_rng(split).permutation(n_features)[:columns])
