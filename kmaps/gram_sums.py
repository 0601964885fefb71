"""Sums of kernels and of distances over blocks of rows: which loop, of which type, at which scale.

Gram matrices are made of them (:mod:`kmaps.gram_matrix`).
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from kmaps._loops import distances, entries
from kmaps._loops import gram as loops
from kmaps._loops.byte_distances import byte_distances
from kmaps._loops.entries import Entries
from kmaps.matrices import AnyMatrix
from kmaps.sample_matrix import SampleMatrix

# Factors on the loops' sums of the kernel.
_LOOPS = {
    "chi2": (entries.CHI2, 2.0),
    "intersection": (entries.INTERSECTION, 1.0),
    "js": (entries.JS, 0.5),
    "hellinger": (entries.SQUARES, 1.0),
}

_SPARSE = 1 / 2  # part of the values of CSR rows that is stored where distances are differences
LEAST_PART = 1 / 4  # of K(x, x) + K(y, y): what a difference must keep
_EMPTY = 1 / 16  # part of the values of rows of bytes that is not zero where loops suit better
_VECTOR = 64  # bytes
_MOST_BYTES = 1 << 23  # whose differences have a sum of 31 bits
_ROUNDED = 1e-6  # of a byte over 255, in single precision
_FULL = 1 / 3  # part of the values of rows that is not zero where matrix products are faster
_FEW_ROWS = 256  # below, finding the centre takes as long as the loops
_SUMMED = 1024  # features of a product in single precision
_SINGLE_SPREAD = 4.0  # most squared length of a centred row, over σ²: an error of about 1e-6
_MOST_SPREAD = 1e8  # the same in double precision
_FEW = 1 / 16  # part of the pairs that are summed again one by one


def sums_of(
    kernel: str,
    gamma: float,
    X: SampleMatrix,
    Y: SampleMatrix,
    *,
    distance: bool,
    least_part: float | None = None,
    sigma: float = 0.0,
) -> "Sums":
    """Return the sums of an additive kernel, or of its squared distances.

    Blocks of rows have their ``dtype``, scaled to ``largest``; ``pack`` may change a block.
    Distances are differences of which ``least_part`` is left; by default where that is faster and
    exact to the last digits. With ``sigma`` they need no more digits than the exponential shows.
    """
    if kernel == "intersection" and gamma == 1:
        step = byte_step(X, Y)
        if step == 1 or (step and sigma):
            return _Bytes(X, Y, step, distance)
    if distance:
        if sigma and kernel == "hellinger" and _are_full(X, Y):
            squares = _Squares(gamma, X, Y, sigma)
            if squares.spread <= _MOST_SPREAD:
                return squares
        if least_part is None and _few_common(X, Y):
            least_part = LEAST_PART
        if least_part is not None:
            return _Differences(kernel, gamma, X, Y, least_part)
        return _Distances(kernel, gamma, X, Y)
    if kernel == "hellinger":
        return _MatrixProduct(gamma, X, Y)
    return _Products(kernel, gamma, X, Y, single=True)


class _Loop:
    """Compiled loops over the non-zeros, in single precision wherever that holds all of them.

    Two terms of chi2 are brought over one denominator, which multiplies three values: with the
    largest at 2^40 and the smallest at 2^-26 no such product overflows or loses digits, nor does
    a product of squared differences, down to 2^-24 of a value.
    """

    def __init__(
        self, kernel: str, gamma: float, X: SampleMatrix, Y: SampleMatrix, *, single: bool
    ) -> None:
        self.code, self.scale = _LOOPS[kernel]
        self.gamma = gamma
        self.signed = X.signed or Y.signed
        self.weighted = gamma != 1 and self.code != entries.SQUARES
        # Weights and powers of them multiply values once more.
        single_range = min(66, 100 / gamma) if self.weighted else 66
        self.dtype: type[np.floating] = np.float64
        if single and _range(X, Y) <= single_range:
            self.dtype = np.float32
        centred = not self.weighted and self.code != entries.JS  # js needs logarithms near zero
        self.largest = 1.0
        if centred:
            self.largest = 2.0**40 if self.dtype is np.float32 else 2.0**300
        self.smallest = 0.0
        if self.dtype is np.float64:
            double_range = 645 if centred else 900 / max(gamma, 1)
            self.smallest = self.largest * 2.0**-double_range
        # A chunk has some 96 values of a row: a loop worth starting, a short sum and, of dense
        # rows, a tile of 24 KB, within a core's first cache; of doubles, half as many.
        n_values = 96 if self.dtype is np.float32 else 48
        chunk = n_values * X.n_features / min(X.filled_per_row, Y.filled_per_row)
        self.width = int(np.clip(chunk, n_values, 2048))

    def context(self) -> AbstractContextManager:
        """Return the context that has to hold while blocks are multiplied."""
        return nullcontext()

    def _entries(self, block: AnyMatrix, *, signed: bool) -> Entries:
        # Never 0: a value of zero is none.
        smallest = block.dtype.type(max(self.smallest, np.finfo(self.dtype).smallest_subnormal))
        if sparse.issparse(block):
            index, value, bounds = entries.pack_csr(
                block.indptr,
                block.indices,
                block.data,
                block.shape[1],
                self.width,
                smallest,
                signed,
            )
        else:
            index, value, bounds = entries.pack_dense(block, self.width, smallest, signed)
        log = weight = np.empty(0, self.dtype)
        if self.code == entries.JS:
            log = np.log2(value)
        if self.weighted:
            weight = value ** self.dtype((self.gamma - 1) / 2)
        return Entries(index, value, log, weight, bounds, self.width)

    def pack(self, block: AnyMatrix) -> Any:
        """Return the positive entries of a block; of signed data also of its negative."""
        entries_of_block = [self._entries(block, signed=False)]
        if self.signed:
            entries_of_block.append(self._entries(-block, signed=False))
        return entries_of_block

    def _sums(
        self, walk: list, others: list, skip: int, zeros: list | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the sums of values of like signs, and the kernel of values of unlike signs.

        With the ``zeros`` of `walk` the sums are distances.
        """
        n_walked = walk[0].bounds.shape[1] - 1
        n_others = others[0].bounds.shape[1] - 1
        shape = (n_walked, n_others)
        same = np.zeros(shape)
        for k, (a, b) in enumerate(zip(walk, others, strict=True)):
            loops.add_sums(self.code, a, b, zeros[k] if zeros else None, skip, same)
        if len(walk) == 1:
            return same, None
        crossed = np.zeros(shape)
        for a, b in zip(walk, reversed(others), strict=True):
            loops.add_sums(self.code, a, b, None, skip, crossed)
        return same, self.scale * crossed


