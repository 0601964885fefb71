"""Experiment files: read, checked as a whole before any work, every mistake with its place.

A mistake reads ``experiment.yaml:14:7: maps[2].ordr: unknown key, did you mean 'order'?`` and all
of them are reported at once: pydantic and the maps say what is wrong with the values, the YAML
nodes say where each one stands.
"""

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import AfterValidator, Field, PositiveInt, ValidationError
from pydantic import model_validator as validator

from kmaps.bench.kinds.study_spec import (
    Approximation,
    Detection,
    RandomFeatures,
    Study,
    Toy,
    TradeOff,
)
from kmaps.bench.spec.fields import (
    Claim,
    Dataset,
    Features,
    KernelName,
    Model,
    Name,
    Positive,
    Unique,
    known_name,
)
from kmaps.bench.spec.map_rows import feature_mistakes, map_mistakes
from kmaps.bench.spec.positions import Mistake, at, brief, read, repeated_keys, unknown_key
from kmaps.bench.spec.solver_rows import CLASSIFY, SOLVERS, solver_mistakes
from kmaps.errors import ConfigError, suggest
from kmaps.maps import MAPS

METHODS = ("linear", "exact", "exact-coded", *MAPS)


class Learner(Model):
    """The problem of the linear baseline and the maps, and who solves it.

    The defaults are LIBSVM's problem, but for the bias, which LIBLINEAR regularises. ``solver`` is
    that of the maps, unless a row names its own; the linear baseline is LIBLINEAR's. ``gap`` and
    ``tol`` are when the coded solver and LIBLINEAR stop.
    """

    solver: Annotated[str, known_name("solver", lambda: SOLVERS)] = "liblinear"
    loss: Literal["hinge", "squared_hinge", "logistic"] = "hinge"
    penalty: Literal["l2", "l1"] = "l2"
    bias: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    tol: Positive | None = None
    gap: Annotated[float, Field(gt=0, lt=1)] = 1e-3
    n_levels: Annotated[int, Field(ge=2, le=256)] = 256
    calibrate: bool = False

    @validator(mode="after")
    def _solvable(self) -> "Learner":
        if (self.loss, self.penalty) == ("hinge", "l1"):
            raise ValueError("penalty l1 needs loss squared_hinge or logistic")
        return self

    def settings(self, solver: str) -> dict[str, Any]:
        """Return the settings that a solver has."""
        own = {"liblinear": {"penalty", "tol"}, "coded": {"gap", "n_levels", "calibrate"}}
        return {"solver": solver, **self.model_dump(include={"loss", "bias"} | own[solver])}


class Choice(Model):
    """The values of C, and how one is chosen from several.

    By cross-validation inside the training split, on all of it or on a stratified draw of
    ``samples``; every method sees the same samples and folds, and ties go to the smaller C.

    With ``unit_norm``, C and the learner's bias are those for encoded rows divided by the root mean
    square norm of the training rows (exact: for the kernel divided by its mean k(x, x)). Then one
    grid suits all methods, whatever the scale of their outputs.
    """

    grid: Annotated[list[Positive], Field(min_length=1), Unique, AfterValidator(sorted)]
    folds: Annotated[int, Field(ge=2)] = 3
    samples: PositiveInt | None = None
    unit_norm: bool = False

    @validator(mode="before")
    @classmethod
    def _from_number(cls, given: Any) -> Any:
        return given if isinstance(given, dict) else {"grid": [given]}

    @validator(mode="after")
    def _enough(self) -> "Choice":
        if self.samples is not None and self.samples < self.folds:
            raise ValueError(f"samples must be at least folds ({self.folds}), got {self.samples}")
        return self


class Experiment(Model):
    """A checked experiment: what the YAML says, with the defaults filled in."""

    kind: Literal["classification"] = "classification"
    experiment: Name
    about: str = ""
    dataset: Dataset
    features: Features = Features()
    splits: PositiveInt = 1
    kernels: Annotated[list[KernelName], Unique] = []
    reductions: Annotated[list[Literal["ovo", "ovr"]], Field(min_length=1), Unique]
    baselines: Annotated[list[Literal["linear", "exact", "exact-coded"]], Unique] = []
    maps: list[dict[str, Any]] = []
    learner: Learner = Learner()
    C: Choice
    claims: list[Claim] = []
    figures: Annotated[list[Literal["accuracy"]], Unique] = []

    @validator(mode="after")
    def _something_to_run(self) -> "Experiment":
        if not self.baselines and not self.maps:
            raise ValueError("nothing to run: name baselines or maps")
        if "exact" in self.baselines and not self.kernels:
            raise ValueError("the baseline 'exact' needs kernels")
        return self

    @property
    def subject(self) -> str:
        """What is measured, in a word."""
        return self.dataset.name

    def protocols(self, method: str) -> list[dict[str, Any]]:
        """Return how the samples for a method are drawn."""
        return [self.dataset.protocol]


