"""Outputs of the maps in model files, by NumPy: of random frequencies, of landmarks."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kmaps._loops import loops_of
from kmaps.errors import InputError
from kmaps.kernels import EXP_KERNELS, WIDTH_KERNELS
from kmaps.maps.frequencies import STRUCTURES, Frequencies, too_large
from kmaps.maps.waves import HomogeneousWaves
from kmaps.models.stored import StoredLinear
from kmaps.svm.model_file import Parts, n_rows

_LARGEST = 3e38  # the end of single precision
_BLOCK_TERMS = 1 << 18  # terms at a time, of kernels with landmarks


class RandomOutputs:
    """Cosines and sines of random frequencies, as of `RandomFourierMap` and `GeneralizedRBFMap`."""

    def __init__(self, stored: StoredLinear) -> None:
        self._given, self._sigma, self._key = stored.given, stored.sigma, stored.key
        self._n_features = stored.n_features
        additive = EXP_KERNELS.get(self._given.kernel)  # rbf has none
        self._waves = HomogeneousWaves.of(additive, self._given.order) if additive else None

    @cached_property
    def _frequencies(self) -> Frequencies:
        n_embedded = self._n_features * (1 if self._waves is None else self._waves.n_outputs)
        indices = np.arange(self._given.n_frequencies)
        return STRUCTURES[self._given.structure](self._key, indices, n_embedded, self._sigma)

    def __call__(self, X: NDArray) -> NDArray:
        rows = X if self._waves is None else self._waves.encode(X)
        m = self._given.n_frequencies
        out: NDArray = np.empty((len(X), 2 * m), X.dtype)
        unit = X.dtype.type(m**-0.5)
        overflow = False
        for first, last, project in self._frequencies.blocks(X.dtype.type):
            columns = out[:, 2 * first : 2 * last]
            overflow |= loops_of("fourier").cos_sin(project(rows), unit, columns)
        if overflow:
            raise too_large(self._sigma)
        return out


def kernel_values(
    X: NDArray, known: Parts, kernel: str, sigma: float | None, gamma: float = 1.0
) -> NDArray[np.float32]:
    """Return the kernel of rows (n, d) with known ones (m, d), (n, m), as `kmaps.gram` does."""
    size = max(1, _BLOCK_TERMS // X.shape[1])
    parts = [
        _kernel_of_some(X[i : i + size].astype(np.float64), known, kernel, sigma, gamma)
        for i in range(0, len(X), size)
    ]
    return np.concatenate(parts)


def _kernel_of_some(
    X: NDArray[np.float64], known: Parts, kernel: str, sigma: float | None, gamma: float
) -> NDArray[np.float32]:
    metric, of_distance = EXP_KERNELS.get(kernel, kernel), kernel in WIDTH_KERNELS

    def terms(x: NDArray, y: NDArray) -> NDArray[np.float64]:
        return _distances(metric, gamma, x, y) if of_distance else _products(metric, gamma, x, y)

    sums = np.empty((len(X), n_rows(known)))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if isinstance(known, tuple):
            data, indices, indptr = known
            from_zero = terms(X, np.zeros(1))
            for k in range(len(indptr) - 1):
                own = slice(indptr[k], indptr[k + 1])
                columns = indices[own]
                there = terms(X[:, columns], data[own].astype(np.float64))
                rest = from_zero.sum(axis=1) - from_zero[:, columns].sum(axis=1)
                sums[:, k] = rest + there.sum(axis=1)
        else:
            size = max(1, _BLOCK_TERMS // X.size)
            for first in range(0, len(known), size):
                part = known[first : first + size].astype(np.float64)
                sums[:, first : first + size] = terms(X[:, None, :], part).sum(axis=2)
        if not np.isfinite(sums).all() or (not of_distance and np.abs(sums).max() > _LARGEST):
            raise InputError(
                f"values as large as {np.abs(X).max():.3g} overflow the kernel matrix: scale the "
                "data down"
            )
        if sigma is None:
            return sums.astype(np.float32)
        exponent = np.minimum(sums / sigma / sigma / 2, 200)
    return np.exp(-exponent.astype(np.float32))


def _products(metric: str, gamma: float, x: NDArray, y: NDArray) -> NDArray[np.float64]:
    """Return k(x, y) of scalars, of the signed kernel of a degree of homogeneity."""
    if metric == "linear":
        return x * y
    a, b = np.abs(x), np.abs(y)
    if metric == "hellinger":
        found = np.sqrt(a * b)
    elif metric == "intersection":
        found = np.minimum(a, b)
    elif metric == "chi2":
        found = 2 * a * b / (a + b)
    else:
        found = (a + b - _distances("js", 1.0, a, b)) / 2
    if gamma != 1:
        found = found * (a * b) ** ((gamma - 1) / 2)
    return np.sign(x * y) * np.where(a * b > 0, found, 0.0)


def _distances(metric: str, gamma: float, x: NDArray, y: NDArray) -> NDArray[np.float64]:
    """Return k(x, x) + k(y, y) - 2 k(x, y) of scalars, by formulas in which nothing cancels."""
    if metric == "rbf":
        return (x - y) ** 2
    a, b = np.abs(x), np.abs(y)
    if gamma != 1:
        return a**gamma + b**gamma - 2 * _products(metric, gamma, x, y)
    total = a + b
    if metric == "hellinger":
        found = (np.sqrt(a) - np.sqrt(b)) ** 2
    elif metric == "intersection":
        found = np.abs(a - b)
    elif metric == "chi2":
        found = np.where(total > 0, (a - b) ** 2 / total, 0.0)
    else:
        parts = [np.where(one > 0, one * np.log2(2 * one / total), 0.0) for one in (a, b)]
        found = parts[0] + parts[1]
    # The kernel is negative where the signs differ (hkm Lemma 2).
    return np.where(x * y < 0, 2 * total - found, found)
