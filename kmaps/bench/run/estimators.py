"""Estimators of others, found and checked before any cell is measured.

Their code is not kmaps': it is imported in processes of their own alone, where the folder of the
experiment's file is on the path.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kmaps.bench.records.row import Row, is_own
from kmaps.bench.run.processes import Failure, run_batches
from kmaps.bench.spec.cell import Cell
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import ConfigError


@contextmanager
def importing(folder: Path | None) -> Iterator[None]:
    """Let modules of a folder be imported, after those that are installed."""
    if folder is None:
        yield
        return
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@dataclass(frozen=True)
class Checking:
    """Checks the estimators of rows; can be pickled, as processes need it.

    Parameters
    ----------
    folder : Path or None
        The folder of the experiment's file.
    """

    folder: Path | None

    def __call__(self, batch: Mapping[str, Row]) -> Iterator[tuple[str, list[str]]]:
        """Yield the key of every row with what is wrong with its estimator."""
        from kmaps.bench.work.own import problems

        with importing(self.folder):
            for key, row in batch.items():
                yield key, problems(row.method, row.params, row.solver)


def check_estimators(cells: Iterable[Cell], experiment: Experiment) -> None:
    """Refuse estimators of others that cannot be made, all of them at once.

    Parameters
    ----------
    cells : iterable of Cell
        Those that are to be measured.
    experiment : Experiment
        What they are of; modules in its folder can be imported.

    Raises
    ------
    ConfigError
        With every mistake and its place, one per line: a module or class that is not there, a
        parameter that is unknown, a method that is missing.
    """
    rows = {cell.row.identity: cell.row for cell in cells if is_own(cell.row.method)}
    told: dict[str, None] = {}
    for done in run_batches(Checking(experiment.folder), [rows] if rows else [], jobs=1):
        row, problems = rows[done.key], done.result
        if isinstance(problems, Failure):
            problems = [f"estimator {row.method}: {problems.error}"]
        place = experiment.place_of(row.method, row.params)
        told |= dict.fromkeys(f"{place}: {problem}" if place else problem for problem in problems)
    if told:
        raise ConfigError("\n".join(told))
