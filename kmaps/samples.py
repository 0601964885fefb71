"""Samples, dense or sparse, in the types that the compiled loops take, or of other libraries.

Arrays of other libraries are those that scikit-learn dispatches (``array_api_dispatch``). What
computes on them is written once, against the array API standard, where NumPy's are computed too.
SciPy and scikit-learn are imported where they are needed: predictions do without.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.checks import refuse_negative, refuse_not_finite
from kmaps.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse

AnyMatrix: TypeAlias = Any  # an ndarray or a sparse matrix of SciPy, which has no types
_EXACT_IN_SINGLE = ("bool", "int8", "uint8", "int16", "uint16", "float16", "bfloat16")


def issparse(X: object) -> bool:
    """Return whether X is a sparse matrix of SciPy, which is not imported to know it."""
    known = sys.modules.get("scipy.sparse")
    return known is not None and known.issparse(X)


def validate_data(estimator: Any, *arrays: Any, dispatch: bool = False, **how: Any) -> Any:
    """Call scikit-learn's function, but refuse a mask, which it forgets.

    Arrays of other libraries become NumPy's for training. For prediction they stay what they are
    with ``dispatch``, and are refused without.
    """
    from sklearn.utils import validation

    for array in arrays:
        refuse_mask(array)
    if any(map(is_foreign, arrays)):
        if len(arrays) == 1 and not how.get("reset", True):
            return _foreign_samples(estimator, *arrays, dispatch, how)
        arrays = tuple(map(as_numpy, arrays))
    return validation.validate_data(estimator, *arrays, **how)


def check_array(array: Any, **how: Any) -> Any:
    """Call scikit-learn's function, but refuse a mask, which it forgets."""
    from sklearn.utils import validation

    refuse_mask(array)
    return validation.check_array(array, **how)


