"""Names that an experiment gives its rows, put into records when these are read.

They are no part of a record: a name may be added or changed after the run, as a claim may.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import described_in
from kmaps.bench.paper.entries import packaged
from kmaps.bench.records.columns import Record
from kmaps.bench.records.file import definition_file, read_records, records_path
from kmaps.bench.records.row import NAME, Row
from kmaps.bench.spec.fields import Experiment
from kmaps.bench.spec.positions import read
from kmaps.bench.spec.rows import NAME as NAME_KEY
from kmaps.bench.spec.rows import NAMED, entries_of
from kmaps.data.yaml_text import read_text


def read_named(path: str | Path) -> list[Record]:
    """Read the records of a run as `read_records` does, with the names of their rows.

    The names are those of the experiment that is kept next to the records, or comes with kmaps.
    """
    records = read_records(path)
    definition = definition_file(records_path(path).parent)
    definition = definition or packaged().get(records[0]["experiment"])
    if definition is None or not _has_names(definition):
        return records
    return with_names(records, described_in(definition))


def with_names(records: Iterable[Record], experiment: Experiment) -> list[Record]:
    """Return records with the names that their experiment gives rows; others as they are."""
    names = names_of_rows(experiment)
    named = []
    for record in records:
        name = names.get(Row.of(record).identity)
        named.append(record if name is None else {**record, NAME: name})
    return named


def names_of_rows(experiment: Experiment) -> dict[str, str]:
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


def _identities(experiment: Experiment, lists: Mapping[str, list[Any]]) -> set[str]:
    """Return the identities of the rows that an experiment has with other lists of entries."""
    cells = KINDS[experiment.kind].cells(experiment.model_copy(update=lists))
    return {cell.row.identity for cell in cells}


def _has_names(path: Path) -> bool:
    """Return whether the file of an experiment names a row; the file is not checked."""
    _, content = read(read_text(path), str(path))
    entries = [entry for key in NAMED for _, entry in entries_of(content, key)]
    return any(NAME_KEY in entry for entry in entries)
