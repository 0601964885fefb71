r"""How well the inner products of an additive map match its kernel on pairs of samples.

As in Theorem 1 of annfm, kernel and approximation are divided by the number D of features,

.. math::
    \epsilon(x, y) = \frac1D \left(\langle\hat\Psi(x), \hat\Psi(y)\rangle - K(x, y)\right)

so that errors on many features and on few compare: the mean error (part a of the theorem) and its
spread over the pairs, which falls as the errors of the features average out (part b).
"""

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class PairErrors:
    """Errors over all pairs of a test and a training sample, per feature.

    ``bias`` is the absolute mean error, ``deviation`` its standard deviation over the pairs;
    ``stored`` has the columns of :func:`kmaps.bench.work.storage.storage` on the training rows.
    """

    linf: float
    rms: float
    bias: float
    deviation: float
    dim: int
    stored: dict[str, Any]


def scalar_of(name: str, sigma: float) -> str | ScalarKernel:
    """Return what maps and :func:`kmaps.gram` take for a kernel's name.

    Examples
    --------
    >>> scalar_of("chi2", 1.0), float(scalar_of("laplace", 2.0)(1.0, 3.0))
    ('chi2', 0.36787944117144233)
    """
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
) -> PairErrors:
    """Fit the additive map ``make(kernel)`` on training samples and compare it with its kernel.

    ``sigma`` is the width of a kernel of :data:`kmaps.kernels.OF_ONE_VARIABLE`.

    Examples
    --------
    >>> from kmaps import IntersectionMap
    >>> X = np.random.default_rng(0).random((40, 30), np.float32)
    >>> make = lambda kernel: IntersectionMap(n_bins=50, upper=1.0)
    >>> found = pair_errors(make, "intersection", 1.0, X[:20], X[20:])
    >>> found.bias < found.rms < 0.01, found.dim, found.stored["storage_form"]
    (True, 1500, 'CSR B-splines')
    """
    scalar = scalar_of(kernel, sigma)
    fitted = make(scalar).fit(x_train)
    encoded = fitted.transform(x_train)
    product = fitted.transform(x_test) @ encoded.T
    dense = product.toarray() if issparse(product) else product
    exact = gram(x_test, x_train, kernel=scalar)
    error = (dense.astype(np.float64) - exact) / x_train.shape[1]
    return PairErrors(
        linf=float(np.abs(error).max()),
        rms=float(np.sqrt(np.mean(error**2))),
        bias=float(abs(error.mean())),
        deviation=float(error.std()),
        dim=encoded.shape[1],
        stored=storage(x_train, fitted, encoded, 0),
    )


def uniform_samples(range: str, n_features: int, train: int, test: int, split: int) -> Split:
    """Return samples of independent values, uniform over LOW:HIGH, by the number of the split.

    Examples
    --------
    >>> drawn = uniform_samples("0.1:1", 5, train=3, test=2, split=0)
    >>> drawn.sizes["n_features"], drawn.x_test.shape, bool(drawn.x_train.min() >= 0.1)
    (5, (2, 5), True)
    """
    ends = Range.parse(range)
    values = np.random.default_rng(split).uniform(ends.low, ends.high, (train + test, n_features))
    x, y = values.astype(np.float32), np.zeros(train + test, np.int64)
    return Split(x[:train], y[:train], x[train:], y[train:])


def drawn_columns(n_features: int, columns: int | None, split: int) -> NDArray[np.intp]:
    """Return which features a cell has: all, or some of those of the split, drawn at random.

    Those of one number are among those of the next.

    Examples
    --------
    >>> few, more = (drawn_columns(10, n, split=0).tolist() for n in (2, 4))
    >>> set(few) < set(more), drawn_columns(3, None, split=0).tolist()
    (True, [0, 1, 2])
    """
    if columns is None:
        return np.arange(n_features)
    return np.sort(np.random.default_rng(split).permutation(n_features)[:columns])
