"""What the kinds of experiments share: names that are checked, datasets, features."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    PrivateAttr,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic import model_validator as validator

from kmaps.bench.paper.statements import OWN_NAME
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.spec.own_data import Files
from kmaps.bench.work.errors import Range
from kmaps.checks import is_whole
from kmaps.data import Manifest, UserFiles, get_format, load_manifest, packaged
from kmaps.errors import suggest
from kmaps.features import FEATURES
from kmaps.kernels import GRAM_KERNELS, KERNELS


def known_name(
    what: str,
    names: Callable[[], Iterable[str]],
    *,
    unless: Callable[[str], bool] = lambda value: False,
) -> AfterValidator:
    def check(value: str) -> str:
        known = list(names())
        if value not in known and not unless(value):
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
    from kmaps.features import MIN_MAX, get_normalization

    if value != MIN_MAX:
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
    {"train"},
    {"train", "stratified"},
    {"train", "test"},
    {"train", "test", "stratified"},
    {"choose", "train", "test"},
    {"train_per_class", "test_per_class"},
    {"official", "train"},
)


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _amount(value: Any) -> Any:
    named = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
    part = isinstance(value, float) and 0 < value < 1
    if not (is_whole(value, 1) or part or named):
        raise ValueError(
            f"expected a count, a part of all between 0 and 1, or a list of groups, got {value!r}"
        )
    return value


def _folder_of(info: ValidationInfo) -> str | None:
    """Return the folder of the experiment's file, where it has one."""
    return (info.context or {}).get("folder")


def _own_name(value: str) -> str:
    if value in packaged():
        raise ValueError(f"{value} is a dataset that comes with kmaps; give yours another name")
    return _folder_name(value)


def _known_dataset(value: str, info: ValidationInfo) -> str:
    if info.data.get("files") is not None:
        return _own_name(value)
    if value not in packaged():
        load_manifest(value, _folder_of(info))
    return value


class Data(Model):
    """What cells are measured on: images that their name says all about, unless told otherwise."""

    @property
    def source(self) -> Manifest | UserFiles | None:
        """Where it is; None where the name says so."""
        return None

    @property
    def has_images(self) -> bool:
        """Whether its samples are images, so that there are features to extract."""
        return True


class DatasetSplits(Data):
    """The dataset and, in the other keys, how a split is drawn (:func:`kmaps.data.draw_split`).

    It has a ``name``: a packaged one, or that of a manifest in the experiment's folder or on
    ``KMAPS_DATA_PATH``; or it is ``files`` of one's own, which are called as the experiment unless
    they have a name.
    """

    files: Files | None = None
    name: Annotated[Name, AfterValidator(_known_dataset)] | None = None
    train: Annotated[Any, AfterValidator(_amount)] = None
    test: Annotated[Any, AfterValidator(_amount)] = None
    stratified: Literal[True] | None = None
    train_per_class: PositiveInt | None = None
    test_per_class: PositiveInt | None = None
    choose: PositiveInt | None = None
    official: Literal[True] | None = None
    _source: Manifest | UserFiles | None = None
    _has_images: bool = True

    @validator(mode="after")
    def _one_protocol(self) -> "DatasetSplits":
        kinds = {type(value) for value in (self.train, self.test) if value is not None}
        kinds |= {int} if self.official else set()
        keys = set(self.protocol)
        lists_alone = kinds == {list} and ("test" not in keys or "stratified" in keys)
        if keys not in Protocols or len(kinds) > 1 or lists_alone:
            raise ValueError(
                "expected one of: train and test (two counts, two parts of all, or two lists of "
                "groups, the lists also with choose, the others also with stratified: true); train "
                "alone, a count or a part; train_per_class and test_per_class; official: true, "
                "alone or with the number of samples to train on"
            )
        return self

    @validator(mode="after")
    def _found(self, info: ValidationInfo) -> "DatasetSplits":
        if self.files is not None:
            name = self.name or _own_name(str((info.context or {}).get("experiment", "data")))
            self._source, self._has_images = self.files.named(name), self.files.of_images
            return self
        if self.name is None:
            raise ValueError("missing key 'name', or 'files'")
        manifest = load_manifest(self.name, _folder_of(info))
        self._source = None if self.name in packaged() else manifest
        self._has_images = not get_format(manifest).tabular
        return self

    @property
    def source(self) -> Manifest | UserFiles | None:
        """Where the data are; None of those that come with kmaps."""
        return self._source

    @property
    def title(self) -> str:
        """What records call the dataset: files without a name as the experiment."""
        return self._source.name if self._source else str(self.name)

    @property
    def has_images(self) -> bool:
        """Whether its samples are images, so that there are features to extract."""
        return self._has_images

    @property
    def protocol(self) -> dict[str, Any]:
        """How a split is drawn; unsaid of files that say it, as they do."""
        given = self.model_dump(exclude={"name", "files"}, exclude_none=True)
        told = self.files is not None and (self.files.has_parts or self.files.split_column)
        return given or ({"official": True} if told else {})


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
    """A relation between rows (:mod:`kmaps.bench.paper.claims`) that decides a claim.

    A claim of the papers goes by its identifier alone, its sentence stands in one file
    (:mod:`kmaps.bench.paper.statements`); any other comparison has a name of words and says
    its ``text``. ``against`` is another measure, of the same rows, which ``measure`` is compared
    with: of an error its bound.
    """

    id: str
    text: str = ""
    kernels: Annotated[list[KernelName], Unique] = []
    left: dict[str, Any]
    right: dict[str, Any]
    relation: Literal["about", "above", "smaller"]
    measure: MeasureName = "accuracy"
    against: MeasureName | None = None
    by: float | None = None

    @validator(mode="after")
    def _said_once(self) -> "Claim":
        from kmaps.bench.paper.statements import claims as paper_claims  # only claims need them

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
        if self.against and self.relation != "smaller":
            raise ValueError(f"against: {self.against} goes with relation: smaller")
        return self


def own_row(estimator: str, params: Mapping[str, Any]) -> str:
    """Return by what rows of an estimator of others are told apart."""
    return f"{estimator} {json.dumps(params, sort_keys=True)}"


class Experiment(Model):
    """What every experiment has, whatever its kind.

    The files, manifests and modules that it names are relative to the folder ``base``, and that to
    the folder of the experiment's own file.
    """

    kind: str
    experiment: Name
    base: str = "."
    about: str = ""
    paper: str = ""
    maps: list[dict[str, Any]] = []
    claims: list[Claim] = []
    presets: dict[Name, dict[str, Any]] = {}
    _folder: Path | None = PrivateAttr(None)
    _places: dict[str, str] = PrivateAttr({})

    @property
    def folder(self) -> Path | None:
        """The folder whose modules its rows may name; None of those that come with kmaps."""
        return self._folder

    def place_of(self, estimator: str, params: Mapping[str, Any]) -> str:
        """Return where its file names an estimator of others; empty when it is of no file."""
        return self._places.get(own_row(estimator, params), "")
