"""Checks of arguments, each in one place: of single parameters, then of arrays.

A message says ``name=value: expected …``, where ``name`` is the argument's name; the feature or
object that the argument belongs to stands before it.
"""

import warnings
from collections.abc import Callable, Iterable
from math import isfinite
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kmaps.errors import ClampedWarning, ConfigError, InputError, suggest

_LONGEST = 200  # characters of a value in a message
_LITTLE = 1 << 28  # bytes: for fewer, nobody checks whether they are free
MAX_LEVELS = 256  # levels of a code of one byte
LARGEST_RATIO = 1e6
"""How many times the median size of its column's non-zero values a value may have.

A larger one is presumably a fill value, and levels and weights follow it.
"""
_DUST = 1e-12  # of the median column's size: less is what rounding left of zeros
LARGEST_VALUE = 1e37  # a feature's largest value to learn a table from; float32 ends at 3.4e38
LARGEST_WHOLE = 2**63 - 1  # larger numbers of Python fit into no array
T = TypeVar("T")


def present(value: T | None, what: str) -> T:
    """Return a value that has to be there by now; without it the state is wrong (RuntimeError)."""
    if value is None:
        raise RuntimeError(f"{what} is missing; please report it")
    return value


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number, and not a truth value."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # such as a whole number of 400 digits
        return False


def is_whole(
    value: Any, low: float = -LARGEST_WHOLE, high: float = LARGEST_WHOLE
) -> TypeGuard[int]:
    """Return whether a value is a whole number from ``low`` to ``high``, and not a truth value."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    return is_integer and low <= value <= high


def check_whole(
    name: str, value: object, low: int, high: int | None = None, *, or_none: bool = False
) -> None:
    """Refuse what is no whole number from ``low`` to ``high``, nor None with ``or_none``."""
    most = LARGEST_WHOLE if high is None else high
    if not (or_none and value is None) and not is_whole(value, low, most):
        too_large = is_whole(value, most, np.inf)
        limits = f"of at least {low}" if high is None and not too_large else f"from {low} to {most}"
        raise _unexpected(name, value, f"a whole number {limits}")


def check_whole_list(name: str, value: object, low: int) -> None:
    """Refuse a parameter that is not a tuple of different whole numbers, all at least ``low``."""
    if isinstance(value, tuple) and value:
        all_whole = all(is_whole(number, low) for number in value)
        if all_whole and len(set(value)) == len(value):
            return
    shown = list(value) if isinstance(value, tuple) else value
    raise _unexpected(name, shown, f"a list of different whole numbers of at least {low}")


def check_sizes(name: str, values: Any, most: int, note: str = "") -> None:
    """Refuse what is no list of finite numbers of 2 to ``most`` sizes besides zero."""
    try:
        numbers = np.asarray(values, float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    n_sizes = len(np.unique(np.abs(numbers[numbers != 0]))) if np.isfinite(numbers).all() else 0
    if isinstance(values, str) or numbers.ndim != 1 or not 2 <= n_sizes <= most:
        wanted = f"a list of finite numbers of 2 to {most} different sizes besides zero{note}"
        counted = f"; it has {n_sizes:,}" if n_sizes else ""
        raise _unexpected(name, values, f"{wanted}{counted}")


def check_number(
    name: str,
    value: object,
    *,
    above: float = -np.inf,
    at_least: float = -np.inf,
    below: float = np.inf,
    at_most: float = np.inf,
    note: str = "",
) -> None:
    """Refuse a parameter that is not a finite number inside the given limits."""
    if is_number(value) and above < value < below and at_least <= value <= at_most:
        return
    limits = {"above": above, "of at least": at_least, "below": below, "at most": at_most}
    wordings = [f"{words} {limit:g}" for words, limit in limits.items() if np.isfinite(limit)]
    raise _unexpected(name, value, f"a number {', '.join(wordings)}{note}")


def check_positive(name: str, value: object, note: str = "", *, or_none: bool = False) -> None:
    """Refuse what is no finite number above 0, nor None with ``or_none``; ``note`` ends a text."""
    if not (or_none and value is None) and not (is_number(value) and value > 0):
        raise _unexpected(name, value, f"a positive number{note}")


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a parameter that is none of the words to choose from."""
    words = list(choices)
    if not (isinstance(value, str) and value in words):
        *first, last = [repr(word) for word in words]
        raise _unexpected(name, value, f"{', '.join(first)} or {last}{suggest(value, words)}")


