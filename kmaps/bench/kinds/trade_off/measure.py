"""Trade-offs: accuracy against the time of a test, of random maps that learners thin out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt
from pydantic import model_validator as validator

from kmaps.bench.kinds.kind import Cell, Measured, SampledKind, choice_columns
from kmaps.bench.kinds.trade_off.show import SHOWN
from kmaps.bench.records.arrays import Correct
from kmaps.bench.records.row import Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec import fields
from kmaps.bench.spec.rows import listed, map_rows
from kmaps.bench.work.learners import CHOOSERS, GROUPS, LEARNERS
from kmaps.maps import make_map

_FOLDS = 3  # folds of the cross-validation, if C is auto

ValuesOfC = Annotated[
    list[fields.Positive], Field(min_length=1), fields.Unique, fields.AutoOrValues
]


class TradeOffLearner(fields.Model):
    """A learner of a trade-off: its values of C and, for two of them, how many frequencies stay.

    Each value of C is a row; with ``auto`` one is chosen inside the training split, draw by draw.
    """

    name: Annotated[str, fields.known_name("learner", lambda: (*LEARNERS, *CHOOSERS))]
    C: ValuesOfC
    keep: Annotated[list[PositiveInt], fields.Unique] = []

    @validator(mode="after")
    def _keeps(self) -> "TradeOffLearner":
        if (self.name in CHOOSERS) != bool(self.keep):
            raise ValueError(
                f"{' and '.join(CHOOSERS)} need keep, the number of frequencies that "
                "stay; other learners refuse it"
            )
        return self

    @property
    def settings(self) -> Iterator[dict[str, Any]]:
        """The settings of the learner's rows: each value of C, and each number of frequencies
        kept."""
        for C in listed(self.C):
            learner = {"name": self.name, "C": C}
            yield from [learner | {"keep": n} for n in self.keep] or [learner]


class ExactKernel(fields.Model):
    """An exact kernel of a trade-off, trained by LIBSVM, and its values of C, or ``auto``."""

    kernel: fields.KernelName
    C: ValuesOfC


class TradeOff(fields.OnSamples):
    """Accuracy against the time of a test, of random maps that learners thin out.

    With ``classes`` it is of detectors, one for each of them, and of their mean average precision.
    Frequencies are drawn ``draws`` times on one split, or once on each of several ``splits``.
    """

    kind: Literal["trade-off"]
    maps: Annotated[list[dict[str, Any]], Field(min_length=1)]
    kernels: Annotated[list[fields.KernelName], fields.Unique] = []
    exact: list[ExactKernel] = []
    learners: Annotated[list[TradeOffLearner], Field(min_length=1)]
    classes: Annotated[list[str], fields.Unique] = []
    draws: fields.Count = 5
    samples: PositiveInt | None = None
    figures: Annotated[list[Literal["trade-off", "sparsity"]], fields.Unique] = ["trade-off"]

    @validator(mode="after")
    def _one_draw_a_split(self) -> "TradeOff":
        if self.splits > 1 and self.draws > 1:
            raise ValueError(
                f"splits: {self.splits} with draws: {self.draws}: each of several splits has "
                "one draw of the frequencies; give draws: 1, or one split"
            )
        return self


class TradeOffKind(SampledKind):
    """Quality, time of a test, and frequencies kept, of every learner on every draw."""

    model = TradeOff
    shown = SHOWN
    work = ("kmaps.bench.work.trials",)

    def solvers(self, cells: Iterable[Cell]) -> set[str]:
        """Return which of liblinear and libsvm some cells train with."""
        names = {cell.row.learner["name"] for cell in cells}
        return {"libsvm" if name == "exact" else "liblinear" for name in names - {*GROUPS}}

    def cells(self, experiment: TradeOff) -> list[Cell]:
        """Return of every split the exact kernels, then every draw of every map with every learner.

        The learners of one draw follow each other: they are one batch. Each of several splits has
        one draw, of its number.
        """
        return [
            cell for split in range(experiment.splits) for cell in self._of_split(experiment, split)
        ]

    def _of_split(self, experiment: TradeOff, split: int) -> list[Cell]:
        shared = {
            **experiment.cell_fields,
            "split": split,
            "options": {"classes": experiment.classes} if experiment.classes else {},
        }
        exact = [
            Cell(
                **shared,
                row=Row("exact", learner={"name": "exact", "C": C}),
                kernel=row.kernel,
                C=_choosing(C, experiment.samples),
            )
            for row in experiment.exact
            for C in listed(row.C)
        ]
        cells_of_draws = [
            Cell(
                **shared,
                row=Row(entry["map"], params, learner=learner),
                kernel=kernel,
                draw=draw,
                C=_choosing(learner["C"], experiment.samples),
            )
            for entry in experiment.maps
            for kernel, params in map_rows(entry, experiment.kernels)
            for draw in range(split, split + experiment.draws)
            for row in experiment.learners
            for learner in row.settings
        ]
        return exact + cells_of_draws

    def with_C(self, cell: Cell, C: float | None, searched: dict[str, Any] | None = None) -> Cell:
        """Return a cell that is measured with a given C and search, and chooses none."""
        if C is None or cell.row.learner["C"] != fields.AUTO:
            return cell
        row = replace(cell.row, learner={**cell.row.learner, "C": C})
        return replace(cell, row=row, C={})

    def batches(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """Return the learners of each draw together: it is encoded once."""

        def drawn(cell: Cell) -> tuple:
            alone = cell if cell.draw is None else None
            return cell.split, cell.row.method, cell.row.params, cell.kernel, cell.draw, alone

        return [list(batch) for _, batch in groupby(cells, key=drawn)]

    def set_up(self, cell: Cell, *, skip_bad: bool = False) -> Any:
        """Return what the cells of one batch share."""
        from kmaps.bench.work.trials import Trials, tasks_of

        split = super().set_up(cell, skip_bad=skip_bad)
        return Trials(tasks_of(split, cell.options.get("classes", ())))

    def warm_up(self, cell: Cell, shared: Any) -> None:
        """Compile and load all that a cell needs, along the path of its measurement."""
        from kmaps.bench.run.clock import UNTIMED

        C = cell.row.learner["C"]
        _try(cell, shared.few(), 1.0 if C == fields.AUTO else C, UNTIMED)

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        choice = _choose(cell, shared, timing)
        columns, predicted = _try(cell, shared, choice["C"], timing)
        correct = None
        if predicted is not None:
            [(_, truth)] = shared.tasks.labels
            correct = Correct.of(truth, predicted)
        return Measured({**choice, **columns}, correct=correct)


def _choosing(C: float | str, samples: int | None) -> dict[str, Any]:
    """Return how the C of a cell is chosen; nothing where it is given."""
    if C != fields.AUTO:
        return {}
    choice = {"grid": fields.AUTO, "folds": _FOLDS}
    if samples:
        choice["samples"] = samples
    return choice


def _choose(cell: Cell, trials: Any, timing: Timing) -> dict[str, Any]:
    """Return the columns of the C of a cell: as given, or chosen inside the training split."""
    learner = cell.row.learner
    if learner["C"] != fields.AUTO:
        return {"C": learner["C"]}
    from kmaps.bench.work.trials import Folds

    choosing = Folds(cell.C["folds"], cell.choice_seed, cell.C.get("samples"))
    with timing.timed("cv_s"):
        if learner["name"] == "exact":
            choice = trials.choose_exact(cell.kernel, choosing)
        else:
            choice = trials.choose(_map_of(cell), learner, choosing, timing)
    timing.begin()
    return choice_columns(choice)


def _try(cell: Cell, trials: Any, C: float, timing: Timing) -> Any:
    if cell.row.learner["name"] == "exact":
        return trials.exact(cell.kernel, C, timing)
    return trials.learner(_map_of(cell), {**cell.row.learner, "C": C}, timing)


def _map_of(cell: Cell) -> Any:
    feature_map = make_map(cell.row.method, cell.kernel, cell.row.all_params)
    return feature_map.set_params(random_state=cell.draw)


KIND = TradeOffKind()
