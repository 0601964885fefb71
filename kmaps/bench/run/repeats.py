"""Timing the cells of a run again: interleaved, one at a time, on an idle computer.

Repeat 1 of all cells comes before repeat 2 of any, so that slow changes, such as of the processor's
clock, affect all rows alike. Each cell is measured as in the run, warm-up included, but with the C
that was chosen there; if a judged number is not reproduced, its time is discarded.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from kmaps import threads as compiled_threads
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell, Kind
from kmaps.bench.records.columns import Record, cell_name
from kmaps.bench.records.file import read_records
from kmaps.bench.records.gate import FLOOR
from kmaps.bench.records.summary import latest_cells
from kmaps.bench.records.times import Line, TimesFile
from kmaps.bench.run.clock import Load, look
from kmaps.bench.run.environment import check_solvers, describe
from kmaps.bench.run.measure import Measuring
from kmaps.bench.run.plan import code_of, importable, plan
from kmaps.bench.run.processes import Failure, Finished, Function, run_batches
from kmaps.bench.run.runner import RunProgress, Tally, batches_of
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import ConfigError, NothingMeasured
from kmaps.features import Report

_COMPUTER = ("load_before", "load_after", "other_cpus", "stolen_cpus")
_DESCRIBED = ("cpu", "cores", "versions", "commit", "dirty")
_ROUNDING = 1e-12


class Measurement(NamedTuple):
    """A repeat of a cell, at its own C or at the common one."""

    repeat: int
    common: bool
    key: str


@dataclass(frozen=True)
class Timed:
    """What timing again leaves behind: how many measurements were added, and were to be; the
    name of each cell that failed, with the reason; the load at the start, None with nothing to
    measure."""

    measured: int
    total: int
    failures: list[str]
    load: Load | None


@dataclass(frozen=True)
class _Round:
    """A repeat of cells at their own C, or at the ``common`` one."""

    repeat: int
    common: bool
    cells: dict[str, Cell]

    def measurement(self, key: str) -> Measurement:
        """Return what identifies the measurement of a cell in this round."""
        return Measurement(self.repeat, self.common, key)


def time_again(
    experiment: Experiment,
    folder: str | Path,
    *,
    repeats: int = 5,
    threads: int = 1,
    common_C: float | None = None,
    even_if_busy: bool = False,
    allow: Sequence[str] = (),
    allow_code: bool = False,
    command: str = "",
    look: Callable[[], Load] = look,
    progress: Callable[[RunProgress], None] = lambda progress: None,
    extracted: Report | None = None,
    measure: Function | None = None,
) -> Timed:
    """Time the measured cells of a run again; ``times.jsonl`` next to the records has the repeats.

    Options are as in ``kmaps run --again``. ``repeats`` includes the measurements on record;
    ``common_C`` is in the unit of the experiment's grid; ``look`` returns how busy the computer is;
    ``progress``, ``extracted`` and ``measure`` are as in :func:`kmaps.bench.run.runner.run`. A
    ConfigError says that the records are of another experiment, data or version than now, that
    ``common_C`` does not fit, or that the computer is not idle; NothingMeasured that no record has
    a time.
    """
    kind = KINDS[experiment.kind]
    folder = Path(folder)
    records = {record["key"]: record for record in _measured(folder, kind)}
    cells = _cells_of(experiment, records, folder)
    code_of(cells.values(), records.values(), experiment)
    if common_C is not None and not kind.chooses_C:
        raise ConfigError(
            f"common_C={common_C:g}: an experiment of the kind {experiment.kind} chooses no C; "
            "leave it out"
        )
    with TimesFile(folder) as file:
        _check_common(file, common_C)
        rounds = list(_rounds(kind, cells, records, repeats, common_C, file.lines))
        if not rounds:
            return Timed(0, 0, [], None)
        code = importable(cells.values(), experiment, allow, allow_code)
        check_solvers(kind, cells.values())
        load = _checked(look(), even_if_busy)
        skip_bad = any(record["n_skipped"] for record in records.values())
        with compiled_threads(threads):
            kind.prepare(cells.values(), skip_bad=skip_bad, progress=extracted)
        function = measure or Measuring(experiment.kind, threads, skip_bad, hold=True, folder=code)
        described = {
            **{name: value for name, value in describe().items() if name in _DESCRIBED},
            "threads": threads,
            "jobs": 1,
            "command": command,
            "busy": load.reason,
        }
        judged = {line["key"]: line["judged"] for line in file.lines if line["common"]}
        repeating = _Repeating(kind, records, file, described, function, look, judged)
        n_measured, n_planned = repeating.run(rounds, progress)
        return Timed(n_measured, n_planned, repeating.failures, load)


def _checked(load: Load, even_if_busy: bool) -> Load:
    if load.reason and not even_if_busy:
        raise ConfigError(
            f"the computer is not idle ({load.reason}), and times would not compare: wait, or time "
            "nevertheless and mark the times, with even_if_busy=True"
        )
    return load


def _measured(folder: Path, kind: Kind) -> list[Record]:
    records = [record for record in latest_cells(read_records(folder)) if record["status"] == "ok"]
    timed = [name for name in kind.shown.fills if name.endswith("_s") and name != "cv_s"]
    if not any(record[name] is not None for record in records for name in timed):
        raise NothingMeasured(f"{folder}: has no measured cell with a time to measure again")
    return records


def _cells_of(
    experiment: Experiment, records: Mapping[str, Record], folder: Path
) -> dict[str, Cell]:
    names = {record["experiment"] for record in records.values()}
    if names != {experiment.experiment}:
        raise ConfigError(
            f"{folder}: has records of {', '.join(sorted(names))}, not of {experiment.experiment}; "
            "name their experiment and its preset"
        )
    planned = plan(experiment)
    unplanned = [record for key, record in records.items() if key not in planned]
    if unplanned:
        first = unplanned[0]
        digests = {KINDS[experiment.kind].digest(cell) for cell in planned.values()}
        has_other_data = first["data_digest"] not in digests
        cause = "the data have" if has_other_data else "the file or the version of the maps has"
        raise ConfigError(
            f"{folder}: {len(unplanned)} of {len(records)} records are not of the cells that "
            f"{experiment.experiment} has now, such as {cell_name(first)}: {cause} changed; "
            f"measure them first (kmaps run {experiment.experiment})"
        )
    return {key: cell for key, cell in planned.items() if key in records}


def _check_common(file: TimesFile, common_C: float | None) -> None:
    others = {line["C"] for line in file.lines if line["common"]} - {common_C}
    if common_C is not None and others:
        raise ConfigError(
            f"common_C={common_C:g}: {file.path} has times at C = {others.pop():g}; use that, or "
            "delete the file"
        )


def _rounds(
    kind: Kind,
    cells: Mapping[str, Cell],
    records: Mapping[str, Record],
    repeats: int,
    common_C: float | None,
    lines: Sequence[Line],
) -> Iterator[_Round]:
    """Yield the cells to be measured, repeat by repeat, but for the repeats in the file."""
    done = {(line["key"], line["common"], line["C"], line["repeat"]) for line in lines}
    for repeat in range(repeats):
        for common in [False] if common_C is None else [False, True]:
            todo = {}
            for key, cell in cells.items():
                C = common_C if common else records[key]["C"]
                if (key, common, C, repeat) not in done:
                    todo[key] = kind.with_C(cell, C, records[key].get("search_chosen"))
            if todo:
                yield _Round(repeat, common, todo)


@dataclass(frozen=True)
class _Repeating:
    kind: Kind
    records: Mapping[str, Record]
    file: TimesFile
    described: dict[str, Any]
    function: Function
    look: Callable[[], Load]
    judged: dict[str, dict[str, Any]]  # what came out at a common C, by the key of the cell
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def failures(self) -> list[str]:
        return [f"{cell_name(self.records[key])}: {why}" for key, why in self.failed.items()]

    def run(
        self, rounds: Sequence[_Round], progress: Callable[[RunProgress], None]
    ) -> tuple[int, int]:
        methods = {
            timing_round.measurement(key): cell.row.method
            for timing_round in rounds
            for key, cell in timing_round.cells.items()
        }
        tally = Tally(methods, 1, progress)
        n_measured = 0
        for number, timing_round in enumerate(rounds):
            if number:  # by now this run causes the load average
                self.described["busy"] = replace(self.look(), average=None).reason
            for key in timing_round.cells.keys() & self.failed.keys():
                tally.drop(timing_round.measurement(key))
            todo = {key: cell for key, cell in timing_round.cells.items() if key not in self.failed}
            batches = batches_of(self.kind, todo)
            imports = self.kind.imports(todo.values())
            with closing(run_batches(self.function, batches, 1, imports)) as results:
                for item in results:
                    why = self._why_failed(timing_round, item)
                    if why:
                        self.failed.setdefault(item.key, why)
                    else:
                        self.file.append(self._line(timing_round, item))
                        n_measured += 1
                    status = {"status": "failed" if why else "ok", "error": why}
                    record = self.records[item.key] | status
                    tally.count(timing_round.measurement(item.key), record, item.seconds)
        return n_measured, len(methods)

    def _why_failed(self, timing_round: _Round, item: Finished) -> str:
        if isinstance(item.result, Failure):
            return item.result.error
        expected = self.records[item.key]
        if timing_round.common:  # the first repeat measures the result at that C
            numbers = _judged(self.kind, item.result.columns)
            expected = expected | self.judged.setdefault(item.key, numbers)
        is_other_cpu = expected["cpu"] != self.described["cpu"]
        floor = FLOOR if is_other_cpu else 0.0
        return _difference(self.kind, item.result.columns, expected, floor)

    def _line(self, timing_round: _Round, item: Finished) -> Line:
        columns = item.result.columns
        C = columns.get("C") if timing_round.common else self.records[item.key]["C"]
        measured = {name: value for name, value in columns.items() if value is not None}
        return {
            **self.described,
            **{name: columns.get(name) for name in _COMPUTER},
            "key": item.key,
            "repeat": timing_round.repeat,
            "common": timing_round.common,
            "C": C,
            "seconds": {
                name: value
                for name, value in measured.items()
                if name.endswith("_s") and name != "cv_s"
            },
            "bytes": {
                name: value for name, value in measured.items() if name.endswith("peak_bytes")
            },
            "judged": _judged(self.kind, columns),
            "started": item.started.isoformat(timespec="seconds"),
        }


def _judged(kind: Kind, columns: Mapping[str, Any]) -> dict[str, Any]:
    return {judged.column: columns.get(judged.column) for judged in kind.shown.judged}


def _difference(kind: Kind, columns: Mapping[str, Any], expected: Record, floor: float) -> str:
    """Say which judged number did not come out as on record, or nothing.

    Fractions may differ by ``floor``: another processor rounds sums otherwise, which moves samples.
    """
    for judged in kind.shown.judged:
        column = judged.column
        counted_otherwise = column == "train_bytes" and expected["storage_form"] is None
        if not judged.concerns(expected) or counted_otherwise:
            continue
        repeated = columns.get(column)
        recorded = expected[column]
        leeway = judged.tolerance.of(recorded) + _ROUNDING * max(1.0, abs(recorded))
        leeway += floor if judged.tolerance.of_mean else 0.0
        if repeated is None or abs(repeated - recorded) > leeway:
            return f"{column} is {repeated}, on record {recorded}: its times belong to other work"
    return ""
