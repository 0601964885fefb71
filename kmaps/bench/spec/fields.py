"""What the kinds of experiments share: names that are checked, datasets, features."""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic import model_validator as validator

from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.paper.statements import OWN_NAME
from kmaps.bench.records.paper.statements import claims as paper_claims
from kmaps.bench.work.errors import Range
from kmaps.data import available
from kmaps.errors import suggest
from kmaps.features import FEATURES
from kmaps.kernels import GRAM_KERNELS, KERNELS


def known_name(what: str, names: Callable[[], Iterable[str]]) -> AfterValidator:
    def check(value: str) -> str:
        known = list(names())
        if value not in known:
            hint = suggest(value, known)
            raise ValueError(f"unknown {what} {value!r}{hint} (known: {', '.join(known)})")
        return value

    return AfterValidator(check)


def _unique(values: list) -> list:
    twice = [value for i, value in enumerate(values) if value in values[:i]]
    if twice:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return values


def _folder_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError(f"expected letters, digits, '-', '_' and '.', got {value!r}")
    return value


def _normalization(value: str) -> str:
    from kmaps.features import get_normalization

    get_normalization(value)
    return value


AUTO = "auto"
"""What stands for values of C, as :func:`kmaps.models.cross_validate` takes it."""


def _auto_or_values(given: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    if isinstance(given, str) and given != AUTO:
        raise ValueError(f"expected a list of values, or {AUTO}, got {given!r}")
    return given if given == AUTO else handler(given)


def _interval(value: str) -> str:
    Range.parse(value)
    return value


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
KernelName = Annotated[str, known_name("kernel", lambda: GRAM_KERNELS)]
AdditiveName = Annotated[str, known_name("kernel", lambda: KERNELS)]
Name = Annotated[str, AfterValidator(_folder_name)]
Interval = Annotated[str, AfterValidator(_interval)]
MeasureName = Annotated[str, known_name("measure", lambda: MEASURES)]
Unique = AfterValidator(_unique)
AutoOrValues = WrapValidator(_auto_or_values)
"""Lets a list of values of C be ``auto`` too."""
Protocols = (
    {"official"},
    {"train", "test"},
    {"choose", "train", "test"},
    {"train_per_class", "test_per_class"},
    {"official", "train"},
)


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DatasetSplits(Model):
    """The dataset and, in the other keys, how a split is drawn (:func:`kmaps.data.draw_split`)."""

    name: Annotated[str, known_name("dataset", available)]
    train: PositiveInt | list[str] | None = None
    test: PositiveInt | list[str] | None = None
    train_per_class: PositiveInt | None = None
    test_per_class: PositiveInt | None = None
    choose: PositiveInt | None = None
    official: Literal[True] | None = None

    @validator(mode="after")
    def _one_protocol(self) -> "DatasetSplits":
        kinds = {type(value) for value in (self.train, self.test) if value is not None}
        kinds |= {int} if self.official else set()
        if set(self.protocol) not in Protocols or len(kinds) > 1:
            raise ValueError(
                "expected one of: train and test (two counts or two lists of groups, the lists "
                "also with choose); train_per_class and test_per_class; official: true, alone or "
                "with the number of samples to train on"
            )
        return self

    @property
    def protocol(self) -> dict[str, Any]:
        """How a split is drawn."""
        return self.model_dump(exclude={"name"}, exclude_none=True)


class Features(Model):
    """The features, the normalisation of each row and, in the other keys, their parameters."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, known_name("features", lambda: FEATURES)] = "intensity"
    normalize: Annotated[str, AfterValidator(_normalization)] = "none"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the features."""
        return self.model_extra or {}


class Claim(Model):
    """A relation between rows (:mod:`kmaps.bench.records.claims`) that decides a claim.

    A claim of the papers goes by its identifier alone, its sentence stands in one file
    (:mod:`kmaps.bench.records.paper.statements`); any other comparison has a name of words and says
    its ``text``.
    """

    id: str
    text: str = ""
    kernels: Annotated[list[KernelName], Unique] = []
    left: dict[str, Any]
    right: dict[str, Any]
    relation: Literal["about", "above", "smaller"]
    measure: MeasureName = "accuracy"
    by: float | None = None

    @validator(mode="after")
    def _said_once(self) -> "Claim":
        if self.id in paper_claims():
            if self.text:
                raise ValueError(f"{self.id} is a claim of the papers, which has its sentence")
        elif not OWN_NAME.fullmatch(self.id):
            known = ", ".join(paper_claims())
            raise ValueError(
                f"unknown claim {self.id!r}: expected one of the papers' ({known}), or a name of "
                "two words or more, such as codes-as-libsvm"
            )
        elif not self.text:
            raise ValueError(f"{self.id} needs text: what is compared, in words")
        return self


class Experiment(Model):
    """What every experiment has, whatever its kind."""

    kind: str
    experiment: Name
    about: str = ""
    maps: list[dict[str, Any]] = []
    claims: list[Claim] = []
    presets: dict[Name, dict[str, Any]] = {}
