"""A matrix of samples that is checked once and then read block by block.

SciPy is imported where it is needed: dense samples do without.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, float_type, issparse
from kmaps.validation import as_matrix

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True)
class SampleMatrix:
    """A finite real matrix of at least one row and one column, in the dtype it came in.

    Make one with :meth:`check`; :meth:`block` converts and scales some rows at a time.
    """

    matrix: AnyMatrix  # ndarray or csr_array
    largest: float  # the largest magnitude of a value
    signed: bool  # whether some value is negative

    @classmethod
    def check(
        cls, data: "ArrayLike | sparse.sparray | sparse.spmatrix", name: str
    ) -> "SampleMatrix":
        """Check a matrix; errors (InputError) call it by ``name``."""
        matrix = as_matrix(data, name)
        if matrix.ndim != 2:
            raise InputError(
                f"{name}: expected a matrix (samples × features), got shape {matrix.shape}"
            )
        if issparse(matrix):
            matrix = _as_csr(matrix, name)
        if 0 in matrix.shape:
            raise InputError(f"{name}: expected samples and features, got shape {matrix.shape}")
        values = matrix.data if issparse(matrix) else matrix
        # Reductions make no copy of the data, and NaN passes through both.
        low = float(values.min()) if values.size else 0.0
        high = float(values.max()) if values.size else 0.0
        if not np.isfinite([low, high]).all():
            raise InputError(f"{name}: contains NaN or infinity, remove or replace them first")
        return cls(matrix, max(high, -low), low < 0)

    def __len__(self) -> int:
        return self.matrix.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.matrix.shape[1]

    @property
    def stored_per_row(self) -> float:
        """Mean number of values that a row stores, at least one."""
        stored = self.matrix.nnz if issparse(self.matrix) else self.matrix.size
        return max(stored / len(self), 1.0)

    @cached_property
    def filled_per_row(self) -> float:
        """Mean number of values of a row that are not zero, at least one."""
        values = self.matrix.data if issparse(self.matrix) else self.matrix
        return max(np.count_nonzero(values) / len(self), 1.0)

    def draw(self, n: int, seed: int) -> "SampleMatrix":
        """Return ``n`` different rows drawn at random; all of them when there are no more."""
        if n >= len(self):
            return self
        return SampleMatrix(self.matrix[self.drawn(n, seed)], self.largest, self.signed)

    def drawn(self, n: int, seed: int) -> NDArray[np.intp]:
        """Return the numbers of the rows of :meth:`draw`, ascending."""
        if n >= len(self):
            return np.arange(len(self))
        return np.sort(np.random.default_rng(seed).choice(len(self), n, replace=False))

    @cached_property
    def smallest(self) -> float:
        """The smallest magnitude of a value that is not zero; infinite when there is none."""

        smallest = np.inf
        for values in self.value_blocks():
            magnitudes = np.abs(values if values.dtype.kind == "f" else values.astype(float))
            smallest = min(smallest, magnitudes.min(where=magnitudes > 0, initial=np.inf))
        return float(smallest)

    @cached_property
    def is_single(self) -> bool:
        """Whether float32 holds every value as it is."""
        if float_type(self.matrix) is np.float32:
            return True
        with np.errstate(over="ignore"):
            return all(
                (values.astype(np.float32) == values).all() for values in self.value_blocks()
            )

    def value_blocks(self) -> Iterator[NDArray]:
        """Yield the values that are stored, some at a time."""
        values = self.matrix.data if issparse(self.matrix) else self.matrix
        width = 1 if values.ndim == 1 else self.n_features
        step = max(1, int(2**16 / width))
        for start in range(0, len(values), step):
            yield values[start : start + step]

    def block(self, start: int, stop: int, factor: float, dtype: type) -> AnyMatrix:
        """Return a new array of some rows times a factor: contiguous, of that dtype."""
        rows = self.matrix[start:stop]
        # Single precision is twice as fast, if it can hold the factor.
        fits_single = dtype is np.float32 and 2.0**-126 <= factor < 2.0**128
        scale = np.float32(factor) if fits_single else np.float64(factor)
        if not issparse(rows):
            return np.ascontiguousarray(rows * scale, dtype)
        from scipy.sparse import csr_array

        values = (rows.data * scale).astype(dtype)
        return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def _as_csr(data: "sparse.sparray | sparse.spmatrix", name: str) -> "sparse.csr_array":
    from scipy.sparse import csr_array

    # Duplicates are summed in float, on a copy: small integers would overflow, and the caller's
    # matrix stays as it is.
    real = np.result_type(data.dtype, np.float32)
    matrix = csr_array(data if data.format == "csr" else data.astype(real))
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"{name}: not a valid CSR matrix ({error})") from None
    if not matrix.has_canonical_format:
        matrix = matrix.astype(real, copy=True)
        matrix.sum_duplicates()
    return matrix
