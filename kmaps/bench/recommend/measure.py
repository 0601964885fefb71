"""Measuring the machines on a sample, in a folder of records, by the one runner."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from kmaps.bench.recommend.choices import Choice, Limits, points_by_key, row_us, unbeaten
from kmaps.bench.recommend.grid import beyond, content, write_experiment
from kmaps.bench.recommend.sample import Sample
from kmaps.bench.records.columns import Record
from kmaps.bench.report.front import Point
from kmaps.bench.run.progress import Progress
from kmaps.bench.run.runner import run
from kmaps.errors import CellsFailed, NothingMeasured


@dataclass(frozen=True)
class Recommendation:
    """What machines do on a sample.

    Attributes
    ----------
    records : list of dict
        Of all machines, those that failed among them.
    choices : list of Choice
        Those within the limits that no other one beats, in the order in which they stand.
    points : list of Point
        All within the limits, the choices first: a figure numbers them as they are numbered.
    left_out : list of int
        Numbers of random frequencies that are known to take more storage than the limit, and were
        not measured.
    """

    records: list[Record]
    choices: list[Choice]
    points: list[Point]
    left_out: list[int]

    @property
    def failed(self) -> list[Record]:
        """The records of the machines that failed."""
        return [record for record in self.records if record["status"] == "failed"]


def recommend(
    sample: Sample,
    folder: Path,
    *,
    hold_out: float,
    limits: Limits,
    exact_only: bool = False,
    threads: int | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    command: str = "",
) -> Recommendation:
    """Measure the grid of machines on a sample, and choose those that no other one beats.

    Parameters
    ----------
    sample : Sample
    folder : Path
        For the sample, the experiment and its records; measured machines are not measured again.
    hold_out : float
        The part of the sample that accuracies are measured on.
    limits : Limits
    exact_only : bool
        Whether to measure exact kernels only.
    threads, progress, command
        As of :func:`kmaps.bench.run.runner.run`.

    Raises
    ------
    CellsFailed
        When every machine failed.
    NothingMeasured
        When no machine is within the limits.
    """
    given = content(sample, hold_out=hold_out, exact_only=exact_only, max_bytes=limits.max_bytes)
    experiment = write_experiment(sample, folder, given)
    records = run(experiment, folder, threads=threads, progress=progress, command=command).records
    measured = [record for record in records if record["status"] == "ok"]
    if not measured:
        raise CellsFailed(f"all {len(records)} machines failed, the first: {records[0]['error']}")
    fitting = [record for record in measured if limits.hold(record)]
    if not fitting:
        raise NothingMeasured(_nearest(measured, limits))
    points = points_by_key(records)
    choices = unbeaten(fitting, points)
    chosen = [choice.record for choice in choices]
    others = [record for record in fitting if record not in chosen]
    shown = [points[record["key"]] for record in (*chosen, *others)]
    left_out = [] if exact_only else beyond(limits.max_bytes, sample, hold_out)
    return Recommendation(records, choices, shown, left_out)


def _nearest(measured: Sequence[Record], limits: Limits) -> str:
    """Say what the machines take that are beyond the limits."""
    given = {"max_bytes": limits.max_bytes, "max_us": limits.max_us}
    told = " and ".join(f"{name}={limit:g}" for name, limit in given.items() if limit < inf)
    smallest = min(record["storage_bytes"] for record in measured)
    return (
        f"none of {len(measured)} machines is within {told}; the smallest stores {smallest:,} "
        f"bytes, the fastest takes {min(map(row_us, measured)):.3g} microseconds a row"
    )
