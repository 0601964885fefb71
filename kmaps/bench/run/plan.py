"""The cells of an experiment, of all or of some rows; the cells that are left to run."""

import hashlib
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import kmaps
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Cell
from kmaps.bench.kinds.load import described, load
from kmaps.bench.kinds.row_names import names_of_rows
from kmaps.bench.records.columns import Record, cell_name
from kmaps.bench.records.file import read_records
from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import is_third_party
from kmaps.bench.records.times import Forecast, forecast
from kmaps.bench.run.environment import installed
from kmaps.bench.spec.fields import Experiment
from kmaps.errors import ConfigError, Mistakes, NothingMeasured, one_line, suggest


def plan(experiment: Experiment) -> dict[str, Cell]:
    """Return the cells of an experiment by their keys, in the order of measuring, their rows with
    the names that the experiment gives them."""
    kind = KINDS[experiment.kind]
    names = names_of_rows(experiment)
    digests: dict[str, str] = {}
    planned = {}
    for cell in kind.cells(experiment):
        if cell.dataset not in digests:
            digests[cell.dataset] = kind.digest(cell)
        key = cell.key(digests[cell.dataset])
        name = names.get(cell.row.identity)
        planned[key] = cell if name is None else replace(cell, row=replace(cell.row, name=name))
    return planned


def of_rows(planned: Mapping[str, Cell], only: Sequence[str]) -> dict[str, Cell]:
    """Return the cells whose row a pattern names; all of them without patterns.

    A pattern is compared with the label of a row as ``kmaps run --dry-run`` has it (``homogeneous
    order=1``) and as tables have it (``homogeneous, r = 3``), whole or up to the end of a word; in
    it ``*`` stands for any text, ``?`` for any character.
    """
    rows = {cell.row.identity: cell.row for cell in planned.values()}
    short, _ = short_labels(rows.values())
    labels = {identity: (row.label, short[identity]) for identity, row in rows.items()}
    for pattern in only:
        if not any(_names(pattern, pair) for pair in labels.values()):
            names = [label for label, _ in labels.values()]
            raise ConfigError(
                f"only={pattern!r}: no row has this name{suggest(pattern, names)} "
                f"(rows: {', '.join(names)})"
            )
    if not only:
        return dict(planned)
    named = {}
    for key, cell in planned.items():
        if any(_names(pattern, labels[cell.row.identity]) for pattern in only):
            named[key] = cell
    return named


def _names(pattern: str, labels: Iterable[str]) -> bool:
    whole_or_first_words = (pattern, f"{pattern} *", f"{pattern},*")
    return any(fnmatchcase(label, words) for label in labels for words in whole_or_first_words)


EVERYBODYS = ("interpret", "kmaps", "lightgbm", "sklearn")  # every experiment may import them


@dataclass(frozen=True)
class Import:
    """A package that rows import: an installed one, or a module in the experiment's folder."""

    package: str
    folder: Path | None
    is_allowed: bool


def imports_of(
    cells: Iterable[Cell], experiment: Experiment, allow: Collection[str], allow_code: bool
) -> list[Import]:
    """Return the imports of third-party rows; nothing is imported here.

    The user allows installed packages by name, and all modules in the experiment's folder together.
    """
    methods = {cell.row.method for cell in cells if is_third_party(cell.row.method)}
    imports = []
    for package in sorted({_package(method) for method in methods}):
        folder = experiment.folder if _beside(package, experiment.folder) else None
        by_name = package in EVERYBODYS or package in allow
        imports.append(Import(package, folder, allow_code if folder else by_name))
    return imports


def allowed_cells(
    cells: Iterable[Cell], experiment: Experiment, allow: Collection[str], allow_code: bool
) -> list[Cell]:
    """Return the cells without imports, or with imports that the user allowed."""
    cells = list(cells)
    imports = imports_of(cells, experiment, allow, allow_code)
    refused = {item.package for item in imports if not item.is_allowed}
    return [
        cell
        for cell in cells
        if not is_third_party(cell.row.method) or _package(cell.row.method) not in refused
    ]


