"""Pairs of functions, measured in turn, and their ratio; and what has a limit of its own."""

import multiprocessing
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from kmaps.bench.run.clock import Clock


@dataclass(frozen=True)
class Quantity:
    """What is measured, in which unit and with how many digits, and what less of it is called.

    ``measure`` is what ``of`` returns: seconds ("s") or "bytes".
    """

    of: Callable[[Any], float]
    per_unit: float
    unit: str
    less: str
    warm_up: bool
    digits: int = 1
    measure: str = "s"


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    kept = function()  # freed after the clock has stopped
    elapsed = time.perf_counter() - start
    del kept
    return elapsed


def peak_bytes(function: Callable[[], Callable[[], object]]) -> float:
    """Return the memory that what ``function`` returns needs on top, in a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_bytes, (function,))


def _peak_bytes(function: Callable[[], Callable[[], object]]) -> float:
    measured = function()
    with Clock() as clock:
        kept = measured()
    del kept
    peak = clock.columns["peak_bytes"]
    if peak is None:
        raise SystemExit("this system does not tell the peak memory of a process")
    return peak


def process_bytes(script: str) -> float:
    """Return the peak memory of a new process, from its start on, that runs a few lines."""
    # Not getrusage: it may tell the peak of the process that started this one.
    tell = "print(*(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    lines = f"{script}\n{tell}"
    done = subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True, text=True)
    return 1024 * float(done.stdout.split()[1])


TIME = Quantity(seconds, 1e3, "ms", "faster", warm_up=True)
MEMORY = Quantity(peak_bytes, 1e-6, "MB", "smaller", warm_up=False, measure="bytes")
PROCESS = Quantity(process_bytes, 1e-6, "MB", "smaller", warm_up=False, measure="bytes")


@dataclass
class Pair:
    """Our way against another way to do the same, or against the least work it needs.

    ``at_least`` is the ratio other/ours we promise, ``at_most`` the ratio ours/other; with neither
    the ratio is only shown. A pair with a ``headline`` is kept in the record by that name;
    there the other way is called ``rival``.
    """

    name: str
    ours: Callable[[], object]
    other_name: str
    other: Callable[[], object]
    at_least: float | None = None
    at_most: float | None = None
    runs: int = 7
    quantity: Quantity = TIME
    headline: str = ""
    rival: str = ""


@dataclass
class Limit:
    """What ours may take at most, in units of the quantity, without anything to compare it with."""

    name: str
    ours: Callable[[], object] | str
    at_most: float
    quantity: Quantity = TIME


@dataclass(frozen=True)
class Measurement:
    """What a pair or a limit took: medians, and the median of the pairwise ratios."""

    line: str
    held: bool
    headline: str = ""
    rival: str = ""
    measure: str = "s"  # or "bytes"
    ours: float = 0.0
    other: float = 0.0
    ratio: float = 0.0  # other/ours


def measure(job: Pair | Limit) -> Measurement:
    """Return what it took, with a line that says whether the promise holds."""
    return _measure_pair(job) if isinstance(job, Pair) else _measure_limit(job)


def _measure_limit(limit: Limit) -> Measurement:
    quantity = limit.quantity
    if quantity.warm_up:
        quantity.of(limit.ours)
    taken = quantity.of(limit.ours) * quantity.per_unit
    held = taken <= limit.at_most
    promise = f"≤ {limit.at_most:g} {quantity.unit}"
    amount = f"{taken:9.{quantity.digits}f} {quantity.unit}"
    line = f"{limit.name:36} {amount}   {promise:62} {'held' if held else 'MISSED'}"
    return Measurement(line, held)


def _measure_pair(pair: Pair) -> Measurement:
    of, per_unit, unit = pair.quantity.of, pair.quantity.per_unit, pair.quantity.unit
    if pair.quantity.warm_up:
        of(pair.ours), of(pair.other)  # compile, too
    taken = [(of(pair.ours), of(pair.other)) for _ in range(pair.runs)]
    ours, other = (median(column) for column in zip(*taken, strict=True))
    gain = median(b / a for a, b in taken)
    if pair.at_most is not None:
        cost = median(a / b for a, b in taken)
        verdict = f"{cost:7.2f} × its time"
        promise = f"≤ {pair.at_most:g}"
        held = cost <= pair.at_most
    else:
        verdict = f"{gain:7.1f} × {pair.quantity.less:8}"
        promise = "" if pair.at_least is None else f"≥ {pair.at_least:g}"
        held = pair.at_least is None or gain >= pair.at_least
    line = (
        f"{pair.name:36} {per_unit * ours:9.1f} {unit}   "
        f"{pair.other_name:28} {per_unit * other:9.1f} {unit}   "
        f"{verdict}  {promise:6} {('held' if held else 'MISSED') if promise else ''}"
    ).rstrip()
    return Measurement(
        line, held, pair.headline, pair.rival, pair.quantity.measure, ours, other, gain
    )
