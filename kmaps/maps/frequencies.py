r"""The random frequencies of Fourier maps, made when they are needed.

Each structure draws :math:`\omega_j \sim N(0, I)` in d dimensions, for a kernel of width
:math:`\sigma` divided by it. The frequency of index j depends on a key and on j alone: a map
remembers the key, and any subset of its frequencies is made by itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from kmaps._loops import fourier as loops
from kmaps.array_api import is_foreign, like
from kmaps.checks import check_room
from kmaps.errors import InputError
from kmaps.matrices import issparse
from kmaps.matrix_product import product
from kmaps.progress import ProgressReporter
from kmaps.thread_pool import for_blocks

FREQUENCY_VERSION = 1  # must change when the frequencies of a key do: models rely on them
NEARNESS = 0.9  # correlation of a frequency with one drawn near it; a change needs a new version

# The streams of random words that a key has.
_NORMALS = 0
_LENGTHS = 1
_GAINS = 2
_FLIPS = 3
_ORDERS = 4
_MIXTURES = 5

_BLOCK_VALUES = 1 << 24  # values of a frequency matrix made at once, 64 MB
_KEPT_VALUES = 1 << 26  # values of a matrix that is kept for the next rows: 256 MB in float32
_PART_VALUES = 1 << 16  # values of the matrix that a thread makes at once
_SPARSE_BELOW = 1 / 16  # density below which sparse rows are multiplied as they are

Projector = Callable[[Any], NDArray]  # from rows (k, d), dense or CSR, to their turns (k, m)


class Frequencies(ABC):
    """The frequencies of some indices under one key.

    The key is below 2⁶⁴, the ``indices`` (m,) int64 ascend; all frequencies are divided by
    ``width``, σ of the kernel.
    """

    def __init__(self, key: int, indices: NDArray, n_features: int, width: float):
        self.key = key
        self.indices = indices
        self.n_features = n_features
        self.factor = 1 / (2 * np.pi * width)
        self._matrices: dict[type, dict[int, Any]] = {}  # by type, by the first frequency

    def blocks(self, dtype: type) -> Iterator[tuple[int, int, Projector]]:
        """Yield (first, last, project) for one block of frequencies after the other.

        ``project`` multiplies rows by the frequencies ``first`` … ``last - 1`` over 2π.
        """
        m = len(self.indices)
        size = self._block_size()
        if dtype not in self._matrices:
            self._matrices = {dtype: {}}  # those of another precision go
        matrices = self._matrices[dtype]
        for first in range(0, m, size):
            last = min(first + size, m)
            matrix = matrices.get(first)
            if matrix is None:
                matrix = self._make(self.indices[first:last], dtype)
                if last - first == m or m * self.n_features <= _KEPT_VALUES:
                    matrices[first] = matrix
            yield first, last, partial(self._multiply, matrix, dtype)

    def _block_size(self) -> int:
        return max(1, _BLOCK_VALUES // self.n_features)

    @abstractmethod
    def _make(self, indices: NDArray, dtype: type) -> Any:
        """Return the arrays for products with the frequencies of some indices."""

    @abstractmethod
    def _multiply(self, matrix: Any, dtype: type, rows: Any) -> NDArray:
        """Return the turns of some rows."""


class DenseFrequencies(Frequencies):
    """Independent frequencies (Rahimi and Recht)."""

    def _make(self, indices: NDArray, dtype: type) -> NDArray:
        directions = self._directions(indices)
        # The rows become columns, because this product is the faster one.
        return np.multiply(directions.T, self.factor, dtype=dtype, casting="same_kind", order="C")

    def _directions(self, indices: NDArray) -> NDArray:
        return normals(self.key, _NORMALS, indices, self.n_features)

    def _multiply(self, matrix: NDArray, dtype: type, rows: Any) -> NDArray:
        if issparse(rows) and rows.nnz >= _SPARSE_BELOW * rows.shape[0] * rows.shape[1]:
            rows = rows.toarray()
        if is_foreign(rows):
            return rows @ like(rows, matrix)
        rows = rows.astype(dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # reported by the map
            return rows @ matrix if issparse(rows) else product(rows, matrix)


class DescendedFrequencies(DenseFrequencies):
    r"""Independent frequencies, and others drawn near them, near those, and so on.

    One near :math:`\omega` is :math:`\rho\,\omega + \sqrt{1-\rho^2}\,\omega'`, with an independent
    :math:`\omega'`: normal again. ``indices`` has a row for each frequency: the indices of its
    first ancestor, of the next, … and its own, -1 where there is none.
    """

    def _directions(self, indices: NDArray) -> NDArray:
        directions = super()._directions(indices[:, 0])
        for generation in indices.T[1:]:
            descendants = np.flatnonzero(generation >= 0)
            new = super()._directions(generation[descendants])
            parents = directions[descendants]
            directions[descendants] = NEARNESS * parents + (1 - NEARNESS**2) ** 0.5 * new
        return directions


_MIXED_BY: dict[str, Callable[[NDArray], NDArray]] = {  # quantile functions of mixing variables
    "gaussian": np.ones_like,
    "laplace": lambda u: 1 / (2 * gammaincinv(0.5, u)),
    "cauchy": lambda u: 2 * gammaincinv(1.0, u),
    "inverse-multiquadric": lambda u: 2 * gammaincinv(0.5, u),
}


class MixedFrequencies(DenseFrequencies):
    r"""Frequencies :math:`\omega = \sqrt s\,z`, with z normal and s random.

    Their profile is :math:`k(t) = E\,e^{-st/2}`: with 1/s chi-squared of one degree of freedom
    :math:`e^{-\sqrt t}`, with s chi-squared of two 1/(1 + t), of one :math:`1/\sqrt{1 + t}`.
    """

    def __init__(self, key: int, indices: NDArray, n_features: int, width: float, profile: str):
        super().__init__(key, indices, n_features, width)
        self.profile = profile

    def _directions(self, indices: NDArray) -> NDArray:
        uniform = (words(self.key, _MIXTURES, indices, 1)[:, 0] + 0.5) * 2.0**-32
        factors = np.sqrt(_MIXED_BY[self.profile](uniform)).astype(np.float32)
        return factors[:, None] * super()._directions(indices)


class OrthogonalFrequencies(DenseFrequencies):
    """Frequencies of which each d consecutive ones are orthogonal (Yu et al.).

    Their directions are the columns of Q in the QR decomposition of a matrix of normal numbers,
    their lengths are independent and chi-distributed, like the lengths of normal vectors.
    """

    def _block_size(self) -> int:
        # Decompositions take longer than most products: all are made once and kept.
        return len(self.indices)

    def _make(self, indices: NDArray, dtype: type) -> NDArray:
        d = self.n_features
        stack_of_index, places = np.divmod(indices, d)
        stacks, starts = np.unique(stack_of_index, return_index=True)
        size = min(len(stacks), max(1, _BLOCK_VALUES // d**2))
        n_columns = int(places.max()) + 1
        bytes_per_feature = 2 * np.dtype(dtype).itemsize * len(indices) + 16 * size * n_columns
        remedy = "choose fewer frequencies, or structure='fastfood'"
        what = f"{len(indices):,} orthogonal frequencies of {d:,} features take"
        check_room(what, d * bytes_per_feature, lambda free: remedy)
        directions: NDArray = np.empty((len(indices), d), dtype)
        progress = ProgressReporter(None, what="frequencies made orthogonal")
        for first in range(0, len(stacks), size):
            last = min(first + size, len(stacks))
            rows = slice(starts[first], np.append(starts, len(indices))[last])
            stack = np.searchsorted(stacks[first:last], stack_of_index[rows])
            columns = np.empty((last - first, d, int(places[rows].max()) + 1))
            for share in self._make_orthogonal(stacks[first:last], columns):
                done = (rows.start + share * (rows.stop - rows.start)) / len(indices)
                progress.report(done, f"{done:.0%} of the frequencies made orthogonal")
            directions[rows] = columns.astype(np.float32)[stack, :, places[rows]]
        directions *= (self.factor * lengths(self.key, indices, d))[:, None]
        return np.ascontiguousarray(directions.T)

    def _make_orthogonal(self, stacks: NDArray, columns: NDArray) -> Iterator[float]:
        """Fill ``columns`` (stacks, d, n) with the first directions of each; yield the part done.

        Panels of them are made orthogonal to those before, twice, for the rounding of the first; a
        single one stays in single precision, as frequencies of this version always were.
        """
        _, d, n_columns = columns.shape
        width = super()._block_size()
        dtype = float if n_columns > width else np.float32
        for first in range(0, n_columns, width):
            last = min(first + width, n_columns)
            members = (stacks[:, None] * d + np.arange(first, last)).ravel()
            numbers = normals(self.key, _NORMALS, members, d).reshape(len(stacks), last - first, d)
            panel = numbers.transpose(0, 2, 1).astype(dtype)
            before = columns[..., :first]
            for _ in range(2 if first else 0):
                panel = panel - before @ (before.transpose(0, 2, 1) @ panel)
            panel, upper = np.linalg.qr(panel)
            # The signs are a convention of LAPACK's; these make the decomposition unique.
            panel *= np.sign(np.diagonal(upper, axis1=1, axis2=2))[:, None, :]
            columns[..., first:last] = panel
            yield (last / n_columns) ** 2


class FastfoodFrequencies(Frequencies):
    r"""Products of diagonal, Hadamard and permutation matrices (Le, Sarlos and Smola).

    .. math:: V = \frac{1}{\sqrt p}\, S H G \Pi H B

    with p the power of two next to d, H the Hadamard matrix, B random signs, Π a random
    permutation, G normal numbers, S lengths chi-distributed with p degrees of freedom over ‖G‖.
    Each row is normal, as of `DenseFrequencies`; the p rows of a stack are not independent.
    """

    def _block_size(self) -> int:
        return len(self.indices)

    def _make(self, indices: NDArray, dtype: type) -> tuple[NDArray, ...]:
        p = 1 << (self.n_features - 1).bit_length()
        stack_of_index, places = np.divmod(indices, p)
        stacks, starts = np.unique(stack_of_index, return_index=True)
        gains = normals(self.key, _GAINS, stacks, p)
        norms = np.sqrt(np.sum(gains.astype(float) ** 2, axis=1) * p)
        scale = self.factor * lengths(self.key, indices, p)
        scale /= np.repeat(norms, np.diff(starts, append=len(indices)))
        flips: NDArray = 1 - 2 * (words(self.key, _FLIPS, stacks, p) >> 31).astype(dtype)
        order = np.argsort(words(self.key, _ORDERS, stacks, p), axis=1, kind="stable")
        ends = np.append(starts, len(indices))
        # The form that `kmaps._loops.fourier.fastfood` takes.
        return flips, order, gains.astype(dtype), ends, places, scale.astype(dtype)

    def _multiply(self, factors: tuple[NDArray, ...], dtype: type, rows: Any) -> NDArray:
        if is_foreign(rows):  # other libraries need the matrix
            matrix = self._multiply(factors, dtype, np.eye(self.n_features, dtype=dtype))
            return rows @ like(rows, matrix)
        dense = rows.toarray() if issparse(rows) else rows
        turns = np.empty((rows.shape[0], len(self.indices)), dtype)
        loops.fastfood(np.ascontiguousarray(dense, dtype), *factors, turns)
        return turns


STRUCTURES: dict[str, type[Frequencies]] = {  # the kinds of frequencies by name
    "dense": DenseFrequencies,
    "orthogonal": OrthogonalFrequencies,
    "fastfood": FastfoodFrequencies,
}


def words(key: int, stream: int, rows: NDArray, n: int) -> NDArray:
    """Return n random words for each of some rows of a stream, (k, n), uint32."""
    random_words = np.empty((len(rows), -(-n // 4) * 4), np.uint32)
    loops.words(np.uint64(key), stream, rows, random_words)
    return random_words[:, :n]


def normals(key: int, stream: int, rows: NDArray, n: int) -> NDArray:
    """Return n standard normal numbers for each of some rows of a stream, (k, n), float32."""
    numbers = np.empty((len(rows), n), np.float32)

    def draw(start: int, stop: int) -> None:
        bits = words(key, stream, rows[start:stop], -(-n // 4) * 4)
        drawn = np.empty(bits.shape, np.float32)
        loops.normals(bits, drawn)
        numbers[start:stop] = drawn[:, :n]

    for_blocks(draw, len(rows), max(1, _PART_VALUES // n))
    return numbers


def lengths(key: int, indices: NDArray, dimension: int) -> NDArray:
    """Return lengths (k,), float64, distributed like lengths of normal vectors of a dimension."""
    uniform = (words(key, _LENGTHS, indices, 1)[:, 0] + 0.5) * 2.0**-32
    return np.sqrt(2 * gammaincinv(dimension / 2, uniform))


def too_large(sigma: float) -> InputError:
    """Return the error for samples whose turns overflow."""
    return InputError(
        f"values of X are too large for sigma={sigma:.3g}: their products with the frequencies "
        "overflow; scale X down or sigma up"
    )
