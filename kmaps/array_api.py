"""Arrays of other libraries, by the array API standard.

These are the arrays that scikit-learn dispatches (``array_api_dispatch``). What computes on them is
written once, against the standard, where NumPy's arrays are computed, too. scikit-learn is imported
where it is needed: NumPy's arrays do without.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.matrices import issparse


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

    return _convert_to_numpy(detached(array), namespace(array))


def detached(array: Any) -> Any:
    """Return an array without its gradient, where its library records one."""
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
    """Return an array in the widest floats that the device of its library has."""
    if isinstance(x, np.ndarray):
        return x.astype(np.float64)
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
