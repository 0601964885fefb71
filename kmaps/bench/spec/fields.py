"""Fields that experiment files of every kind share: checked names, datasets, features."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt
from pydantic import model_validator as validator

from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.row import Row
from kmaps.data import check_protocol, get_format, load_manifest, packaged
from kmaps.errors import suggest
from kmaps.features import FEATURES, MIN_MAX, get_normalization
from kmaps.kernels import GRAM_KERNELS, KERNELS


class Model(BaseModel):
    """Keys of a YAML file: of the right types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _from_experiment(value: str, info: pydantic.ValidationInfo) -> str:
    if not value.strip():
        raise ValueError("expected a path, got an empty text")
    folder = (info.context or {}).get("folder", "")
    return str(Path(folder) / Path(value).expanduser())


FilePath = Annotated[str, AfterValidator(_from_experiment)]

_COLUMNS = ("label_column", "group_column", "split_column", "id_column", "image_column")
_FORMS = (
    {"data"},
    {"data", "labels"},
    {"images"},
    {"train_images", "test_images"},
    {"train", "test"},
    {"train", "test", "train_labels", "test_labels"},
)


class Files(Model):
    """The files of a dataset; paths are relative to the folder of the experiment.

    Samples are in one file (``data``) or in two (``train`` and ``test``), their labels in a column
    of the same or in other files. Images are in a folder with one folder per class, or in a
    ``.csv`` of paths and labels. :class:`kmaps.data.UserFiles` describes the columns.
    """

    data: FilePath | None = None
    labels: FilePath | None = None
    train: FilePath | None = None
    test: FilePath | None = None
    train_labels: FilePath | None = None
    test_labels: FilePath | None = None
    images: FilePath | None = None
    train_images: FilePath | None = None
    test_images: FilePath | None = None
    label_column: str | None = None
    group_column: str | None = None
    split_column: str | None = None
    id_column: str | None = None
    image_column: str | None = None
    zero_based: bool | Literal["auto"] = "auto"
    header: bool | Literal["auto"] = "auto"
    keep_large: bool = False
    white: PositiveFloat | None = None
    background: Literal["white", "black"] = "white"

    @validator(mode="after")
    def _one_form(self) -> "Files":
        named_keys = {name for name in set().union(*_FORMS) if getattr(self, name) is not None}
        if named_keys not in _FORMS:
            raise ValueError(
                "expected one of: data, or train and test, each with or without labels "
                "(train_labels and test_labels); images, or train_images and test_images"
            )
        if self.has_parts and self.split_column is not None:
            raise ValueError("split_column: files separate training and test rows; leave it out")
        if self.image_column is not None and not self.of_images:
            raise ValueError("image_column: goes with images, train_images and test_images only")
        named = [getattr(self, name) for name in _COLUMNS if getattr(self, name) is not None]
        twice = [column for i, column in enumerate(named) if column in named[:i]]
        if twice:
            raise ValueError(f"column {twice[0]!r} is named twice")
        return self

    @property
    def has_parts(self) -> bool:
        """Whether files separate training from test samples."""
        return self.data is None and self.images is None

    @property
    def of_images(self) -> bool:
        """Whether the samples are images."""
        return self.images is not None or self.train_images is not None

    def named(self, name: str, subsets: tuple[str, ...] = ()) -> Any:
        """Return the files under the name of the dataset; ``subsets`` are folders of images."""
        from kmaps.data import UserFiles

        rows = {"": "data", "train": "train", "test": "test"}  # the key of each subset's samples
        if self.of_images:
            rows = {"": "images", "train": "train_images", "test": "test_images"}
        labels = {"": "labels", "train": "train_labels", "test": "test_labels"}
        paths = self.model_dump(exclude_none=True)
        return UserFiles(
            name=name,
            rows={subset: Path(paths[key]) for subset, key in rows.items() if key in paths},
            labels={subset: Path(paths[key]) for subset, key in labels.items() if key in paths},
            images=self.of_images,
            subsets=subsets,
            **self.model_dump(
                include={*_COLUMNS, "zero_based", "header", "keep_large", "white", "background"}
            ),
        )


