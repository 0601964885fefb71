"""The choice of C on record: rows with C at the edge of its grid, beyond which a better may lie."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import lines_of


@dataclass(frozen=True)
class ChosenRow:
    """A row whose C was chosen.

    Parameters
    ----------
    name : str
        Its reduction, kernel and label.
    least, largest : int
        In how many records C is the least, or the largest, of the values that were compared.
    n_records : int
    """

    name: str
    least: int
    largest: int
    n_records: int

    @property
    def is_at_edge(self) -> bool:
        """Whether C is at the edge of its grid in any record."""
        return bool(self.least + self.largest)


def compared_values(record: Mapping[str, Any]) -> list[float]:
    """Return the values of C that were compared for a record, ascending; none without a choice.

    Examples
    --------
    >>> compared_values({"cv_C": None, "C_grid": [1, 3, 10], "C_folds": 3})
    [1, 3, 10]
    >>> compared_values({"cv_C": [0.1, 1.0, 10.0], "C_grid": "auto", "C_folds": 3})
    [0.1, 1.0, 10.0]
    """
    if record["C_folds"] is None:
        return []
    grid = record["C_grid"] if record["cv_C"] is None else record["cv_C"]
    return grid if isinstance(grid, list) else []


def edge(record: Mapping[str, Any]) -> str:
    """Return ``"least"`` or ``"largest"`` where C is at the edge of its grid, else nothing."""
    values = compared_values(record)
    if len(values) < 2 or record["C"] not in (values[0], values[-1]):
        return ""
    return "least" if record["C"] == values[0] else "largest"


def chosen_rows(records: Iterable[Record]) -> list[ChosenRow]:
    """Return the rows of a run whose C was chosen, in the order of the records."""
    rows = []
    for line, cells in lines_of(records).items():
        chosen = [record for record in cells.values() if compared_values(record)]
        if chosen:
            edges = [edge(record) for record in chosen]
            name = " ".join(filter(None, (line.reduction, line.kernel, line.label)))
            least, largest = edges.count("least"), edges.count("largest")
            rows.append(ChosenRow(name, least, largest, len(chosen)))
    return rows


def edge_text(records: Iterable[Record]) -> str:
    """Say that C is at the edge of its grid in some of the records of a row; nothing otherwise.

    Examples
    --------
    >>> record = {"cv_C": None, "C_grid": [1, 3, 10], "C_folds": 3, "C": 10}
    >>> edge_text([record, record | {"C": 3}])
    'C = 10 is at the edge of its grid in 1 of 2 records'
    """
    records = list(records)
    at_edge = [record for record in records if edge(record)]
    if not at_edge:
        return ""
    values = ", ".join(f"{C:g}" for C in sorted({record["C"] for record in at_edge}))
    return f"C = {values} is at the edge of its grid in {len(at_edge)} of {len(records)} records"
