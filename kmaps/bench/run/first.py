"""Runs a compiled loop when imported: before the first one of a process numba takes 0.3 s."""

from numba import njit


def _nothing() -> int:
    return 0


try:
    njit(cache=True)(_nothing)()
except RuntimeError:  # numba may write to no folder
    njit(_nothing)()
