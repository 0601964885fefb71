"""What cells may take, from the records of an earlier run of the same cells; nothing is guessed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kmaps.bench.records.columns import Record

SECONDS = ("fit_s", "encode_s", "convert_s", "train_s", "predict_s", "cv_s")


@dataclass(frozen=True)
class Forecast:
    """What some cells took once.

    Attributes
    ----------
    cells : int
        How many were asked for.
    known : int
        How many of them there is a record of.
    seconds : float or None
        What those took together, one after the other: choosing C, fitting, encoding, training and
        predicting. None when no time is on record.
    peak_bytes : int or None
        The most memory that one of them needed beyond its data.
    where : str
        On which processors, with how many threads.
    """

    cells: int
    known: int
    seconds: float | None = None
    peak_bytes: int | None = None
    where: str = ""


def forecast(keys: Collection[str], records: Iterable[Record]) -> Forecast:
    """Sum up what the cells of some keys took, as far as they are on record.

    Examples
    --------
    >>> record = {"key": "a", "status": "ok", "cpu": "one", "threads": 1, "train_s": 2.0}
    >>> forecast(["a", "b"], [record])
    Forecast(cells=2, known=1, seconds=2.0, peak_bytes=None, where='one, threads: 1')
    """
    wanted = set(keys)
    known = [one for one in records if one["key"] in wanted and one["status"] == "ok"]
    seconds = [s for one in known for name in SECONDS if (s := one.get(name)) is not None]
    peaks = [peak for one in known if (peak := one.get("peak_bytes")) is not None]
    cpus = sorted({str(one["cpu"]) for one in known})
    threads = sorted({str(one["threads"]) for one in known})
    return Forecast(
        cells=len(wanted),
        known=len(known),
        seconds=sum(seconds) if seconds else None,
        peak_bytes=max(peaks, default=None),
        where=f"{', '.join(cpus)}, threads: {', '.join(threads)}" if known else "",
    )