def importable(
    cells: Collection[Cell], experiment: Experiment, allow: Collection[str], allow_code: bool
) -> Path | None:
    """Refuse rows with imports that nobody allowed; return the folder of the allowed modules.

    A ConfigError has every such row and its place, one per line.
    """
    imports = {
        imported.package: imported for imported in imports_of(cells, experiment, allow, allow_code)
    }
    refused = {name for name, imported in imports.items() if not imported.is_allowed}
    rows = [cell.row for cell in cells if is_third_party(cell.row.method)]
    lines = [
        f"{experiment.place_of(row.method, row.params)}: estimator {row.method}: "
        f"{_why_refused(imports[_package(row.method)])}".removeprefix(": ")
        for row in rows
        if _package(row.method) in refused
    ]
    if lines:
        raise Mistakes("\n".join(dict.fromkeys(map(one_line, lines))))
    return next((imported.folder for imported in imports.values() if imported.folder), None)


def _package(method: str) -> str:
    return method.partition(".")[0]


def _beside(package: str, folder: Path | None) -> ModuleSpec | None:
    """Return where a module in the folder is; None where there is none, or one is installed."""
    if folder is None or package in (*EVERYBODYS, *sys.stdlib_module_names):
        return None
    spec = PathFinder.find_spec(package, [str(folder)])
    return None if package in installed() else spec


def code_of(
    cells: Iterable[Cell], records: Iterable[Record], experiment: Experiment
) -> dict[str, str]:
    """Return, by method, the sha256 of the source of rows whose code is in the experiment's folder:
    of the module's file, or of all files of a package of it.

    A ConfigError says that some of the records were measured with other code than there is now.
    """
    digests: dict[str, str] = {}
    for method in {cell.row.method for cell in cells if is_third_party(cell.row.method)}:
        spec = _beside(_package(method), experiment.folder)
        if spec is None:
            continue
        paths: list[Path] = []
        for folder in spec.submodule_search_locations or ():
            paths += Path(folder).rglob("*.py")
        if not paths:
            paths = [Path(str(spec.origin))]
        source = b"".join(path.read_bytes() for path in sorted(paths))
        digests[method] = hashlib.sha256(source).hexdigest()
    measured = [record for record in records if record["status"] == "ok"]
    outdated = [
        record for record in measured if record["code"] not in (None, digests.get(record["method"]))
    ]
    if outdated:
        first = outdated[0]
        raise ConfigError(
            f"the code of {_package(first['method'])} has changed since {cell_name(first)} was "
            f"measured (cells with the old code: {len(outdated)}): choose another folder for the "
            "new code, or restore the old code"
        )
    return digests


def _why_refused(imported: Import) -> str:
    package = imported.package
    if imported.folder:
        return (
            f"{package}: this run would execute its code in {imported.folder}: read it first, then "
            "allow it with allow_code=True"
        )
    return (
        f"{package} is not among the packages that any experiment imports "
        f"({', '.join(EVERYBODYS)}): if it is installed, allow it with allow='{package}'"
    )


def published_folder(name: str, preset: str | None = None) -> Path:
    """Return where a source checkout keeps the published records of an experiment, if any."""
    root = Path(kmaps.__file__).resolve().parent.parent
    return root.joinpath("results", *([preset] if preset else []), name)


@dataclass(frozen=True)
class ScheduledRun:
    """An experiment to run, the folders of its records and of published ones, and a forecast."""

    experiment: Experiment
    folder: Path
    published: Path
    forecast: Forecast


def agenda(names: Iterable[str], out: Path, preset: str | None = None) -> list[ScheduledRun]:
    """Return the experiments in the order of their expected times, unpublished ones last.

    Those without the preset are left out; the folders of their records are in ``out``.
    """
    entries = [
        _scheduled(name, out, preset)
        for name in names
        if not preset or preset in described(name).presets
    ]
    return sorted(
        entries,
        key=lambda run: (run.forecast.known < run.forecast.cells, run.forecast.seconds or 0.0),
    )


def _scheduled(name: str, out: Path, preset: str | None) -> ScheduledRun:
    experiment = load(name, preset)
    folder = out / experiment.experiment
    published = published_folder(name, preset)
    settled = {record["key"] for record in records_of(folder)}
    to_do = plan(experiment).keys() - settled
    return ScheduledRun(experiment, folder, published, forecast(to_do, records_of(published)))


def records_of(folder: Path) -> list[Record]:
    """Return the records in a folder, none where it has no file of them."""
    try:
        return read_records(folder)
    except NothingMeasured:
        return []