def check_flag(name: str, value: object, note: str = "") -> None:
    """Refuse a parameter that is neither True nor False; ``note`` ends the message."""
    if not isinstance(value, bool | np.bool_):
        raise _unexpected(name, value, f"True or False{note}")


def check_seed(name: str, value: object) -> None:
    """Refuse a parameter that does not seed random numbers as scikit-learn has it."""
    if value is None or is_whole(value, 0, 2**32 - 1):
        return
    if not isinstance(value, np.random.RandomState | type(np.random)):  # the module: its state
        raise _unexpected(name, value, "a whole number from 0 to 4294967295, or None")


def _unexpected(name: str, value: object, expected: str) -> ConfigError:
    text = repr(value)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return ConfigError(f"{name}={text}: expected {expected}")


def refuse_not_finite(values: NDArray) -> None:
    """Raise InputError with the place of the first value that is not finite, if there is one."""
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"Input X contains NaN or infinity (the first at row {row}, column {column}): "
            "remove or impute it"
        )


def refuse_negative(values: NDArray, whom: str) -> None:
    """Raise InputError when there is a negative value."""
    if values.size and values.min() < 0:
        raise InputError(
            f"Negative values in data passed to {whom}: its kernel compares histograms; shift the "
            "data or clip it at zero"
        )


def refuse_enormous(values: NDArray, whom: str) -> None:
    """Raise InputError for values that tables in single precision cannot hold."""
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    if largest > LARGEST_VALUE:
        raise InputError(
            f"{whom} learns tables from the data in single precision, too, and takes values up to "
            f"{LARGEST_VALUE:g}; the largest is {largest:.2g}: divide the features by a number"
        )


def check_room(what: str, n_bytes: float, remedy: Callable[[int], str]) -> None:
    """Refuse arrays that take more memory than is free; ``remedy`` gets the free bytes."""
    if n_bytes < _LITTLE:
        return
    from psutil import virtual_memory  # small data do not need it

    free = virtual_memory().available
    if n_bytes > free:
        raise InputError(
            f"{what} {n_bytes / 2**30:,.1f} GiB, and {free / 2**30:,.1f} GiB are free: "
            f"{remedy(free)}"
        )


def room_for_rows(n: int, width: int, dtype: DTypeLike, what: str = "outputs") -> NDArray:
    """Return an empty array (n, width) for outputs, once it is known that there is room."""
    row_bytes = width * np.dtype(dtype).itemsize

    def remedy(free: int) -> str:
        n_rows = free // row_bytes
        return f"{n_rows:,} rows at a time fit" if n_rows else f"no row fits, choose fewer {what}"

    check_room(f"{n:,} rows of {width:,} {what} take", n * row_bytes, remedy)
    return np.empty((n, width), dtype)


def warn_outside(outside: int, total: int, whom: str, stacklevel: int) -> None:
    """Warn that values were clamped, if any were; ``stacklevel`` counts from here."""
    if outside:
        warnings.warn(
            f"{outside} of {total} values lie outside the range that {whom} was fitted on and "
            "were clamped to it",
            ClampedWarning,
            stacklevel=stacklevel,
        )


def ratios_to_medians(largest: NDArray, medians: NDArray) -> NDArray[np.float64]:
    """Return how many times as large as its median each column's largest value is.

    Parameters
    ----------
    largest, medians : ndarray, shape (d,)
        Of each column the largest size, and the median size of its non-zero values.

    Returns
    -------
    ndarray of float64, shape (d,)
        Zero for columns without values, and for those whose median is less than 10⁻¹² of the
        median of these medians: most of their values are what rounding left of zeros.
    """
    positive = medians[medians > 0]
    least = _DUST * np.median(positive) if len(positive) else 0.0
    ratios = np.zeros(len(medians))
    return np.divide(largest, medians, out=ratios, where=medians > least)