class _Products(_Loop):
    """The kernels chi2, intersection and js."""

    def __call__(self, walk: list, others: list, skip: int) -> NDArray[np.float64]:
        """Return the sums over all pairs; with a skip, garbage above the diagonal."""
        same, crossed = self._sums(walk, others, skip)
        same *= self.scale
        return same if crossed is None else same - crossed


@dataclass
class _Block:
    """A block of rows in the forms that distances are taken from."""

    entries: list[Entries]
    n_features: int
    norms: NDArray[np.float64] | None = None  # K(x, x) of each row

    @cached_property
    def zeros(self) -> list[tuple]:
        """The sums of a tile that cover the zeros of each row, which the walk needs."""
        return [distances.pack_zeros(packed, self.n_features) for packed in self.entries]


class _Distances(_Loop):
    r"""The squared distances :math:`k(x, x) + k(y, y) - 2 k(x, y)` of any kernel.

    For numbers of unlike signs it is the sum of their distances from zero, and twice the kernel of
    their magnitudes.
    """

    def __init__(self, kernel: str, gamma: float, X: SampleMatrix, Y: SampleMatrix) -> None:
        squares = kernel == "hellinger"
        # Rounding a value, or a power of it, would change the remainder of a difference.
        exact = gamma == (2 if squares else 1) and X.is_single and Y.is_single
        super().__init__(kernel, gamma, X, Y, single=exact)
        self.squares = squares
        if squares and gamma != 2:
            self.largest = 1.0
            self.smallest = 2.0**-450

    def pack(self, block: AnyMatrix) -> _Block:
        """Return the entries of a block, which is changed to signed powers where squares count."""
        if not self.squares:
            return _Block(super().pack(block), block.shape[1])
        if self.gamma != 2:
            _raise_signed(block, self.gamma / 2)
        return _Block([self._entries(block, signed=True)], block.shape[1])

    def __call__(self, walk: _Block, others: _Block, skip: int) -> NDArray[np.float64]:
        """Return the sums over all pairs; with a skip, garbage above the diagonal."""
        same, crossed = self._sums(walk.entries, others.entries, skip, walk.zeros)
        return same if crossed is None else same + 2 * crossed


