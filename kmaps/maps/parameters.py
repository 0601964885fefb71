"""Checks of the parameters of the maps."""

from numbers import Integral, Real

import numpy as np

from kmaps.errors import ConfigError


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
