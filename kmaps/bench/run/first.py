"""Runs a compiled loop when imported: before the first one of a process numba takes 0.3 s."""

from numba import njit


@njit(cache=True)  # type: ignore[untyped-decorator]
def _nothing() -> int:
    return 0


_nothing()
