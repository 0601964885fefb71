"""What is left to measure of several experiments, and what that may take."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kmaps.bench.kinds.load import described, load
from kmaps.bench.records.columns import Record
from kmaps.bench.records.file import read_records
from kmaps.bench.records.times import Forecast, forecast
from kmaps.bench.run.plan import plan, published_folder
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import NothingMeasured


@dataclass(frozen=True)
class Entry:
    """An experiment that is to be run, or to go on.

    Attributes
    ----------
    experiment : Experiment
    folder, published : Path
        Of its own records, and of those that a source checkout may have.
    forecast : Forecast
        What its cells without a record took when they were published.
    """

    experiment: Experiment
    folder: Path
    published: Path
    forecast: Forecast

    @property
    def unknown(self) -> int:
        """How many cells are to do that no published time is known of."""
        timed = self.forecast.known if self.forecast.seconds is not None else 0
        return self.forecast.cells - timed


def agenda(names: Iterable[str], out: Path, preset: str | None = None) -> list[Entry]:
    """Return the experiments in the order of what they may take, those never published last.

    Parameters
    ----------
    names : iterable of str
        Experiments that come with kmaps.
    out : Path
        Their folders are in this one.
    preset : str, optional
        Experiments without this preset are left out.
    """
    entries = [
        _entry(name, out, preset)
        for name in names
        if not preset or preset in described(name).presets
    ]
    return sorted(entries, key=lambda one: (_unpublished(one), one.forecast.seconds or 0.0))


def _unpublished(entry: Entry) -> bool:
    return entry.forecast.known < entry.forecast.cells


def _entry(name: str, out: Path, preset: str | None) -> Entry:
    experiment = load(name, preset)
    folder, published = out / experiment.experiment, published_folder(name, preset)
    settled = {record["key"] for record in records_of(folder)}
    to_do = plan(experiment).keys() - settled
    return Entry(experiment, folder, published, forecast(to_do, records_of(published)))


def records_of(folder: Path) -> list[Record]:
    """Return the records of a folder, none of one without any."""
    try:
        return read_records(folder)
    except NothingMeasured:
        return []


def time_left(entries: Sequence[Entry]) -> tuple[float, int]:
    """Return the seconds that the cells to do took once, and how many took an unknown time.

    Examples
    --------
    >>> entry = Entry(None, Path("a"), Path("b"), Forecast(cells=3, known=2, seconds=5.0))
    >>> time_left([entry, entry])
    (10.0, 2)
    """
    seconds = sum(entry.forecast.seconds or 0.0 for entry in entries)
    return seconds, sum(entry.unknown for entry in entries)
