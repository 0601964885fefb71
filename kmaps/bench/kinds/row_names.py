"""Names that an experiment gives its rows, put into records when these are read.

They are no part of a record: a name may be added or changed after the run, as a claim may.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmaps.bench.paper.entries import may_name_rows, packaged
from kmaps.bench.records.columns import Record
from kmaps.bench.records.file import definition_file, read_records, records_path
from kmaps.bench.records.row import NAME, NAME_KEY, Row

if TYPE_CHECKING:
    from kmaps.bench.spec.fields import Experiment


def read_named(path: str | Path) -> list[Record]:
    """Read the records of a run as `read_records` does, with the names of their rows.

    The names are those of the experiment that is kept next to the records, or comes with kmaps.
    """
    records = read_records(path)
    definition = definition_file(records_path(path).parent)
    definition = definition or packaged().get(records[0]["experiment"])
    if definition is None or not may_name_rows(definition):
        return records
    from kmaps.bench.kinds.load import described_in  # few runs need what checks an experiment

    return with_names(records, described_in(definition))


def with_names(records: Iterable[Record], experiment: "Experiment") -> list[Record]:
    """Return records with the names that their experiment gives rows; others as they are."""
    names = names_of_rows(experiment)
    named = []
    for record in records:
        name = names.get(Row.of(record).identity)
        named.append(record if name is None else {**record, NAME: name})
    return named


def names_of_rows(experiment: "Experiment") -> dict[str, str]:
    """Return the names that an experiment gives rows, by the identity of a row."""
    empty: dict[str, list[Any]] = {key: [] for key in experiment.entries}
    of_no_entry = _identities(experiment, empty)
    names = {}
    for key, entries in experiment.entries.items():
        for entry in entries:
            name = _name(entry)
            if name is not None:
                rows = _identities(experiment, {**empty, key: [entry]}) - of_no_entry
                names.update(dict.fromkeys(rows, name))
    return names


def _name(entry: Any) -> str | None:
    """Return the name in an entry: a mapping as in the file, or a model; a text has none."""
    if isinstance(entry, str):
        return None
    return entry.get(NAME_KEY) if isinstance(entry, Mapping) else entry.name


def _identities(experiment: "Experiment", lists: Mapping[str, list[Any]]) -> set[str]:
    """Return the identities of the rows that an experiment has with other lists of entries."""
    from kmaps.bench.kinds import KINDS

    cells = KINDS[experiment.kind].cells(experiment.model_copy(update=lists))
    return {cell.row.identity for cell in cells}