class _Differences(_Distances):
    r"""Distances as :math:`K(x, x) + K(y, y) - 2 K(x, y)`, and again where that loses digits.

    Rows of few values have little in common: their kernel is soon summed, and small. The kernel has
    a small relative error; if the difference is at least a quarter of its terms, its relative error
    is at most three times as large.
    """

    def __init__(
        self, kernel: str, gamma: float, X: SampleMatrix, Y: SampleMatrix, least_part: float
    ) -> None:
        super().__init__(kernel, gamma, X, Y)
        self.least_part = least_part

    def pack(self, block: AnyMatrix) -> _Block:
        """Return the forms of a block, which may be changed."""
        packed = super().pack(block)
        packed.norms = products_with_itself(block, 2 if self.squares else self.gamma)
        return packed

    def __call__(self, walk: _Block, others: _Block, skip: int) -> NDArray[np.float64]:
        """Return the sums over all pairs; with a skip, garbage above the diagonal."""
        out, crossed = self._sums(walk.entries, others.entries, skip)
        if crossed is not None:
            out -= crossed / self.scale
        n_lost = loops.subtract(
            out, 2 * self.scale, walk.norms, others.norms, self.least_part, skip
        )
        if n_lost > _FEW * out.size:
            return super().__call__(walk, others, skip)
        if n_lost:
            rows, columns = map(np.ascontiguousarray, np.nonzero(np.isnan(out)))
            out[rows, columns] = 0 if crossed is None else 2 * crossed[rows, columns]
            for a, b in zip(walk.entries, others.entries, strict=True):
                out[rows, columns] += loops.distances_of_pairs(self.code, a, b, rows, columns)
        return out


class _MatrixProduct:
    """hellinger, and with gamma = 2 linear: matrix products of signed powers."""

    largest = 1.0

    def __init__(self, gamma: float, X: SampleMatrix, Y: SampleMatrix) -> None:
        self.gamma = gamma
        self.dtype: type[np.floating] = (
            np.float32 if _range(X, Y) <= min(100, 100 / gamma) else np.float64
        )

    def context(self) -> AbstractContextManager:
        """Keep BLAS to one thread for each of ours: their number then changes no digit."""
        return threadpool_limits(1, "blas")

    def pack(self, block: AnyMatrix) -> AnyMatrix:
        """Turn the values of a block into their signed powers, in place."""
        return _raise_signed(block, self.gamma / 2)

    def __call__(self, rows: AnyMatrix, others: AnyMatrix, skip: int) -> NDArray[np.float64]:
        """Return the product; a matrix product has nothing to skip."""
        product = rows @ others.T
        return (product.toarray() if sparse.issparse(product) else product).astype(np.float64)


