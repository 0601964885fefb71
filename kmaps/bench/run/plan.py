"""The cells of an experiment, all of them or those of some rows; where they are published."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import kmaps
from kmaps.bench.kinds import KINDS
from kmaps.bench.records.names import short_labels
from kmaps.bench.spec.cell import Cell
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import ConfigError, suggest


def plan(experiment: Experiment) -> dict[str, Cell]:
    """Return the cells of an experiment by their keys, in the order they run."""
    kind = KINDS[experiment.kind]
    digests: dict[str, str] = {}
    planned = {}
    for cell in kind.cells(experiment):
        if cell.dataset not in digests:
            digests[cell.dataset] = kind.digest(cell)
        planned[cell.key(digests[cell.dataset])] = cell
    return planned


def of_rows(planned: Mapping[str, Cell], only: Sequence[str]) -> dict[str, Cell]:
    """Return the cells whose row a pattern names; all of them without patterns.

    A pattern is compared with the label of a row as ``kmaps run --dry-run`` has it
    (``homogeneous order=1``) and as tables have it (``homogeneous, r = 3``), whole or up to the end
    of a word; in it ``*`` stands for any text, ``?`` for any character.

    Raises
    ------
    ConfigError
        When a pattern names no row.
    """
    rows = {cell.row.identity: cell.row for cell in planned.values()}
    short, _ = short_labels(rows.values())
    labels = {identity: (row.label, short[identity]) for identity, row in rows.items()}
    for pattern in only:
        if not any(_names(pattern, pair) for pair in labels.values()):
            known = [label for label, _ in labels.values()]
            raise ConfigError(
                f"only={pattern!r}: no row of that name{suggest(pattern, known)} "
                f"(rows: {', '.join(known)})"
            )
    return {
        key: cell
        for key, cell in planned.items()
        if not only or any(_names(pattern, labels[cell.row.identity]) for pattern in only)
    }


def _names(pattern: str, labels: Iterable[str]) -> bool:
    wanted = (pattern, f"{pattern} *", f"{pattern},*")
    return any(fnmatchcase(label, one) for label in labels for one in wanted)


def published_folder(name: str, preset: str | None = None) -> Path:
    """Return where a source checkout keeps the published records of an experiment, if it has any.

    Parameters
    ----------
    name : str
        Of the experiment, without its preset.
    preset : str, optional
    """
    root = Path(kmaps.__file__).resolve().parent.parent
    return root.joinpath("results", *([preset] if preset else []), name)