def checked(check: Callable[[Any], object]) -> AfterValidator:
    """Return a validator that calls a function on a value, which may raise, and keeps the value."""

    def keep(value: Any) -> Any:
        check(value)
        return value

    return AfterValidator(keep)


def known_name(
    what: str, names: Callable[[], Iterable[str]], unless: Callable[[str], bool] | None = None
) -> AfterValidator:
    """Return a validator that refuses unknown names, except names of another form."""

    def check(value: str) -> None:
        expected = list(names())
        if value not in expected and not (unless and unless(value)):
            hint = suggest(value, expected)
            raise ValueError(f"unknown {what} {value!r}{hint} (known: {', '.join(expected)})")

    return checked(check)


def _unique(values: list) -> None:
    twice = [value for i, value in enumerate(values) if value in values[:i]]
    if twice:
        raise ValueError(f"{twice[0]!r} is listed twice")


def _folder_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
        raise ValueError(f"expected letters, digits, '-', '_' and '.', got {value!r}")
    if re.fullmatch(r"(?i)(con|prn|aux|nul|(com|lpt)\d)(\..*)?|.*\.", value):
        raise ValueError(f"Windows has no folder {value!r}; choose another name")
    return value


_LONGEST_NAME = 60  # characters; longer names leave no room for the numbers of a table


def _row_name(value: str) -> str:
    if not (value.isprintable() and 0 < len(value.strip()) <= _LONGEST_NAME):
        shown = repr(value[:_LONGEST_NAME])
        raise ValueError(f"expected up to {_LONGEST_NAME} printable characters, got {shown}")
    return value.strip()


def _normalization(value: str) -> None:
    if value != MIN_MAX:
        get_normalization(value)


TAGS = ("a name", "a mapping")
"""How pydantic names two forms of an entry in the places of mistakes; no key has such a name."""

AUTO = "auto"  # stands for values of C
PLATEAU = "plateau"
RULES = (AUTO, PLATEAU)
"""The rules for C of a classification, which stand for its values."""
FIRST_SPLIT = "first-split"  # its training samples choose the C of all splits


def _auto_or_values(value: Any, handler: pydantic.ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, str) and value != AUTO:
        raise ValueError(f"expected a list of values, or {AUTO}, got {value!r}")
    return value if value == AUTO else handler(value)


def _rule_or_values(value: Any, handler: pydantic.ValidatorFunctionWrapHandler) -> Any:
    if isinstance(value, str) and value not in RULES:
        raise ValueError(f"expected a list of values, {' or '.join(RULES)}, got {value!r}")
    return value if isinstance(value, str) else handler(value)


def _parse_range(text: str) -> object:
    from kmaps.bench.work.errors import Range  # few experiments need it

    return Range.parse(text)


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0, le=10_000)]  # of splits or draws: all cells are listed
KernelName = Annotated[str, known_name("kernel", lambda: GRAM_KERNELS)]
AdditiveName = Annotated[str, known_name("kernel", lambda: KERNELS)]
Name = Annotated[str, AfterValidator(_folder_name)]
RowName = Annotated[str, AfterValidator(_row_name)]  # what tables call a row
Interval = Annotated[str, checked(_parse_range)]
MeasureName = Annotated[str, known_name("measure", lambda: MEASURES)]
Unique = checked(_unique)
OneC = Positive | Literal["auto", "plateau"]  # a value, or a rule
RuleOrValues = pydantic.WrapValidator(_rule_or_values)  # lets a rule replace a list of values of C
AutoOrValues = pydantic.WrapValidator(_auto_or_values)  # lets "auto" replace a list of values of C


def _amount(value: Any) -> None:
    are_groups = isinstance(value, list) and value and all(isinstance(name, str) for name in value)
    is_number = type(value) is int or (type(value) is float and value < 1)
    if not (are_groups or (is_number and value > 0)):
        raise ValueError(
            f"expected a count, a part of all between 0 and 1, or a list of groups, got {value!r}"
        )


def _users_name(value: str) -> str:
    if value in packaged():
        raise ValueError(f"{value} is a dataset that comes with kmaps; give yours another name")
    return _folder_name(value)


