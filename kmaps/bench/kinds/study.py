"""Running a study: maps by themselves, without dataset or solver comparison.

An approximation study compares maps with kernels on pairs of values; a toy study looks at the
functions they learn; one of random features compares maps with exponential kernels on pairs of
samples; a trade-off thins random maps out. Cells run one after the other in this process; records
and figures go to the study's folder, and a cell that has a record is not recorded again.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from kmaps.bench.kinds.study_spec import Approximation, Detection, RandomFeatures, Toy, TradeOff
from kmaps.bench.records.file import COLUMNS, Record, RecordsFile, latest
from kmaps.bench.run.environment import describe
from kmaps.bench.run.runner import Outcome
from kmaps.bench.spec.map_rows import map_arguments, map_rows, takes, takes_kernel
from kmaps.bench.work.errors import Errors, Range, approximate
from kmaps.bench.work.random_errors import draw_samples, random_errors
from kmaps.bench.work.spans import SpanErrors, over_differences, over_ratios, parse_range
from kmaps.kernels import STATIONARY
from kmaps.maps import MAP_VERSION, MAPS

Study = Approximation | Toy | RandomFeatures | TradeOff

_BY_RECORDS = RandomFeatures, TradeOff
"""Studies whose figures need nothing but the records."""


@dataclass(frozen=True)
class StudyCell:
    """One map, with one kernel, in one setting (a range of values, the toy problem, samples)."""

    setting: str
    kernel: str
    method: str
    params: dict[str, Any]
    options: dict[str, Any]  # what else the numbers depend on

    @property
    def label(self) -> str:
        """Name of the row in tables: the method, its parameters and its learner."""
        learner = dict(self.options.get("learner", {}))
        name = learner.pop("name", "")
        settings = {**self.params, **learner}
        words = [self.method, *(f"{key}={value}" for key, value in settings.items())]
        return " ".join(words if name in ("", self.method) else [name, *words])

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
        """Return the map, unfitted; what it shares with the kernel it has from the options."""
        shared = {name: self.options[name] for name in ("sigma", "levels") if name in self.options}
        own = map_arguments(self.method, self.kernel, self.params)
        return MAPS[self.method](
            **{name: value for name, value in shared.items() if takes(self.method, name)} | own
        )


def study_cells(study: Study) -> list[StudyCell]:
    """Return the cells of a study in the order they run."""
    if isinstance(study, Approximation):
        return [
            StudyCell(_setting(study, text), kernel, method, params, _options(study, text))
            for text in study.ranges
            for method, kernel, params in _approximated(study)
        ]
    if isinstance(study, TradeOff):
        return list(_trials(study))
    if isinstance(study, Toy):
        setting, options = "disc in a square", study.model_dump(include={"side", "radius", "C"})
    else:
        setting, options = study.dataset.name, {"draws": study.draws}
        options |= {"dataset": study.dataset.protocol, "features": study.features.model_dump()}
    return [
        StudyCell(setting, kernel, entry["map"], params, options)
        for entry in study.maps
        for kernel, params in map_rows(entry, study.kernels)
    ]


def _options(study: Approximation, text: str) -> dict[str, Any]:
    span = parse_range(text)
    if isinstance(span, Range):
        return {"range": text, **study.model_dump(include={"fit_range", "integers", "relative"})}
    options = {"range": text, "relative": study.relative}
    if span.of == "differences":
        options |= {"inputs": study.inputs, "sigma": study.sigma, "levels": span.levels}
    return options


def _setting(study: Approximation, text: str) -> str:
    relative = ", relative" if study.relative else ""
    span = parse_range(text, study.integers)
    if isinstance(span, Range):
        return f"x, y in {span}{relative}"
    inputs = f", {study.inputs} inputs" if study.inputs > 1 else ""
    levels = f" ({span.levels} levels)" if span.levels else ""
    return f"{span.of} {span.low:g}:{span.high:g}{levels}{inputs}{relative}"


def _approximated(study: Approximation) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (method, kernel, parameters): a map that takes no kernel is compared with each."""
    for entry in study.maps:
        for own, params in map_rows(entry, study.kernels):
            for kernel in [own] if takes_kernel(entry["map"]) else study.kernels:
                yield entry["map"], kernel, params


def _trials(study: TradeOff) -> Iterator[StudyCell]:
    """Yield the exact kernels, then every draw of every map with every learner and C.

    The learners of one draw follow each other, so that it is encoded once.
    """
    setting = study.dataset.name
    options = {"dataset": study.dataset.protocol, "features": study.features.model_dump()}
    if study.classes:
        options["classes"] = study.classes
    for row in study.exact:
        for C in row.C:
            learner = {"name": "exact", "C": C}
            yield StudyCell(setting, row.kernel, "exact", {}, options | {"learner": learner})
    for entry in study.maps:
        for kernel, params in map_rows(entry, study.kernels):
            for draw in range(study.draws):
                for learner in _learners(study):
                    own = options | {"learner": learner, "draw": draw}
                    yield StudyCell(setting, kernel, entry["map"], params, own)


def _learners(study: TradeOff) -> Iterator[dict[str, Any]]:
    for row in study.learners:
        for C in row.C:
            learner = {"name": row.name, "C": C}
            yield from [learner | {"keep": n} for n in row.keep] or [learner]


