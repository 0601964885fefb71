"""Old names of parameters, which work for one more release, with a warning that has the new one."""

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from kmaps.errors import ConfigError

OLD = "deprecated"
"""The value of an estimator's parameter of an old name, as scikit-learn writes it."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def renamed(**names: str) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator by which a function takes keywords of old names: ``old="new"``."""

    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        @functools.wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            for old in kwargs.keys() & names.keys():
                new = names[old]
                if new in kwargs:
                    raise ConfigError(f"{old} is now {new}: give {new} alone")
                warnings.warn(
                    f"{function.__name__}: {old} is now {new}", DeprecationWarning, stacklevel=2
                )
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate


def current(estimator: Any, old: str, new: str) -> Any:
    """Return a parameter of an estimator, which may have been given by its old name."""
    value = getattr(estimator, old)
    if isinstance(value, str) and value == OLD:
        return getattr(estimator, new)
    warnings.warn(
        f"{type(estimator).__name__}: {old} is now {new}", DeprecationWarning, stacklevel=3
    )
    return value
