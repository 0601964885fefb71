"""Pairs of functions, timed in turn in one process, and their ratio."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass
class Pair:
    """Our way against another way to do the same, or against the least work it needs.

    ``at_least`` is the ratio other/ours we promise, ``at_most`` the ratio ours/other; with neither
    the ratio is only shown.
    """

    name: str
    ours: Callable[[], object]
    other_name: str
    other: Callable[[], object]
    at_least: float | None = None
    at_most: float | None = None
    runs: int = 7


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    kept = function()  # freed after the clock has stopped
    elapsed = time.perf_counter() - start
    del kept
    return elapsed


def measure(pair: Pair) -> str:
    """Return one line: medians, the median of the pairwise ratios and whether the promise holds."""
    seconds(pair.ours), seconds(pair.other)  # compile and warm up
    times = [(seconds(pair.ours), seconds(pair.other)) for _ in range(pair.runs)]
    ours, other = (median(column) for column in zip(*times, strict=True))
    if pair.at_most is not None:
        ratio = median(a / b for a, b in times)
        verdict = f"{ratio:7.2f} × its time"
        promise, held = f"≤ {pair.at_most:g}", ratio <= pair.at_most
    else:
        ratio = median(b / a for a, b in times)
        verdict = f"{ratio:7.1f} × faster  "
        promise = "" if pair.at_least is None else f"≥ {pair.at_least:g}"
        held = pair.at_least is None or ratio >= pair.at_least
    return (
        f"{pair.name:36} {1e3 * ours:9.1f} ms   {pair.other_name:28} {1e3 * other:9.1f} ms   "
        f"{verdict}  {promise:6} {('held' if held else 'MISSED') if promise else ''}"
    ).rstrip()
