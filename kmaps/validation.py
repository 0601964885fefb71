"""Checks of samples: scikit-learn's, and those that it forgets.

scikit-learn is imported where it is needed: predictions from model files do without.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kmaps.array_api import as_numpy, detached, is_foreign, namespace
from kmaps.checks import refuse_negative, refuse_not_finite
from kmaps.errors import InputError
from kmaps.matrices import AnyMatrix, issparse

_EXACT_IN_SINGLE = ("bool", "int8", "uint8", "int16", "uint16", "float16", "bfloat16")


def validate_data(estimator: Any, *arrays: Any, array_api: bool = False, **how: Any) -> Any:
    """Call scikit-learn's function, but refuse a mask, which it forgets.

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
    return validation.validate_data(estimator, *arrays, **how)


def check_array(array: Any, **how: Any) -> Any:
    """Call scikit-learn's function, but refuse a mask, which it forgets."""
    from sklearn.utils import validation

    refuse_mask(array)
    refuse_foreign(array, "a model")
    return validation.check_array(array, **how)


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
            f"codes: expected uint8 of shape (n, d), got {codes.dtype} of shape {codes.shape}"
        )
    if n_features is not None and codes.shape[1] != n_features:
        raise InputError(f"codes have {codes.shape[1]} features: the table has {n_features}")
    stored = codes.data if issparse(codes) else codes
    if stored.size and stored.max() >= n_codes:
        raise InputError(f"codes go up to {stored.max()}: the table has {n_codes} codes, from 0 on")
