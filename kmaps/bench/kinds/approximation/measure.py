"""Approximations: how near the inner products of maps are to a kernel; no dataset, no learner."""

from collections.abc import Collection, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic import model_validator as validator

from kmaps.bench.kinds.approximation.show import SHOWN
from kmaps.bench.kinds.kind import Cell, Kind, Measured
from kmaps.bench.records.row import Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec.fields import Experiment, Interval, Positive, Unique, checked, known_name
from kmaps.bench.spec.rows import map_rows
from kmaps.bench.work.errors import Range, Span, parse_range
from kmaps.kernels import KERNELS, LOG_KERNELS, STATIONARY
from kmaps.maps import takes

HOMOGENEOUS = (*KERNELS, *LOG_KERNELS)
ScalarName = Annotated[str, known_name("kernel", lambda: [*HOMOGENEOUS, *STATIONARY])]
OfValues = Literal["errors", "sections", "surfaces", "outputs"]
OfSpans = Literal["signatures", "gaps", "quadrants"]
FigureName = Literal[OfValues, OfSpans, "decay", "periods", "kernels", "spectra"]
RangeText = Annotated[str, checked(parse_range)]


class Approximation(Experiment):
    """How near the inner products of maps are to a kernel, over ranges of values."""

    kind: Literal["approximation"]
    maps: Annotated[list[dict[str, Any]], Field(min_length=1)]
    kernels: Annotated[list[ScalarName], Field(min_length=1), Unique]
    ranges: Annotated[list[RangeText], Field(min_length=1), Unique]
    fit_range: Interval | None = None
    integers: bool = False
    inputs: Literal[1, 2, 3] = 1
    sigma: Positive = 1.0
    relative: bool = False
    figures: Annotated[list[FigureName], Unique] = []

    @validator(mode="after")
    def _of_one_kind(self) -> "Approximation":
        estimators = [entry for entry in self.maps if "estimator" in entry]
        if any("search" in entry for entry in estimators):
            raise ValueError("maps: search chooses by labels, which this kind lacks; leave it out")
        if estimators and "outputs" in self.figures:
            raise ValueError("figures: outputs cannot fit third-party maps; leave it out")
        for text in self.ranges:
            span = parse_range(text)
            kind = "homogeneous"
            kernels: Collection[str] = HOMOGENEOUS
            if isinstance(span, Span) and span.variable == "differences":
                kind = "stationary"
                kernels = STATIONARY
            odd = [kernel for kernel in self.kernels if kernel not in kernels]
            if odd:
                raise ValueError(
                    f"range {text!r} is for {kind} kernels ({', '.join(kernels)}), "
                    f"and {odd[0]!r} is none of them"
                )
        return self


class ApproximationKind(Kind):
    """The largest and the root mean square error of each map, and the pair with the largest."""

    model = Approximation
    shown = SHOWN
    work = ("kmaps.bench.work.approximation",)
    takes_estimators = True

    def cells(self, experiment: Approximation) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        return [
            Cell(
                **experiment.cell_fields,
                setting=_setting(experiment, text),
                row=row,
                kernel=kernel,
                options=_options(experiment, text, kernel),
            )
            for text in experiment.ranges
            for row, kernel in _rows(experiment)
        ]

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        from kmaps.bench.work.approximation import compare, made_for
        from kmaps.maps import Bounded  # imports scikit-learn

        feature_map, kernel = made_for(cell.row, cell.kernel, cell.options)
        errors = compare(feature_map, kernel, cell.options, timing)
        bound = period = None
        if isinstance(feature_map, Bounded):
            bound = errors.largest * feature_map.error_bound()
            period = feature_map.period_
        columns = {
            "linf": errors.linf,
            "rms": errors.rms,
            "l1": errors.l1,
            "error_bound": bound,
            "period": period,
            "worst": errors.worst,
            "dim": errors.dim,
        }
        return Measured(columns, errors.arrays)


def _options(experiment: Approximation, text: str, kernel: str) -> dict[str, Any]:
    span = parse_range(text)
    own = {"sigma": experiment.sigma} if kernel in LOG_KERNELS else {}
    if isinstance(span, Range):
        shared = experiment.model_dump(include={"fit_range", "integers", "relative"})
        return {"range": text, **shared, **own}
    options = {"range": text, "relative": experiment.relative}
    if span.variable == "differences":
        options |= {"inputs": experiment.inputs, "sigma": experiment.sigma, "levels": span.levels}
    return options | own


def _setting(experiment: Approximation, text: str) -> str:
    relative = ", relative" if experiment.relative else ""
    span = parse_range(text, experiment.integers)
    if isinstance(span, Range):
        return f"x, y in {span}{relative}"
    inputs = f", {experiment.inputs} inputs" if experiment.inputs > 1 else ""
    levels = f" ({span.levels} levels)" if span.levels else ""
    return f"{span.variable} {span.low:g}:{span.high:g}{levels}{inputs}{relative}"


def _rows(experiment: Approximation) -> Iterator[tuple[Row, str]]:
    for entry in experiment.maps:
        is_of_kernel = "map" in entry and takes(entry["map"], "kernel")
        name = entry["map"] if "map" in entry else entry["estimator"]
        for own, params in map_rows(entry, experiment.kernels):
            for kernel in [own] if is_of_kernel else experiment.kernels:
                yield Row(name, params), kernel


KIND = ApproximationKind()