def run_study(study: Study, folder: str | Path) -> Outcome:
    """Measure the cells of a study that have no record yet and draw its figures.

    Parameters
    ----------
    study : Approximation, Toy, RandomFeatures or TradeOff
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
        undrawn = not all(path.exists() for path in figures.values())
        # What records do not hold is measured again to be drawn.
        again = planned if (todo or undrawn) and not isinstance(study, _BY_RECORDS) else todo
        new: list[Record] = []
        results = []
        measure = _measurer(study) if again else None
        for key in again:
            columns, result = _measured(measure, planned[key])
            results.append((planned[key], result))
            if key in todo:
                new.append(_record(study, planned[key], columns))
                file.append(new[-1])
        records = latest([*file.records, *new], planned)
        if todo or undrawn:
            _draw(study, results, records, figures)
    return Outcome(records, len(new), len(planned) - len(records))


Measure = Callable[[StudyCell], tuple[dict[str, Any], Any]]


def _measurer(study: Study) -> Measure:
    """Return the function that measures a cell: its columns, and what the figures draw of it."""
    if isinstance(study, Toy):
        from kmaps.bench.work.toy import fit_toy  # here: listing the cells needs no solver

        def measure(cell: StudyCell) -> tuple[dict[str, Any], Any]:
            fitted = fit_toy(cell.make_map(), study.side, study.radius, study.C)
            return {"accuracy": fitted.accuracy, "dim": fitted.dim}, fitted

        return measure
    if isinstance(study, RandomFeatures):
        data, features = study.dataset, study.features
        samples = draw_samples(
            *(data.name, data.protocol), features.name, features.normalize, features.parameters
        )
        return lambda cell: (
            asdict(random_errors(cell.make_map(), cell.kernel, *samples, study.draws)),
            None,
        )
    if isinstance(study, TradeOff):
        from kmaps.bench.work.trials import Trials  # here: listing the cells needs none

        return partial(_try, Trials(_samples(study)))
    return partial(_approximate, study)


def _samples(study: TradeOff) -> Any:
    data, features = study.dataset, study.features
    if isinstance(study, Detection):
        from kmaps.bench.work.windows import load_windows
        from kmaps.features import make_feature

        feature = make_feature(features.name, features.parameters)
        return load_windows(data, feature, features.normalize, study.classes)
    from kmaps.bench.work.trials import load_samples

    of_features = features.name, features.normalize, features.parameters
    return load_samples(data.name, data.protocol, *of_features, study.classes)


def _try(trials: Any, cell: StudyCell) -> tuple[dict[str, Any], Any]:
    learner, draw = cell.options["learner"], cell.options.get("draw")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if cell.method == "exact":
            measured = trials.exact(cell.kernel, learner["C"])
        else:
            measured = trials.learner(cell.make_map().set_params(random_state=draw), learner)
    told = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    columns = {"learner": learner, "C": learner["C"], "split": draw or 0, "warnings": told}
    return {**columns, **measured}, None


def _approximate(study: Approximation, cell: StudyCell) -> tuple[dict[str, Any], Any]:
    result = _errors(study, cell)
    return {name: getattr(result, name) for name in ("linf", "rms", "worst", "dim")}, result


def _measured(measure: Measure, cell: StudyCell) -> tuple[dict[str, Any], Any]:
    """Return the columns of a cell, those of a failure if it fails, and what the figures draw."""
    try:
        return measure(cell)
    except ValueError as error:
        return {"status": "failed", "error": " ".join(str(error).split())}, None


def _errors(study: Approximation, cell: StudyCell) -> Errors:
    span, relative = parse_range(cell.options["range"], study.integers), study.relative
    if isinstance(span, Range):
        fit_values = study.fit_range and Range.parse(study.fit_range, study.integers).values()
        return approximate(
            cell.make_map(), cell.kernel, span.values(), fit_values=fit_values, relative=relative
        )
    if span.of == "ratios":
        return over_ratios(cell.make_map(), cell.kernel, span, relative=relative)
    signature = STATIONARY[cell.kernel](study.sigma)
    return over_differences(
        cell.make_map(), signature, span, inputs=study.inputs, relative=relative
    )


def _record(study: Study, cell: StudyCell, columns: dict[str, Any]) -> Record:
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


def _figures(study: Study, folder: Path) -> dict[str, Path]:
    fixed = {Toy: ["functions"], RandomFeatures: ["convergence"]}
    names = fixed.get(type(study)) or study.figures
    return {name: folder / f"{name}.png" for name in names}


def _draw(
    study: Study,
    results: list[tuple[StudyCell, Any]],
    records: list[Record],
    figures: dict[str, Path],
) -> None:
    if isinstance(study, RandomFeatures):
        from kmaps.bench.figures.convergence import draw_convergence

        draw_convergence(records, figures["convergence"])
        return
    if isinstance(study, TradeOff):
        from kmaps.bench.figures.tradeoff import DRAWN

        for name, path in figures.items():
            DRAWN[name](records, path)
        return
    # Here: listing the cells needs no matplotlib.
    from kmaps.bench.figures import errors as approximation_plots
    from kmaps.bench.figures import spans as span_plots

    drawn = [(cell, result) for cell, result in results if result is not None]
    if isinstance(study, Toy):
        panels: dict[str, dict] = {}
        for cell, fitted in drawn:
            panels.setdefault(cell.method, {})[cell.label.partition(" ")[2] or cell.method] = fitted
        approximation_plots.draw_functions(panels, figures["functions"])
        return
    # Kernel by kernel, so that the ranges of one stand side by side.
    drawn.sort(key=lambda pair: study.kernels.index(pair[0].kernel))
    for name, path in figures.items():
        panels = {}
        for cell, result in drawn:
            if isinstance(result, SpanErrors) == (name in span_plots.DRAWN):
                text = cell.setting if isinstance(result, SpanErrors) else cell.options["range"]
                title = cell.kernel if len(study.ranges) == 1 else f"{cell.kernel}, {text}"
                panels.setdefault(title, {})[cell.label] = result
        ({**approximation_plots.DRAWN, **span_plots.DRAWN})[name](panels, path)