class _Squares(_MatrixProduct):
    r"""Distances of rbf and exp-hellinger: :math:`\|x-c\|^2 + \|y-c\|^2 - 2 (x-c)^\top (y-c)`.

    With c, the mean of some rows of Y, the difference loses few digits: the exponential shows an
    error of about 1e-7 of the largest :math:`\|y-c\|^2 / \sigma^2`, or less in double precision.
    """

    def __init__(self, gamma: float, X: SampleMatrix, Y: SampleMatrix, sigma: float) -> None:
        self.dtype = np.float64
        self.gamma = gamma
        self.largest = 2.0 ** np.frexp(max(X.largest, Y.largest))[1]
        sample = Y.matrix[:: len(Y) // _FEW_ROWS].astype(np.float64)
        self.centre = _raise_signed(sample, gamma / 2).mean(axis=0)
        centre = self.centre.astype(np.float32)
        largest_norm = 0.0
        for start in range(0, len(Y), _FEW_ROWS):
            rows = _raise_signed(Y.block(start, start + _FEW_ROWS, 1.0, np.float32), gamma / 2)
            rows -= centre
            largest_norm = max(largest_norm, float(np.einsum("ij,ij->i", rows, rows).max()))
        self.spread = largest_norm / sigma / sigma
        self.single = self.spread <= _SINGLE_SPREAD

    def pack(self, block: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        """Return the rows of a block less the centre, and their squared lengths."""
        rows = _raise_signed(block, self.gamma / 2) - self.centre
        return rows.astype(np.float32 if self.single else np.float64), (rows**2).sum(axis=1)

    def __call__(self, rows: Any, others: Any, skip: int) -> NDArray[np.float64]:
        """Return the distances; a matrix product has nothing to skip."""
        x, x_norms = rows
        y, y_norms = others
        out = x_norms[:, None] + y_norms
        twice_y = y + y
        # Long sums in single precision would lose digits.
        for start in range(0, x.shape[1], _SUMMED):
            features = slice(start, start + _SUMMED)
            out -= x[:, features] @ twice_y[:, features].T
        return np.maximum(out, 0, out=out)


class _Bytes(_MatrixProduct):
    """The kernel, or the distances, of intersection between rows of bytes times a step."""

    dtype: type[np.floating] = np.float32

    def __init__(self, X: SampleMatrix, Y: SampleMatrix, step: float, distance: bool) -> None:
        self.largest = 2.0 ** np.frexp(max(X.largest, Y.largest))[1]
        self.step = step
        self.distance = distance

    def pack(self, block: NDArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the bytes of a block, in rows of whole vectors, and their sums."""
        n_vectors = -(-block.shape[1] // _VECTOR)
        codes = np.zeros((len(block), n_vectors * _VECTOR), np.uint8)
        codes[:, : block.shape[1]] = np.rint(block / self.step)
        return codes, codes.sum(axis=1, dtype=np.int64)

    def __call__(self, rows: Any, others: Any, skip: int) -> NDArray[np.float64]:
        """Return the sums over all pairs; with a skip, garbage above the diagonal."""
        x, x_sums = rows
        y, y_sums = others
        out = byte_distances(x, y, skip)
        if not self.distance:
            out = (x_sums[:, None] + y_sums - out) / 2
        return self.step * out


def byte_step(*matrices: SampleMatrix) -> float:
    """Return 1 or 1/255 if the rows are dense, of whole numbers of it up to 255; or else 0."""
    for step in (1.0, 1 / 255):
        if all(_are_bytes(rows, step) for rows in matrices):
            return step
    return 0.0


def _are_bytes(rows: SampleMatrix, step: float) -> bool:
    if sparse.issparse(rows.matrix) or rows.signed or rows.largest > 255.5 * step:
        return False
    if not rows.filled_per_row / rows.n_features > _EMPTY or rows.n_features > _MOST_BYTES:
        return False
    for values in rows.value_blocks():
        counts = values / step
        if not (np.abs(counts - np.rint(counts)) <= _ROUNDED * counts).all():
            return False
    return True


def products_with_itself(block: AnyMatrix, gamma: float) -> NDArray[np.float64]:
    """Return K(x, x) of every row, which is the sum of |x| to gamma."""
    powers = abs(block).astype(np.float64)
    values = powers.data if sparse.issparse(powers) else powers
    values **= gamma
    return powers.sum(axis=1)


def _are_full(X: SampleMatrix, Y: SampleMatrix) -> bool:
    """Return whether matrix products of rows take less time than loops over their values."""
    if sparse.issparse(X.matrix) or sparse.issparse(Y.matrix) or min(len(X), len(Y)) < _FEW_ROWS:
        return False
    filled = min(X.filled_per_row, Y.filled_per_row) / X.n_features
    return filled > _FULL and 2.0**-40 < max(X.largest, Y.largest) < 2.0**40


def _few_common(X: SampleMatrix, Y: SampleMatrix) -> bool:
    """Return whether the rows of X and of Y are likely to have few features in common."""
    if not (sparse.issparse(X.matrix) and sparse.issparse(Y.matrix)):
        return False
    return min(X.stored_per_row, Y.stored_per_row) <= _SPARSE * X.n_features


def _range(X: SampleMatrix, Y: SampleMatrix) -> float:
    """Return the logarithm (base 2) of the largest magnitude over the smallest that is not zero."""
    smallest = min(X.smallest, Y.smallest)
    largest = max(X.largest, Y.largest)
    return float(np.log2(largest) - np.log2(smallest)) if smallest <= largest else 0.0


def _raise_signed(block: AnyMatrix, power: float) -> AnyMatrix:
    """Replace the values of a block by the powers of their magnitudes, with their signs."""
    values = block.data if sparse.issparse(block) else block
    if power != 1:
        values[...] = np.copysign(np.abs(values) ** power, values)
    return block


Sums: TypeAlias = _Distances | _Products | _MatrixProduct | _Squares | _Bytes
