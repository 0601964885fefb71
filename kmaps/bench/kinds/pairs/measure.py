"""Pairs: how near additive maps are to their kernels on pairs of samples, and their storage."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt
from pydantic import model_validator as validator

from kmaps.bench.kinds.kind import Cell, Measured, SampledKind
from kmaps.bench.kinds.pairs.show import SHOWN
from kmaps.bench.records.row import Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec import fields
from kmaps.bench.spec.rows import listed, map_rows
from kmaps.errors import ConfigError
from kmaps.features import Report
from kmaps.kernels import KERNELS, OF_ONE_VARIABLE
from kmaps.maps import MAPS, has_tables, make_map

FOR_ANY_KERNEL = ("anchor", "nystroem", "exact-table")  # the maps that take any Mercer kernel
PairKernel = Annotated[str, fields.known_name("kernel", lambda: [*KERNELS, *OF_ONE_VARIABLE])]


class UniformSamples(fields.Model):
    """Samples of independent values, uniform over a range: as Theorem 1 of annfm assumes them."""

    range: fields.Interval
    n_features: PositiveInt
    train: PositiveInt
    test: PositiveInt


class Pairs(fields.OnSamples):
    """How near additive maps are to their kernels on pairs of samples.

    Each is compared with its kernel on all pairs of a test and a training sample, divided by the
    number of features: all, or ``columns`` of them, drawn for each split, where an entry of
    ``maps`` has that key. The samples come from a dataset, or are ``uniform``.
    """

    kind: Literal["pairs"]
    maps: Annotated[list[dict[str, Any]], Field(min_length=1)]
    dataset: fields.DatasetSplits | None = None
    uniform: UniformSamples | None = None
    kernels: Annotated[list[PairKernel], Field(min_length=1), fields.Unique]
    sigma: fields.Positive = 1.0

    @property
    def subject(self) -> str:
        """What the experiment is about, in a word."""
        return self.dataset.title if self.dataset else "uniform samples"

    @property
    def cell_fields(self) -> dict[str, Any]:
        """The fields that all cells of the experiment share."""
        if self.dataset:
            return super().cell_fields
        return {**super(fields.OnDataset, self).cell_fields, "protocol": self.uniform.model_dump()}

    @validator(mode="after")
    def _one_source(self) -> "Pairs":
        if (self.dataset is None) == (self.uniform is None):
            raise ValueError("expected either a dataset, or uniform samples")
        return self

    @validator(mode="after")
    def _additive(self) -> "Pairs":
        for entry in self.maps:
            name = entry.get("map")
            if name not in MAPS:
                continue  # reported at its entry
            if not has_tables(name):
                raise ValueError(f"maps: expected additive maps, {name} is none")
            own = listed(entry.get("kernel", self.kernels))
            odd = [kernel for kernel in OF_ONE_VARIABLE if kernel in own]
            if odd and name not in FOR_ANY_KERNEL:
                raise ValueError(
                    f"maps: {name} does not take the kernel {odd[0]!r} (these do: "
                    f"{', '.join(FOR_ANY_KERNEL)}); name other kernels in its entry"
                )
            wanted = entry.get("columns")
            if not all(n is None or (type(n) is int and n >= 1) for n in listed(wanted)):
                raise ValueError(f"columns: expected whole numbers of at least 1, got {wanted!r}")
        return self


class PairsKind(SampledKind):
    """The mean, the spread and the largest error of each map, and its stored training set."""

    model = Pairs
    shown = SHOWN
    row_keys = ("columns",)

    def cells(self, experiment: Pairs) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        return [
            Cell(
                **experiment.cell_fields,
                setting=_setting(experiment, columns),
                row=Row(entry["map"], params),
                kernel=kernel,
                split=split,
                options={"columns": columns, "sigma": experiment.sigma},
            )
            for split in range(experiment.splits)
            for entry in experiment.maps
            for kernel, params in map_rows(entry, experiment.kernels, self.row_keys)
            for columns in listed(entry.get("columns"))
        ]

    def batches(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return the cells in batches that share a set-up."""
        splits: dict[int | None, list[Cell]] = {cell.split: [] for cell in cells}
        for cell in cells:
            splits[cell.split].append(cell)
        return list(splits.values())

    def draw_splits(self, cells: Iterable[Cell]) -> None:
        """Draw every split of some cells, to see whether there are so many samples."""
        on_dataset = [cell for cell in cells if cell.dataset]
        if on_dataset:
            super().draw_splits(on_dataset)

    def prepare(
        self, cells: Iterable[Cell], *, skip_bad: bool = False, progress: Report | None = None
    ) -> None:
        """Check and make, once for all cells, what each would otherwise fail on or make again."""
        on_dataset = [cell for cell in cells if cell.dataset]
        if on_dataset:
            super().prepare(on_dataset, skip_bad=skip_bad, progress=progress)

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Return what the cells of one batch share."""
        from kmaps.bench.work.pairs import uniform_samples

        if cell.dataset:
            return super().set_up(cell, skip_bad=skip_bad)
        return uniform_samples(**cell.protocol, split=cell.split)

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        from kmaps.bench.work.pairs import drawn_columns, pair_errors

        options = cell.options
        params = cell.row.all_params
        columns = options["columns"]
        n_features = shared.x_train.shape[1]
        if columns is not None and columns > n_features:
            raise ConfigError(f"columns: {columns}, but X has {n_features} features; choose fewer")
        features = drawn_columns(n_features, columns, cell.split)
        make = partial(make_map, cell.row.method, params=params)
        samples = shared.x_train[:, features], shared.x_test[:, features]
        errors = pair_errors(make, cell.kernel, options["sigma"], *samples)
        columns = {name: errors[name] for name in self.shown.fills if name in errors}
        return Measured({**columns, **shared.sizes})


def _setting(experiment: Pairs, columns: int | None) -> str:
    words = []
    if experiment.uniform:
        words.append(f"values uniform in {experiment.uniform.range}")
    if columns:
        words.append(f"{columns} of the features")
    return ", ".join(words)


KIND = PairsKind()