def _known_dataset(value: str, info: pydantic.ValidationInfo) -> str:
    if info.data.get("files") is not None:
        return _users_name(value)
    if value not in packaged():
        load_manifest(value, (info.context or {}).get("folder"))
    return value


class Data(Model):
    """The data that cells are measured on: packaged images, unless a validator differs."""

    _source: Any = None
    _has_images: bool = True

    @property
    def source(self) -> Any:
        """Where the data are that do not come with kmaps; None for packaged ones."""
        return self._source

    @property
    def has_images(self) -> bool:
        """Whether the samples are images."""
        return self._has_images


class DatasetSplits(Data):
    """The dataset and, in the other keys, how a split is drawn (:func:`kmaps.data.draw_split`).

    It has a ``name``, of a packaged dataset or of a manifest in the experiment's folder or on
    ``KMAPS_DATA_PATH``; or it is ``files`` of the user, which are named after the experiment
    unless they have a name.
    """

    files: Files | None = None
    name: Annotated[Name, AfterValidator(_known_dataset)] | None = None
    train: Annotated[Any, checked(_amount)] = None
    test: Annotated[Any, checked(_amount)] = None
    stratified: Literal[True] | None = None
    train_per_class: PositiveInt | None = None
    test_per_class: PositiveInt | None = None
    choose: PositiveInt | None = None
    official: Literal[True] | None = None
    overlap: Literal[True] | None = None

    @validator(mode="after")
    def _found(self, info: pydantic.ValidationInfo) -> "DatasetSplits":
        check_protocol(self.protocol)
        context = info.context or {}
        if self.files is not None:
            name = self.name or _users_name(str(context.get("experiment", "data")))
            self._source = self.files.named(name, self._subsets())
            self._has_images = self.files.of_images
            return self
        if self.name is None:
            raise ValueError("missing key 'name', or 'files'")
        manifest = load_manifest(self.name, context.get("folder"))
        self._source = None if self.name in packaged() else manifest
        if get_format(manifest).scenes:
            raise ValueError(f"{self.name} has images with boxes: it is for kind: detection")
        self._has_images = not get_format(manifest).tabular
        return self

    def _subsets(self) -> tuple[str, ...]:
        """Return the folders of subsets of a folder of images, which train and test name."""
        files = self.files
        if files is None or files.images is None or files.image_column is not None:
            return ()
        named = [names for names in (self.train, self.test) if isinstance(names, (list, tuple))]
        return tuple(dict.fromkeys(str(name) for names in named for name in names))

    @property
    def title(self) -> str:
        """The name of the dataset on pages."""
        return self._source.name if self._source else str(self.name)

    @property
    def protocol(self) -> dict[str, Any]:
        """How a split is drawn, as the columns of a record say it."""
        keys = self.model_dump(exclude={"name", "files"}, exclude_none=True)
        fixed = self.files is not None and (self.files.has_parts or self.files.split_column)
        if not keys and fixed:
            return {"official": True}
        return keys


class Features(Model):
    """The features, the normalisation of each row and, in the other keys, their parameters."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, known_name("features", lambda: FEATURES)] = "intensity"
    normalize: Annotated[str, checked(_normalization)] = "none"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the features that the file names."""
        return self.model_extra or {}


