"""Data of one's own in an experiment file: which files, and what their columns are."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo
from pydantic import model_validator as validator

from kmaps.data import UserFiles


def _beside_experiment(value: str, info: ValidationInfo) -> str:
    """Return a path that is relative to the experiment's folder as one from the current folder."""
    if not value.strip():
        raise ValueError("expected a path, got an empty text")
    folder = (info.context or {}).get("folder", "")
    return str(Path(folder) / Path(value).expanduser())


FilePath = Annotated[str, AfterValidator(_beside_experiment)]

_FORMS = (
    {"data"},
    {"data", "labels"},
    {"train", "test"},
    {"train", "test", "train_labels", "test_labels"},
    {"images"},
    {"train_images", "test_images"},
)


class Files(BaseModel):
    """The files of a dataset; paths are relative to the folder of the experiment.

    Samples are in one file (``data``) or in two (``train`` and ``test``), their labels in a column
    of the same or in files of their own. Images are in a folder with a folder a class, or in a
    ``.csv`` of paths and labels. The columns are those of :class:`kmaps.data.UserFiles`.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

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

    @validator(mode="after")
    def _one_form(self) -> "Files":
        given = {name for name in set().union(*_FORMS) if getattr(self, name) is not None}
        if given not in _FORMS:
            raise ValueError(
                "expected one of: data, or train and test, each with or without labels "
                "(train_labels and test_labels); images, or train_images and test_images"
            )
        if self.has_parts and self.split_column is not None:
            raise ValueError("split_column: the files say already what is to train and to test")
        if self.image_column is not None and not self.of_images:
            raise ValueError("image_column: only of images, train_images and test_images")
        columns = [self.label_column, self.group_column, self.split_column, self.id_column]
        named = [column for column in [*columns, self.image_column] if column is not None]
        twice = [column for i, column in enumerate(named) if column in named[:i]]
        if twice:
            raise ValueError(f"column {twice[0]!r} is named twice")
        return self

    @property
    def has_parts(self) -> bool:
        """Whether the training and the test samples are in different files."""
        return self.data is None and self.images is None

    @property
    def of_images(self) -> bool:
        """Whether the samples are images."""
        return self.images is not None or self.train_images is not None

    def named(self, name: str) -> UserFiles:
        """Return the files as the library has them."""
        if self.of_images:
            rows = {"": self.images, "train": self.train_images, "test": self.test_images}
        else:
            rows = {"": self.data, "train": self.train, "test": self.test}
        labels = {"": self.labels, "train": self.train_labels, "test": self.test_labels}
        return UserFiles(
            name=name,
            rows={part: Path(path) for part, path in rows.items() if path is not None},
            labels={part: Path(path) for part, path in labels.items() if path is not None},
            images=self.of_images,
            label_column=self.label_column,
            group_column=self.group_column,
            split_column=self.split_column,
            id_column=self.id_column,
            image_column=self.image_column,
            zero_based=self.zero_based,
        )
