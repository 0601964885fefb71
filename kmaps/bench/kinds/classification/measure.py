"""Classifications: exact kernels, maps and the linear model on the samples of a dataset."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, PositiveInt, Tag
from pydantic import model_validator as validator

from kmaps.bench.kinds.classification.show import SHOWN
from kmaps.bench.kinds.kind import Cell, Measured, SampledKind, choice_columns
from kmaps.bench.kinds.shown import SEARCH
from kmaps.bench.records import defaults
from kmaps.bench.records.arrays import Correct
from kmaps.bench.records.row import BY_ITSELF, Row
from kmaps.bench.run.clock import Timing
from kmaps.bench.spec import fields, rows
from kmaps.bench.spec.positions import Mistake, Node
from kmaps.kernels import KERNELS


class LearnerSettings(fields.Model):
    """The problem of the linear baseline and the maps, and who solves it.

    The defaults are LIBSVM's problem, but for the bias, which LIBLINEAR regularises. ``solver`` is
    the solver of maps whose row names none; the linear baseline is LIBLINEAR's. ``gap`` and
    ``tol`` are when the coded solver and LIBLINEAR stop, ``max_iter`` after how many passes at
    the latest; without it each solver has its usual limit, and the cell no such setting.
    ``level_ranges`` is that of `kmaps.CodedSVC`: whether features share their levels.
    """

    solver: Annotated[str, fields.known_name("solver", lambda: rows.SOLVERS)] = "liblinear"
    loss: Literal["hinge", "squared_hinge", "logistic"] = "hinge"
    penalty: Literal["l2", "l1"] = "l2"
    bias: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    tol: fields.Positive | None = None
    gap: Annotated[float, Field(gt=0, lt=1)] = 1e-3
    max_iter: PositiveInt | None = None
    n_levels: Annotated[int, Field(ge=2, le=256)] = 256
    level_ranges: Literal["auto", "shared", "own"] = "auto"
    calibrate: bool = False

    @validator(mode="after")
    def _solvable(self) -> "LearnerSettings":
        if (self.loss, self.penalty) == ("hinge", "l1"):
            raise ValueError("penalty l1 needs loss squared_hinge or logistic")
        return self

    def settings(self, solver: str) -> dict[str, Any]:
        """Return the settings that a solver has."""
        settings = self.model_dump(include=set(rows.SOLVERS.get(solver, ())))
        return defaults.in_keys(defaults.OF_LEARNER, settings)


BaselineName = Literal["linear", "hellinger", "exact", "exact-coded"]


class Baseline(fields.Model):
    """A baseline with a C of its own, or with a name in tables."""

    baseline: BaselineName
    C: fields.OneC | None = None
    name: fields.RowName | None = None

    @validator(mode="after")
    def _says_more(self) -> "Baseline":
        if self.C is None and self.name is None:
            raise ValueError("missing key 'C', or 'name'")
        return self

    @property
    def learner(self) -> dict[str, Any]:
        """The settings of the baseline's learner: its own C, or nothing."""
        return {} if self.C is None else {"C": self.C}


NameOrBaseline = Annotated[
    Annotated[BaselineName, Tag(fields.TAGS[0])] | Annotated[Baseline, Tag(fields.TAGS[1])],
    Discriminator(lambda value: fields.TAGS[isinstance(value, dict | Baseline)]),
]


