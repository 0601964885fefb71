"""The compiled inner loops (numba), nothing else; each has a NumPy oracle in the tests."""

import sys
from importlib import import_module
from typing import Any


def compiled() -> bool:
    """Return whether numba is loaded, which takes half a second: all estimators do it."""
    return "numba" in sys.modules


def loops_of(name: str) -> Any:
    """Return a module of compiled loops, or NumPy's versions of them where numba is not loaded."""
    return import_module(f"kmaps._loops.{name if compiled() else 'plain'}")
