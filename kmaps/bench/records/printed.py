"""What a paper prints beside what we measured, row by row; smaller is better.

A number is met when ours, rounded to the digits that the paper prints, is no larger.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kmaps.bench.records.claims import row_names
from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row


@dataclass(frozen=True)
class Comparison:
    """One printed number and ours.

    Attributes
    ----------
    where : str
        The range, the kernel and our row.
    measure : str
        A key of :data:`kmaps.bench.records.measures.MEASURES`.
    printed, ours : float
    """

    where: tuple[str, str, str]
    measure: str
    printed: float
    ours: float

    @property
    def met(self) -> bool:
        """Whether ours is no larger, to the printed digits."""
        return round(self.ours, _decimals(self.printed)) <= self.printed

    @property
    def texts(self) -> list[str]:
        """The cells of a table: where, measure, printed, ours with a digit more, verdict."""
        ours = f"{self.ours:.{_decimals(self.printed) + 1}f}"
        verdict = "met" if self.met else f"{100 * (self.ours / self.printed - 1):+.1f} %"
        title = MEASURES[self.measure].title
        return [*self.where, title, repr(self.printed), ours, verdict]


def _decimals(number: float) -> int:
    """Return how many decimals a number is written with.

    Examples
    --------
    >>> _decimals(0.163), _decimals(9e-05), _decimals(12.0)
    (3, 5, 0)
    """
    exponent = f"{number:.15g}"
    digits, _, power = exponent.partition("e")
    return max(0, len(digits.partition(".")[2]) - int(power or 0))


def compare(
    printed: Iterable[Mapping[str, Any]], records: Iterable[Record]
) -> Iterator[Comparison]:
    """Yield each printed number beside each of our rows that it is one of.

    Parameters
    ----------
    printed : iterable of mapping
        ``rows`` (a selection as in :func:`kmaps.bench.records.claims.check_claim`), ``kernel``, and
        ``values`` by measure.
    records : iterable of mapping

    Examples
    --------
    >>> record = Row("lowdim", {"dim": 5}).columns | {"status": "ok", "kernel": "chi2", "dim": 5}
    >>> record |= {"setting": "x, y in 0:255", "options": {"range": "0:255"}, "linf": 0.1634}
    >>> given = {"rows": {"method": "lowdim"}, "kernel": "chi2", "values": {"linf": 0.163}}
    >>> [line] = compare([given], [record])
    >>> line.texts[2:]
    ['low-dimensional, D = 5', 'largest error', '0.163', '0.1634', 'met']
    """
    records = [record for record in records if record["status"] == "ok"]
    labels, _ = short_labels(map(Row.of, records))
    for given in printed:
        for record in records:
            names = row_names(record)
            picked = all(names.get(name) == value for name, value in given["rows"].items())
            if picked and record["kernel"] == given["kernel"]:
                label = labels[Row.of(record).identity]
                where = record["setting"] or record["dataset"], record["kernel"], label
                for measure, value in given["values"].items():
                    ours = MEASURES[measure].value(record)
                    if ours is not None:
                        yield Comparison(where, measure, value, ours)