class ClaimEntry(Model):
    """A relation between rows (:mod:`kmaps.bench.paper.claims`) that decides a claim.

    A claim of the papers has its sentence, and for each ``part`` the relation and the bound ``by``,
    in :mod:`kmaps.bench.paper.statements`; any other comparison has a name of words, its ``text``
    and its relation. ``against`` is another measure of the same
    rows, which ``measure`` is compared with: of an error its bound. With ``matrices: n`` the time
    of the right row counts its kernel matrix n times, as if every class computed one.
    """

    id: str
    part: str = ""
    text: str = ""
    kernels: Annotated[list[KernelName], Unique] = []
    left: dict[str, Any]
    right: dict[str, Any]
    relation: Literal["about", "above", "smaller"] | None = None
    measure: MeasureName = "accuracy"
    against: MeasureName | None = None
    matrices: PositiveInt | None = None
    by: float | None = None

    @validator(mode="before")
    @classmethod
    def _by_its_criterion(cls, entry: Any) -> Any:
        from kmaps.bench.paper.statements import claims, criterion  # only claims need them

        name = entry.get("id") if isinstance(entry, dict) else None
        if not (isinstance(name, str) and name in claims()):
            return entry
        superfluous = [key for key in ("text", "relation", "by") if key in entry]
        if superfluous:
            raise ValueError(
                f"{name} has a sentence and a criterion: leave out {', '.join(superfluous)}"
            )
        of_paper = criterion(name, str(entry.get("part", "")))
        return entry | {"relation": of_paper.relation, "by": of_paper.by}

    @validator(mode="after")
    def _said_once(self) -> "ClaimEntry":
        from kmaps.bench.paper.statements import OWN_NAME, claims

        if self.id not in claims():
            if not OWN_NAME.fullmatch(self.id):
                raise ValueError(
                    f"unknown claim {self.id!r}: expected one of the papers' "
                    f"({', '.join(claims())}), or a name of words, such as codes-as-libsvm"
                )
            if not (self.text and self.relation):
                raise ValueError(f"{self.id} needs text and relation: what is compared, and how")
            if self.part:
                raise ValueError(f"{self.id}: only a claim of the papers has a part")
        if self.against and self.relation != "smaller":
            raise ValueError(f"against: {self.against} goes with relation: smaller")
        if self.matrices and (self.measure != "time" or self.relation != "smaller"):
            raise ValueError("matrices: goes with measure: time and relation: smaller")
        return self


class Experiment(Model):
    """The keys that every experiment has, whatever its kind.

    What its file names is relative to the folder ``base``, and that to the folder of the file.
    With ``defaults: 1``, parameters that it does not name have the defaults of kmaps 1.0.0rc1, as
    those of published experiments have; without it, today's.
    """

    kind: str
    experiment: Name
    base: str = "."
    about: str = ""
    paper: str = ""
    maps: list[dict[str, Any]] = []
    claims: list[ClaimEntry] = []
    defaults: Literal[1] | None = None
    presets: dict[Name, dict[str, Any]] = {}
    _folder: Path | None = pydantic.PrivateAttr(None)
    _places: dict[str, str] = pydantic.PrivateAttr({})

    @property
    def subject(self) -> str:
        """What the experiment is about, in a word."""
        return self.kind

    @property
    def cell_fields(self) -> dict[str, Any]:
        """The fields that all cells of the experiment share."""
        return {"kind": self.kind, "experiment": self.experiment}

    @property
    def folder(self) -> Path | None:
        """The folder whose modules its rows may name; None for packaged experiments."""
        return self._folder

    @property
    def entries(self) -> dict[str, list[Any]]:
        """The lists of the file whose entries are rows and may have a ``name``."""
        return {"maps": self.maps}

    def place_of(self, estimator: str, params: Mapping[str, Any]) -> str:
        """Return where its file names a third-party estimator; empty when it is of no file."""
        return self._places.get(Row(estimator, params).identity, "")


class OnDataset(Experiment):
    """An experiment on the splits of a dataset."""

    dataset: DatasetSplits
    splits: Count = 1

    @property
    def subject(self) -> str:
        """What the experiment is about, in a word."""
        return self.dataset.title

    @property
    def cell_fields(self) -> dict[str, Any]:
        """The fields that all cells of the experiment share."""
        return {
            **super().cell_fields,
            "dataset": self.dataset.title,
            "source": self.dataset.source,
            "protocol": self.dataset.protocol,
        }


class OnSamples(OnDataset):
    """An experiment on features of the samples of a dataset."""

    features: Features = Features()

    @property
    def cell_fields(self) -> dict[str, Any]:
        """The fields that all cells of the experiment share."""
        return {
            **super().cell_fields,
            "feature_name": self.features.name if self.dataset.has_images else "",
            "feature_params": self.features.parameters,
            "normalize": self.features.normalize,
        }
