"""Measuring the cells of a batch in a separate process; checking third-party estimators there.

Only these processes import third-party code, with the folder of the experiment on the path.
"""

import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell, Kind, Measured
from kmaps.bench.records.row import Row, is_third_party
from kmaps.bench.run.clock import Clock, held, pinned
from kmaps.bench.run.processes import Failure, failure, run_batches
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import FileNote, KmapsError, Mistakes, one_line


@dataclass(frozen=True)
class Measuring:
    """Measures batches of cells of a kind; can be pickled, as processes need it.

    With ``hold`` processors are limited to ``threads``. Rows may name modules in ``folder``.
    """

    kind: str
    threads: int
    skip_bad: bool = False
    hold: bool = False
    folder: Path | None = None

    def __call__(self, batch: Mapping[str, Cell]) -> Iterator[tuple[str, Measured | Failure]]:
        """Yield the key of each cell of a batch with what was measured, or why nothing was."""
        kind = KINDS[self.kind]
        with (
            importing(self.folder),
            held(self.threads) if self.hold else nullcontext(),
            pinned(self.threads),
        ):
            try:
                with warnings.catch_warnings():
                    # The process that draws the splits has read the files, and says what it noted.
                    warnings.simplefilter("ignore", FileNote)
                    shared = kind.set_up(next(iter(batch.values())), skip_bad=self.skip_bad)
            except Exception as error:
                failed = failure(error)
                yield from ((key, failed) for key in batch)
                return
            for key, cell in batch.items():
                try:
                    yield key, measure_cell(kind, cell, shared)
                except Exception as error:
                    yield key, failure(error)


def measure_cell(kind: Kind, cell: Cell, shared: Any) -> Measured:
    """Warm up, then measure a cell on what its batch shares, with the columns of the clock."""
    # A reason to refuse a few samples need not hold for all samples.
    with warnings.catch_warnings(action="ignore"), suppress(KmapsError):
        kind.warm_up(cell, shared)
    with Clock() as clock:
        measured = kind.measure(cell, shared, clock)
    undeclared = sorted(set(measured.columns) - set(kind.shown.fills))
    if undeclared:
        raise TypeError(f"kind {cell.kind}: fills columns that it does not declare: {undeclared}")
    return replace(measured, columns={**clock.columns, **measured.columns})


@contextmanager
def importing(folder: Path | None) -> Iterator[None]:
    """Let modules of a folder be imported, after the installed ones."""
    if folder is None:
        yield
        return
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _problems(folder: Path | None, batch: Mapping[str, Row]) -> Iterator[tuple[str, list[str]]]:
    from kmaps.bench.work.third_party import problems

    with importing(folder):
        for key, row in batch.items():
            searched = row.learner.get("search", ())
            yield key, problems(row.method, row.params, row.solver, searched)


def check_estimators(
    cells: Collection[Cell], experiment: Experiment, folder: Path | None = None
) -> None:
    """Refuse third-party estimators that cannot be made, all at once: the error has every mistake
    and its place, one per line. Modules in the folder can be imported."""
    rows = {cell.row.identity: cell.row for cell in cells if is_third_party(cell.row.method)}
    checking = partial(_problems, folder)
    imports = KINDS[experiment.kind].imports(cells)
    mistakes: dict[str, None] = {}
    for done in run_batches(checking, [rows] if rows else [], 1, imports):
        row = rows[done.key]
        problems = done.result
        if isinstance(problems, Failure):
            problems = [f"estimator {row.method}: {problems.error}"]
        place = experiment.place_of(row.method, row.params)
        prefix = f"{place}: " if place else ""
        mistakes |= dict.fromkeys(f"{prefix}{problem}" for problem in problems)
    if mistakes:
        raise Mistakes("\n".join(map(one_line, mistakes)))
