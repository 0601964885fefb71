"""One check of many cases, as one test that names every case that fails."""

from collections.abc import Callable, Iterable
from typing import Any


def failures(check: Callable[..., None], cases: Iterable[Any]) -> list[str]:
    """Return the cases that fail a check, each with what was wrong."""
    lines = []
    for case in cases:
        try:
            check(case)
        except Exception as error:
            lines.append(f"{case}: {type(error).__name__}: {error}")
    return lines
