"""Checks of arguments: of single parameters, then of arrays."""

import warnings
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError, InputError


def check_whole(name: str, value: object, low: int, high: int | None = None) -> None:
    """Refuse a parameter that is not a whole number from ``low`` to ``high``.

    Examples
    --------
    >>> check_whole("degree", 4, 0, 3)
    Traceback (most recent call last):
    kmaps.errors.ConfigError: degree=4: expected a whole number from 0 to 3
    """
    if isinstance(value, Integral) and low <= value and (high is None or value <= high):
        return
    expected = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise ConfigError(f"{name}={value!r}: expected a whole number {expected}")


def is_number(value: object) -> bool:
    """Return whether a parameter is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(value))


def check_positive(name: str, value: object) -> None:
    """Refuse a parameter that is not a finite number above 0.

    Examples
    --------
    >>> check_positive("period", 0.0)
    Traceback (most recent call last):
    kmaps.errors.ConfigError: period=0.0: expected a positive number
    """
    if not (is_number(value) and value > 0):
        raise ConfigError(f"{name}={value!r}: expected a positive number")


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
            f"Negative values in data passed to {whom}: its kernel is one of histograms, shift the "
            "data or clip it at zero"
        )


def warn_outside(outside: int, total: int, whom: str, stacklevel: int) -> None:
    """Warn that values were clamped, if any were; ``stacklevel`` counts from here."""
    if outside:
        warnings.warn(
            f"{outside} of {total} values lie outside the range that {whom} was fitted on and "
            "were clamped to it",
            stacklevel=stacklevel,
        )
