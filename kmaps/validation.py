"""The one way in for samples: scikit-learn's checks, those that it forgets, and types for loops.

Estimators call `validate_data`, other functions `check_array` or `as_matrix`. Each of them returns
arrays or sparse matrices that `in_loop_types` has converted.

scikit-learn is imported where it is needed: predictions from model files do without.
"""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.array_api import as_numpy, detached, is_foreign, namespace
from kmaps.checks import refuse_negative, refuse_not_finite
from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, issparse

_EXACT_IN_SINGLE = ("bool", "int8", "uint8", "int16", "uint16", "float16", "bfloat16")


def validate_data(estimator: Any, *arrays: Any, array_api: bool = False, **how: Any) -> Any:
    """Call scikit-learn's function, refuse what it forgets, and convert X for compiled loops.

    Arrays of other libraries are refused, except where ``array_api`` is set, as maps do: ``fit``
    (with ``reset``) gets NumPy's, ``transform`` gets what it was given.
    """
    from sklearn.utils import validation

    for array in arrays:
        refuse_mask(array)
    if array_api and is_foreign(arrays[0]):
        if not how.get("reset", True):
            return _foreign_samples(estimator, arrays[0], how)
        arrays = tuple(as_numpy(array) for array in arrays)
    for array in arrays:
        refuse_foreign(array, type(estimator).__name__)
    X, *targets = arrays
    _check_column_order(estimator, X, reset=how.get("reset", True))
    checked = validation.validate_data(estimator, in_loop_types(X), *targets, **how)
    if not targets:
        return in_loop_types(checked)
    X, *targets = checked
    return in_loop_types(X), *targets


def _check_column_order(estimator: Any, X: Any, *, reset: bool) -> None:
    """Refuse a data frame with the numbered columns of the training samples in another order.

    scikit-learn compares the names of columns only where they are texts.
    """
    pandas = sys.modules.get("pandas")  # not imported to know that X is no frame
    is_frame = pandas is not None and isinstance(X, pandas.DataFrame)
    has_names = is_frame and any(isinstance(name, str) for name in X.columns)
    columns = list(X.columns) if is_frame and not has_names else None
    if reset:
        estimator._numbered_columns = columns
        return
    fitted = vars(estimator).get("_numbered_columns")
    if columns is None or fitted is None or columns == fitted:
        return
    if set(columns) == set(fitted):
        raise InputError(
            f"X: has the columns that {type(estimator).__name__} was fitted on in another order: "
            f"{columns[:3]}…, expected {fitted[:3]}…; reorder them, X[{fitted[:3]}…]"
        )


def check_array(array: Any, **how: Any) -> Any:
    """Call scikit-learn's function, refuse what it forgets, and convert for compiled loops."""
    from sklearn.utils import validation

    refuse_mask(array)
    refuse_foreign(array, "a model")
    return in_loop_types(validation.check_array(in_loop_types(array), **how))


def as_matrix(data: Any, name: str) -> AnyMatrix:
    """Return samples as an array or a sparse matrix of real numbers, in the types of loops.

    Lists, data frames and tables of numbers become arrays; a missing value becomes NaN. Numbers of
    dimensions, of rows and of columns are not checked, nor whether the values are finite.
    """
    refuse_mask(data)
    refuse_foreign(data, name)
    data = in_loop_types(data, name)
    if not issparse(data):
        data = _as_numbers(data, name)
    return in_loop_types(data, name)


def _as_numbers(data: Any, name: str) -> NDArray:
    from sklearn.utils import validation

    try:
        array = np.asarray(data)
    except ValueError:
        raise InputError(f"{name}: its rows have different lengths, expected a matrix") from None
    if array.dtype.kind != "O":
        return array
    try:  # columns of pandas that may lack values, or of Arrow; numbers of Python
        return validation.check_array(
            data,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            ensure_min_features=0,
        )
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected real numbers, got dtype {array.dtype}") from None


def in_loop_types(X: Any, name: str = "X") -> Any:
    """Return an array or a sparse matrix in a type and with indices that loops are compiled for.

    float16 becomes float32 and long double float64, all in the byte order of the processor; indices
    become int32 where they fit, since SciPy makes int64 of coordinates that were int64. Text, dates
    and complex numbers are refused (InputError). Data frames and lists are returned as they are,
    for scikit-learn to convert.
    """
    if not (isinstance(X, np.ndarray) or issparse(X)):
        _refuse_columns(X, name)
        return X
    if X.dtype.kind == "c":  # in the words that scikit-learn's tests of estimators look for
        raise InputError(
            f"{name}: expected real numbers, got dtype {X.dtype}. Complex data not supported"
        )
    if X.dtype.kind not in "buifO":
        raise InputError(f"{name}: expected real numbers, got dtype {X.dtype}")
    dtype = X.dtype.newbyteorder("=")
    if dtype.kind == "f":
        dtype = np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    if X.dtype != dtype:
        with np.errstate(over="ignore"):  # infinity is refused where it matters
            X = X.astype(dtype)
    if issparse(X) and X.format in ("csr", "csc") and X.indices.dtype != np.int32:
        indices_fit = max(X.nnz, *X.shape) <= np.iinfo(np.int32).max
        if indices_fit:
            parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
            X = type(X)(parts, shape=X.shape)
    return X


def refuse_foreign(array: Any, whom: str) -> None:
    """Raise InputError for an array of another library, where scikit-learn dispatches it.

    Without ``array_api_dispatch`` scikit-learn converts such an array to NumPy, or refuses it.
    """
    if is_foreign(array):
        library = namespace(array).__name__.split(".")[-1]
        raise InputError(
            f"{whom} takes arrays of NumPy or SciPy, and this is one of {library}: convert it; "
            "arrays of other libraries are for transform of maps"
        )


def _refuse_columns(X: Any, name: str) -> None:
    """Refuse dates and complex numbers in a data frame; scikit-learn would count nanoseconds."""
    pandas = sys.modules.get("pandas")  # not imported to know that X is no frame
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return
    for column, dtype in X.dtypes.items():
        if dtype.kind in "mMc":
            complex_too = ". Complex data not supported" if dtype.kind == "c" else ""
            raise InputError(
                f"{name}: expected real numbers, got dtype {dtype} in column {column!r}: convert "
                f"it or leave it out{complex_too}"
            )


def _foreign_samples(estimator: Any, X: Any, how: Mapping[str, Any]) -> Any:
    """Return samples as floats of their library, checked as NumPy's are; codes as they are."""
    from sklearn.utils import validation

    xp = namespace(X)
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise InputError(f"X is an array of {X.dtype}: expected real numbers")
    # What it returns may have lost the gradient.
    validation.validate_data(estimator, detached(X), reset=False, ensure_all_finite=False)
    if how.get("dtype", float) is None:
        return X
    if X.dtype not in (xp.float32, xp.float64):
        narrow = any(X.dtype == getattr(xp, name, None) for name in _EXACT_IN_SINGLE)
        X = xp.astype(X, xp.float32 if narrow else xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
        refuse_not_finite(as_numpy(X))
    return X


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
            f"codes: expected uint8 of shape (n, d), got {codes.dtype} of shape {codes.shape}; "
            "a kmaps.Quantizer turns values into codes"
        )
    if n_features is not None and codes.shape[1] != n_features:
        raise InputError(f"codes have {codes.shape[1]} features: the table has {n_features}")
    stored = codes.data if issparse(codes) else codes
    if stored.size and stored.max() >= n_codes:
        raise InputError(f"codes go up to {stored.max()}: the table has {n_codes} codes, from 0 on")