class Scaling(Experiment):
    """How time and memory grow with the number of training samples.

    Each row is measured on every one of ``sizes``, up to its method's in ``limits``; the samples of
    one size are among those of the next.
    """

    kind: Literal["scaling"]
    sizes: Annotated[list[PositiveInt], Field(min_length=2), Unique, AfterValidator(sorted)]
    limits: dict[Annotated[str, known_name("method", lambda: METHODS)], PositiveInt] = {}

    @validator(mode="after")
    def _official_sizes(self) -> "Scaling":
        if self.dataset.protocol != {"official": True} or self.splits != 1:
            raise ValueError("a scaling experiment needs dataset: official: true, and one split")
        return self

    def protocols(self, method: str) -> list[dict[str, Any]]:
        """Return how the samples for a method are drawn, once for each size."""
        most = self.limits.get(method, self.sizes[-1])
        return [{"official": True, "train": n} for n in self.sizes if n <= most]


KINDS: dict[str, type[Model]] = {
    "classification": Experiment,
    "scaling": Scaling,
    "approximation": Approximation,
    "toy": Toy,
    "random-features": RandomFeatures,
    "trade-off": TradeOff,
    "detection": Detection,
}
"""The kinds of experiments, by the value of the key ``kind``."""


def packaged() -> dict[str, Path]:
    """Return the experiments that come with kmaps: name to file."""
    folder = Path(str(resources.files("kmaps.experiments")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def load(name_or_path: str | Path) -> Experiment | Study:
    """Read and check an experiment: a file, or the name of one that comes with kmaps.

    Raises
    ------
    ConfigError
        When there is none, or with every mistake in it, one a line.

    Examples
    --------
    >>> load("quickstart").dataset.name
    'digits'
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        known = packaged()
        if str(name_or_path) not in known:
            hint = suggest(str(name_or_path), known)
            raise ConfigError(
                f"no experiment '{name_or_path}'{hint} (`kmaps list` shows them; "
                "a file's name ends in .yaml)"
            )
        path = known[str(name_or_path)]
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not a text file in UTF-8") from None
    return parse(text, str(path))


def parse(text: str, source: str = "experiment.yaml") -> Experiment | Study:
    """Check the text of an experiment; ``source`` is what its mistakes call it.

    Raises
    ------
    ConfigError
        With every mistake, one a line, in the order of their places.
    """
    root, content = read(text, source)
    mistakes = {
        *repeated_keys(root),
        *map_mistakes(root, content),
        *feature_mistakes(root, content),
    }
    if content.get("kind", "classification") in CLASSIFY:
        mistakes |= set(solver_mistakes(root, content))
    kind = content.get("kind", "classification")
    if kind not in KINDS:
        hint = suggest(str(kind), KINDS)
        message = f"unknown kind {kind!r}{hint} (known: {', '.join(KINDS)})"
        line, column, text = at(root, ("kind",), message)
        raise ConfigError(f"{source}:{line}:{column}: {text}")
    try:
        experiment = KINDS[kind].model_validate(content)
    except ValidationError as refused:
        mistakes |= {_from_pydantic(root, KINDS[kind], error) for error in refused.errors()}
    if mistakes:
        lines = [f"{source}:{line}:{column}: {text}" for line, column, text in sorted(mistakes)]
        raise ConfigError("\n".join(lines))
    return experiment


def _from_pydantic(root: yaml.Node, whole: type[Model], error: Any) -> Mistake:
    place, kind, given = error["loc"], error["type"], error["input"]
    if kind == "missing":
        return at(root, place[:-1], f"missing key {place[-1]!r}")
    if kind == "extra_forbidden":
        model = whole
        for step in place[:-1]:
            if isinstance(step, str):  # an item of a list is of the list's own type
                model = model.model_fields[step].annotation
                model = next(iter(get_args(model)), model)
        return at(root, place, unknown_key(place[-1], model.model_fields), key=True)
    if kind == "model_type":
        return at(root, place, f"expected a mapping (key: value), got {brief(given)}")
    message = error["msg"].removeprefix("Value error, ")
    if message.startswith("Input "):
        message = f"{message.removeprefix('Input ')}, got {brief(given)}"
    return at(root, place, message)