def _foreign_samples(estimator: Any, X: Any, dispatch: bool, how: Mapping[str, Any]) -> Any:
    """Return samples as floats of their library, checked as NumPy's are; codes as they are."""
    from sklearn.utils import validation

    xp = namespace(X)
    if not dispatch:
        raise InputError(
            f"X is an array of {xp.__name__.split('.')[-1]}, which {type(estimator).__name__} does "
            "not take: convert it to NumPy; maps, CodedSVC, LiblinearSVC and RandomFeatureSVC take "
            "it in transform and decision_function"
        )
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise InputError(f"X is an array of {X.dtype}: expected real numbers")
    # What it returns may have lost the gradient.
    validation.validate_data(estimator, _detached(X), reset=False, ensure_all_finite=False)
    if how.get("dtype", float) is None:
        return X
    if X.dtype not in (xp.float32, xp.float64):
        narrow = any(X.dtype == getattr(xp, name, None) for name in _EXACT_IN_SINGLE)
        X = xp.astype(X, xp.float32 if narrow else xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
        refuse_not_finite(as_numpy(X))
    return X


def is_foreign(array: Any) -> bool:
    """Return whether an array is of another library than NumPy, and scikit-learn dispatches it."""
    if isinstance(array, np.ndarray) or issparse(array):
        return False
    from sklearn.utils._array_api import _is_numpy_namespace

    return not _is_numpy_namespace(namespace(array))


def namespace(x: Any) -> Any:
    """Return the functions of the array API standard for an array: NumPy itself for NumPy's."""
    if isinstance(x, np.ndarray):
        return np
    from sklearn.utils._array_api import get_namespace

    return get_namespace(x)[0]


def as_numpy(array: Any) -> Any:
    """Return an array as one of NumPy, in main memory and without its gradient."""
    if not is_foreign(array):
        return array
    from sklearn.utils._array_api import _convert_to_numpy

    return _convert_to_numpy(_detached(array), namespace(array))


def _detached(array: Any) -> Any:
    return array.detach() if namespace(array).__name__.endswith("torch") else array


def like(x: Any, constants: ArrayLike) -> Any:
    """Return floats in the library, the dtype and on the device of ``x``."""
    if isinstance(x, np.ndarray):
        return constants
    return namespace(x).asarray(np.array(constants), dtype=x.dtype, device=x.device)


def integers_like(x: Any, numbers: ArrayLike) -> Any:
    """Return whole numbers in the library and on the device of ``x``."""
    if isinstance(x, np.ndarray):
        return numbers
    return namespace(x).asarray(np.array(numbers, np.int64), device=x.device)


def whole(x: Any) -> Any:
    """Return whole numbers in floating point as integers."""
    if isinstance(x, np.ndarray):
        return x.astype(np.intp)
    xp = namespace(x)
    return xp.astype(x, xp.int64)


def in_double(x: Any) -> Any:
    """Return an array of another library in the widest floats that its device has."""
    from sklearn.utils._array_api import _max_precision_float_dtype

    xp = namespace(x)
    return xp.astype(x, _max_precision_float_dtype(xp, x.device))


def looked_up(x: Any, table: NDArray, index: Any) -> Any:
    """Return ``table[index]`` in the library, the dtype and on the device of ``x``."""
    if isinstance(x, np.ndarray):
        return table[index]
    xp = namespace(x)
    rows = xp.take(like(x, table), xp.reshape(index, (-1,)), axis=0)
    return xp.reshape(rows, (*index.shape, *table.shape[1:]))


def row_blocks(X: Any, size: int) -> Iterator[Any]:
    """Yield ``size`` rows after the other, of any library or CSR."""
    for start in range(0, X.shape[0], size):
        yield X[start : min(start + size, X.shape[0]), :]


def stacked(parts: list[AnyMatrix]) -> AnyMatrix:
    """Return arrays, or sparse matrices as CSR, one below the other."""
    if not issparse(parts[0]):
        return np.concatenate(parts)
    from scipy.sparse import vstack

    return vstack(parts, "csr")


def refuse_negative_samples(X: Any, whom: str) -> None:
    """Raise InputError when there is a negative value in an array of any library."""
    if bool(namespace(X).any(X < 0)):
        refuse_negative(as_numpy(X), whom)


def refuse_mask(array: Any) -> None:
    """Raise InputError for a masked array with masked values."""
    if np.ma.is_masked(array):
        raise InputError(
            "X is a masked array, and its masked values would count as data: leave those rows or "
            "features out, or fill them (X.filled(value))"
        )


def check_codes(codes: AnyMatrix, n_features: int | None, n_codes: int) -> None:
    """Refuse arrays that are no codes of a table, which compiled loops would not notice."""
    refuse_mask(codes)
    if codes.dtype != np.uint8 or codes.ndim != 2:
        raise InputError(
            f"codes: expected uint8 of shape (n, d), got {codes.dtype} of shape {codes.shape}"
        )
    if n_features is not None and codes.shape[1] != n_features:
        raise InputError(f"codes have {codes.shape[1]} features: the table has {n_features}")
    stored = codes.data if issparse(codes) else codes
    if stored.size and stored.max() >= n_codes:
        raise InputError(f"codes go up to {stored.max()}: the table has {n_codes} codes, from 0 on")


def as_float(X: NDArray) -> NDArray:
    """Return X as uint8, float32 or float64, converted without loss where there is a choice."""
    return X if X.dtype == np.uint8 else np.ascontiguousarray(X, float_type(X))


def float_type(X: AnyMatrix) -> type[np.floating]:
    """Return float32 where it holds every value of X's type, else float64."""
    return np.float32 if np.promote_types(X.dtype, np.float32) == np.float32 else np.float64


def read_only(array: NDArray) -> NDArray:
    """Return a view that cannot be written through, the type that loops are compiled for."""
    view = array.view()
    view.flags.writeable = False
    return view


def ratio_of_sizes(X: AnyMatrix) -> float | None:
    """Return the largest magnitude in X over the smallest but zero; None if they agree."""
    values = np.asarray(X.data if issparse(X) else X, float)
    sizes = np.abs(values[values != 0])
    if len(sizes) == 0 or sizes.max() == sizes.min():
        return None
    return float(sizes.max() / sizes.min())


def summed(X: AnyMatrix) -> AnyMatrix:
    """Return a CSR or CSC matrix without duplicate entries; the caller's is left alone."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def widened(X: AnyMatrix, data: NDArray, r: int) -> AnyMatrix:
    """Return the CSR matrix (n, d·r) with r values of ``data`` for each that X (n, d) stores."""
    shape = (X.shape[0], X.shape[1] * r)
    index = np.int32 if max(len(data), shape[1]) < 2**31 else np.int64
    indices = X.indices[:, None].astype(index) * r + np.arange(r, dtype=index)
    return type(X)((data, indices.ravel(), X.indptr.astype(index) * r), shape=shape)


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
        refuse_mask(data)
        matrix: AnyMatrix = _as_csr(data, name) if issparse(data) else _as_array(data, name)
        if 0 in matrix.shape:
            raise InputError(f"{name}: expected samples and features, got shape {matrix.shape}")
        values = matrix.data if issparse(matrix) else matrix
        # Reductions make no copy of the data, and NaN passes through both.
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
        if not np.isfinite([low, high]).all():
            raise InputError(f"{name}: contains NaN or infinity, remove or replace them first")
        return cls(matrix, max(high, -low), low < 0)

    def __len__(self) -> int:
        return self.matrix.shape[0]

    @property
    def n_features(self) -> int:
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
        drawn = np.random.default_rng(seed).choice(len(self), n, replace=False)
        return SampleMatrix(self.matrix[np.sort(drawn)], self.largest, self.signed)

    @cached_property
    def smallest(self) -> float:
        """The smallest magnitude of a value that is not zero; infinite when there is none."""

        def least(values: NDArray) -> float:
            magnitudes = np.abs(values if values.dtype.kind == "f" else values.astype(float))
            return float(magnitudes.min(where=magnitudes > 0, initial=np.inf))

        return min(map(least, self.parts()), default=np.inf)

    @cached_property
    def is_single(self) -> bool:
        """Whether float32 holds every value as it is."""
        if float_type(self.matrix) is np.float32:
            return True
        with np.errstate(over="ignore"):
            return all((part.astype(np.float32) == part).all() for part in self.parts())

    def parts(self) -> Iterator[NDArray]:
        """Yield the values that are stored, some at a time."""
        values = self.matrix.data if issparse(self.matrix) else self.matrix
        step = max(1, int(2**16 / (1 if values.ndim == 1 else self.n_features)))
        for start in range(0, len(values), step):
            yield values[start : start + step]

    def block(self, start: int, stop: int, factor: float, dtype: type) -> AnyMatrix:
        """Return a new array of some rows times a factor: contiguous, of that dtype."""
        part = self.matrix[start:stop]
        # Single precision is twice as fast, if it can hold the factor.
        narrow = dtype is np.float32 and 2.0**-126 <= factor < 2.0**128
        scale = np.float32(factor) if narrow else np.float64(factor)
        if not issparse(part):
            return np.ascontiguousarray(part * scale, dtype)
        from scipy.sparse import csr_array

        values = (part.data * scale).astype(dtype)
        return csr_array((values, part.indices, part.indptr), shape=part.shape)


def _as_array(data: ArrayLike, name: str) -> NDArray:
    try:
        array = np.asarray(data)
    except ValueError:
        raise InputError(f"{name}: its rows have different lengths, expected a matrix") from None
    _check_kind(array, name)
    return array


def _as_csr(data: "sparse.sparray | sparse.spmatrix", name: str) -> "sparse.csr_array":
    from scipy.sparse import csr_array

    _check_kind(data, name)
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


def _check_kind(data: AnyMatrix, name: str) -> None:
    if data.ndim != 2:
        raise InputError(f"{name}: expected a matrix (samples × features), got shape {data.shape}")
    if data.dtype.kind not in "buif":
        raise InputError(f"{name}: expected real numbers, got dtype {data.dtype}")