class Tuning(fields.Model):
    """The values of C, and how one is chosen from several.

    By cross-validation inside the training split, on all of it or on a stratified draw of
    ``samples``; every method sees the same samples and folds, and ties go to the smaller C. With
    ``grid: auto`` or ``plateau`` a rule sets the values (:mod:`kmaps.models.choice`), which goes on
    beyond a flat top with ``plateau``; an experiment without ``C`` has that rule. With
    ``chosen_on: first-split`` the C that a row has on its first split serves all splits.

    With ``unit_norm``, C and the learner's bias apply to encoded rows divided by the root mean
    square norm of the training rows (exact: for the kernel divided by its mean k(x, x)). Then one
    grid suits all methods, whatever the scale of their outputs.
    """

    grid: Annotated[
        list[fields.Positive],
        Field(min_length=1),
        fields.Unique,
        AfterValidator(sorted),
        fields.RuleOrValues,
    ]
    folds: Annotated[int, Field(ge=2)] = 3
    samples: PositiveInt | None = None
    unit_norm: bool = False
    chosen_on: Literal["first-split"] | None = None

    @validator(mode="before")
    @classmethod
    def _from_number(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        return {"grid": value if value in fields.RULES else [value]}

    @validator(mode="after")
    def _enough(self) -> "Tuning":
        if self.samples is not None and self.samples < self.folds:
            raise ValueError(f"samples must be at least folds ({self.folds}), got {self.samples}")
        if self.chosen_on and self._is_given:
            raise ValueError("chosen_on: needs several values of C, got one; leave it out")
        return self

    @property
    def _is_given(self) -> bool:
        return not isinstance(self.grid, str) and len(self.grid) == 1  # a list, not "auto"

    def of_row(self, own: float | str | None) -> dict[str, Any]:
        """Return how the C of a row is chosen: the experiment's way, or the row's value or rule."""
        if own is None:
            return self.of_cell
        grid = own if isinstance(own, str) else [own]
        return self.model_copy(update={"grid": grid}).of_cell

    @property
    def of_cell(self) -> dict[str, Any]:
        """The choice as cells have it: without a choice there are no folds and no samples."""
        choice = dict(self)  # no dump: pydantic would warn of auto in the place of a list
        if self._is_given:
            return {name: choice[name] for name in ("grid", "unit_norm")}
        return defaults.in_keys(defaults.OF_C, choice)


class Classification(fields.OnSamples):
    """A checked classification: the content of the YAML, with the defaults filled in."""

    kind: Literal["classification"] = "classification"
    kernels: Annotated[list[fields.KernelName], fields.Unique] = []
    reductions: Annotated[list[Literal["ovo", "ovr"]], Field(min_length=1), fields.Unique]
    baselines: Annotated[list[NameOrBaseline], fields.Unique] = []
    classifiers: Annotated[list[rows.Estimator], fields.Unique] = []
    learner: LearnerSettings = LearnerSettings()
    C: Tuning = Field(default_factory=lambda: Tuning(grid=fields.PLATEAU))
    figures: Annotated[list[Literal["accuracy", "costs"]], fields.Unique] = []

    @validator(mode="after")
    def _runnable(self) -> "Classification":
        if not self.baselines and not self.maps and not self.classifiers:
            raise ValueError("nothing to run: name baselines, maps or classifiers")
        if "exact" in [name for name, _ in self.baseline_rows] and not self.kernels:
            raise ValueError("the baseline 'exact' needs kernels")
        if self.defaults and "C" not in self.model_fields_set:
            raise ValueError("missing key 'C': with defaults: 1 there is no rule for it")
        if self.C.chosen_on and self.dataset.choose is None:
            raise ValueError(
                f"C.chosen_on: {self.C.chosen_on} would choose C on samples that other splits test "
                "on; it needs a dataset with official groups and choose: K of the training groups"
            )
        return self

    @property
    def entries(self) -> dict[str, list[Any]]:
        """The lists of the file whose entries are rows and may have a ``name``."""
        return {"baselines": self.baselines, "classifiers": self.classifiers, **super().entries}

    @property
    def baseline_rows(self) -> list[tuple[str, dict[str, Any]]]:
        """The baselines by name, each with the settings of its learner: its own C, or nothing."""
        return [
            (entry, {}) if isinstance(entry, str) else (entry.baseline, entry.learner)
            for entry in self.baselines
        ]


class ClassificationKind(SampledKind):
    """Accuracy, time, memory and storage of models, each on every split."""

    model = Classification
    shown = SHOWN
    row_keys = rows.ROW_KEYS
    chooses_C = True
    takes_estimators = True

    def mistakes(self, root: Node, content: dict[str, Any]) -> Iterable[Mistake]:
        """Yield mistakes in the content of a file that its model does not find."""
        return rows.solver_mistakes(root, content)

    def imports(self, cells: Iterable[Cell]) -> tuple[str, ...]:
        """Return the modules that measuring some cells imports."""
        modules = ["kmaps.bench.work.classify"]
        if any(cell.row.solver == "coded" for cell in cells):
            modules.append("kmaps.svm.coded.classifier")
        return tuple(modules)

    def cells(self, experiment: Classification) -> list[Cell]:
        """Return the cells of an experiment in the order they run."""
        rows_and_kernels = list(_rows(experiment))
        return [
            Cell(
                **experiment.cell_fields,
                row=row,
                kernel=kernel,
                split=split,
                reduction=reduction,
                settings=_settings(experiment.learner, row),
                C=experiment.C.of_row(row.learner.get("C")),
            )
            for split in range(experiment.splits)
            for reduction in experiment.reductions
            for row, kernel in rows_and_kernels
        ]

    def with_C(self, cell: Cell, C: float | None, searched: dict[str, Any] | None = None) -> Cell:
        """Return a cell that is measured with a given C and search, and chooses none."""
        choice = cell.C if C is None else {"grid": [C], "unit_norm": cell.C["unit_norm"]}
        return replace(cell, C=choice, chosen={"C": C, "search_chosen": searched})

    def warm_up(self, cell: Cell, shared: Any) -> None:
        """Compile and load all that a cell needs, along the path of its measurement."""
        from kmaps.bench.work.classify import warm_up

        grid = cell.C["grid"]
        warm_up(_spec(cell), 1.0 if grid in fields.RULES else grid[0], _scaled(cell, shared))

    def measure(self, cell: Cell, shared: Any, timing: Timing) -> Measured:
        """Measure one cell, on what :meth:`set_up` returned for its batch."""
        from kmaps.bench.work.classify import evaluate

        spec = _spec(cell)
        shared = _scaled(cell, shared)
        choice = cell.chosen
        if not choice:
            with timing.timed("cv_s"):
                choice = _choose(spec, cell, shared)
            timing.begin()
        spec = replace(spec, params={**spec.params, **(choice["search_chosen"] or {})})
        columns, predicted = evaluate(spec, choice["C"], shared, timing)
        correct = Correct.of(shared.y_test, predicted)
        columns = {"gap": None, **columns, **choice, **shared.sizes, **correct.columns}
        return Measured(columns, correct=correct)


def _choose(spec: Any, cell: Cell, split: Any) -> dict[str, Any]:
    """Return the columns of the values that are chosen on the training samples of a split."""
    from kmaps.bench.work.classify import Choosing, choose_c

    settings = {name: value for name, value in cell.C.items() if name != "chosen_on"}
    choosing = Choosing(seed=cell.choice_seed, **settings)
    training = split.x_train, split.y_train, split.groups_train
    parameters = cell.row.learner.get("search")
    if not parameters:
        choice = choose_c(spec, choosing, *training)
        return {**choice_columns(choice), **dict.fromkeys(SEARCH)}
    from kmaps.bench.work.search import search  # few rows need it

    choice, *searched = search(spec, parameters, choosing, *training)
    return {**choice_columns(choice), **dict(zip(SEARCH, searched, strict=True))}


def _settings(learner: LearnerSettings, row: Row) -> dict[str, Any]:
    """Return the settings of a row's solver, but for those that the row has itself."""
    settings = learner.settings(row.solver)
    return {name: value for name, value in settings.items() if name not in row.learner}


def _rows(experiment: Classification) -> Iterator[tuple[Row, str]]:
    """Yield the rows of an experiment, each with its kernel, or ``""`` where it has none."""
    kernels = experiment.kernels
    solvers = {
        "linear": "liblinear",
        "hellinger": "liblinear",
        "exact": "libsvm",
        "exact-coded": "coded",
    }
    # The order of rows is that of the names here, whatever the file's.
    for name, solver in solvers.items():
        for baseline, learner in experiment.baseline_rows:
            if baseline != name:
                continue
            if solver == "liblinear":
                yield Row(name, solver=solver, learner=learner), ""
                continue
            for kernel in kernels:
                if name == "exact" or kernel in KERNELS:
                    yield Row(name, solver=solver, learner=learner), kernel
    for entry in experiment.maps:
        for kernel, params in rows.map_rows(entry, kernels, rows.ROW_KEYS):
            for row in rows.solver_rows(entry, experiment.learner.solver):
                solver = row.pop("solver")
                learner = {key: value for key, value in row.items() if value != fields.AUTO}
                learner |= rows.searched({"search": {}} | entry)
                if "C" in entry:
                    own = entry["C"]
                    learner["C"] = own if isinstance(own, str) else float(own)
                name = entry["map"] if "map" in entry else entry["estimator"]
                yield Row(name, params, solver, learner), kernel
    for classifier in experiment.classifiers:
        learner = rows.searched({"search": classifier.search})
        if classifier.C is not None:
            learner["C"] = classifier.C
        yield Row(classifier.estimator, classifier.params, BY_ITSELF, learner), ""


def _scaled(cell: Cell, split: Any) -> Any:
    """Return the samples that a cell is measured on: its row may normalise them by itself."""
    name = cell.row.learner.get("normalize")
    return split if name is None else split.normalized(name)


def _spec(cell: Cell) -> Any:
    from kmaps.bench.work.classify import ModelSpec

    settings = dict(cell.settings)
    if cell.row.solver == "coded":
        row_settings = ("normalize", "search", "C")
        learner = {key: value for key, value in cell.row.learner.items() if key not in row_settings}
        settings |= {"form": fields.AUTO, **learner}
    return ModelSpec(
        method=cell.row.method,
        kernel=cell.kernel,
        params=cell.row.all_params,
        solver=cell.row.solver,
        reduction=cell.reduction,
        settings=settings,
        unit_norm=cell.C["unit_norm"],
        seed=cell.seed,
    )


KIND = ClassificationKind()
