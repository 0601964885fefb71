"""Running a study: maps by themselves, without dataset or solver comparison.

An approximation study compares maps with kernels on all pairs of values; a toy study looks at the
functions they learn. Cells take well under a second, so they run one after the other in this
process; records and figures go to the study's folder, and a cell that has a record is not recorded
again.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kmaps.bench.approximation import Range, approximate
from kmaps.bench.environment import describe
from kmaps.bench.parameters import map_arguments, map_rows, takes_kernel
from kmaps.bench.records import COLUMNS, Record, RecordsFile, latest
from kmaps.bench.runner import Outcome
from kmaps.bench.spec import Approximation, Toy
from kmaps.maps import MAP_VERSION, MAPS


@dataclass(frozen=True)
class StudyCell:
    """One map, with one kernel, in one setting (a range of values, or the toy problem)."""

    setting: str
    kernel: str
    method: str
    params: dict[str, Any]
    options: dict[str, Any]  # what else the numbers depend on

    @property
    def label(self) -> str:
        """Name of the row in tables: the method and its parameters."""
        return " ".join([self.method, *(f"{key}={value}" for key, value in self.params.items())])

    @property
    def name(self) -> str:
        """The cell in words."""
        return " ".join(filter(None, [self.setting, self.kernel, self.label]))

    @property
    def key(self) -> str:
        """The sha256 of everything the numbers depend on."""
        config = [self.setting, self.kernel, self.method, self.params, self.options, MAP_VERSION]
        return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()

    def make_map(self) -> Any:
        """Return the map, unfitted."""
        return MAPS[self.method](**map_arguments(self.method, self.kernel, self.params))


def study_cells(study: Approximation | Toy) -> list[StudyCell]:
    """Return the cells of a study in the order they run."""
    if isinstance(study, Toy):
        options = study.model_dump(include={"side", "radius", "C"})
        return [
            StudyCell("disc in a square", kernel, entry["map"], params, options)
            for entry in study.maps
            for kernel, params in map_rows(entry, study.kernels)
        ]
    options = study.model_dump(include={"fit_range", "integers", "relative"})
    return [
        StudyCell(_setting(study, text), kernel, method, params, {"range": text, **options})
        for text in study.ranges
        for method, kernel, params in _approximated(study)
    ]


def _setting(study: Approximation, text: str) -> str:
    relative = ", relative" if study.relative else ""
    return f"x, y in {Range.parse(text, study.integers)}{relative}"


def _approximated(study: Approximation) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (method, kernel, parameters): a map that takes no kernel is compared with each."""
    for entry in study.maps:
        for own, params in map_rows(entry, study.kernels):
            for kernel in [own] if takes_kernel(entry["map"]) else study.kernels:
                yield entry["map"], kernel, params


def run_study(study: Approximation | Toy, folder: str | Path) -> Outcome:
    """Measure the cells of a study that have no record yet and draw its figures.

    Parameters
    ----------
    study : Approximation or Toy
    folder : str or Path
        Where ``records.jsonl`` and the figures, PNG files, are or will be.

    Returns
    -------
    Outcome
    """
    folder = Path(folder)
    planned = {cell.key: cell for cell in study_cells(study)}
    figures = _figures(study, folder)
    with RecordsFile(folder) as file:
        done = {record["key"] for record in file.records if record["status"] == "ok"}
        todo = [key for key in planned if key not in done]
        new: list[Record] = []
        if todo or not all(path.exists() for path in figures.values()):
            results = []
            for key, cell in planned.items():
                columns, result = _measure(study, cell)
                results.append((cell, result))
                if key in todo:
                    new.append(_record(study, cell, columns))
                    file.append(new[-1])
            _draw(study, results, figures)
        records = latest([*file.records, *new], planned)
    return Outcome(records, len(new), len(planned) - len(records))


def _measure(study: Approximation | Toy, cell: StudyCell) -> tuple[dict[str, Any], Any]:
    """Return the measured columns and, unless it failed, what the figures draw."""
    try:
        if isinstance(study, Toy):
            from kmaps.bench.toy import fit_toy  # here: listing the cells needs no solver

            fitted = fit_toy(cell.make_map(), study.side, study.radius, study.C)
            return {"accuracy": fitted.accuracy, "dim": fitted.dim}, fitted
        values = Range.parse(cell.options["range"], study.integers).values()
        fit_range = study.fit_range and Range.parse(study.fit_range, study.integers).values()
        result = approximate(
            cell.make_map(), cell.kernel, values, fit_values=fit_range, relative=study.relative
        )
    except ValueError as error:
        return {"status": "failed", "error": " ".join(str(error).split())}, None
    columns = {name: getattr(result, name) for name in ("linf", "rms", "worst", "dim")}
    return columns, result


def _record(study: Approximation | Toy, cell: StudyCell, columns: dict[str, Any]) -> Record:
    return {
        **dict.fromkeys(COLUMNS),
        **{"key": cell.key, "status": "ok", "experiment": study.experiment, "error": ""},
        **{"dataset": cell.setting, "protocol": cell.options, "kernel": cell.kernel},
        **{"features": "", "normalize": "", "reduction": ""},
        **{"method": cell.method, "params": cell.params, "label": cell.label},
        **{"map_version": MAP_VERSION, "started": datetime.now(UTC).isoformat(timespec="seconds")},
        **describe(),
        **columns,
    }


def _figures(study: Approximation | Toy, folder: Path) -> dict[str, Path]:
    names = ["functions"] if isinstance(study, Toy) else study.figures
    return {name: folder / f"{name}.png" for name in names}


def _draw(
    study: Approximation | Toy, results: list[tuple[StudyCell, Any]], figures: dict[str, Path]
) -> None:
    from kmaps.bench import approximation_plots  # here: listing the cells needs no matplotlib

    drawn = [(cell, result) for cell, result in results if result is not None]
    if isinstance(study, Toy):
        panels: dict[str, dict] = {}
        for cell, fitted in drawn:
            panels.setdefault(cell.method, {})[cell.label.partition(" ")[2] or cell.method] = fitted
        approximation_plots.draw_functions(panels, figures["functions"])
        return
    panels = {}
    # Kernel by kernel, so that the ranges of one stand side by side.
    for cell, result in sorted(drawn, key=lambda pair: study.kernels.index(pair[0].kernel)):
        title = cell.kernel if len(study.ranges) == 1 else f"{cell.kernel}, {cell.options['range']}"
        panels.setdefault(title, {})[cell.label] = result
    for name, path in figures.items():
        approximation_plots.DRAWN[name](panels, path)
