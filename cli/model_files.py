"""What commands that use a trained model have in common."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli.array_files import counts_from_zero, look_for, without_pandas
from kmaps.errors import InputError

if TYPE_CHECKING:
    from kmaps.io.reader import Reader


@dataclass(frozen=True)
class Trained:
    """A model, the name of its file, and how the file says that it was trained."""

    model: Any
    file: str
    record: dict[str, Any]

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns it was trained on, where they had names."""
        given = vars(self.model).get("feature_names_in_")
        if given is not None:
            return given.tolist()
        names = self.record.get("columns")
        if names is not None and not (
            isinstance(names, list) and len(names) == self.model.n_features_in_
        ):
            raise InputError(
                f"{self.file}: a damaged model: its columns are not as many as its features; train "
                "and save it again"
            )
        return names


def load_trained(path: str) -> Trained:
    """Return the model in a file."""
    look_for(path)
    with without_pandas():
        from kmaps.models.files import model_of
        from kmaps.svm.model_file import ModelFile
    file = ModelFile(path)
    return Trained(model_of(file), path, file.record)


def load_classifier(path: str) -> Trained:
    """Return the model in a file; refuse one that gives no labels."""
    trained = load_trained(path)
    with without_pandas():
        from sklearn.base import is_classifier
    if not is_classifier(trained.model):
        name = type(trained.model).__name__
        raise InputError(f"{path}: of {name}, which gives no labels; use kmaps.load_model")
    return trained


def open_for(
    trained: Trained,
    path: Path,
    form: str | None,
    name: str,
    *,
    label_column: str | None,
    zero_based: str,
    quiet: bool,
) -> "Reader":
    """Open data for a model; refuse data that cannot be what it was trained on."""
    from kmaps.io import open_reader

    base = trained.record.get("index_base")
    from_zero = counts_from_zero(zero_based)
    reader = open_reader(
        path,
        form,
        n_features=trained.model.n_features_in_,
        label_column=label_column,
        zero_based=True if from_zero == "auto" and base == 0 else from_zero,
        name=name,
    )
    if reader.index_base == 0 and from_zero == "auto" and base == 1:
        raise InputError(
            f"{name}: has index 0, but {trained.file} was trained on indices from 1; pass "
            "--zero-based true if those of this file count from 0"
        )
    if not reader.certain_base and base is None and not quiet:
        click.echo(
            f"warning: {name}: its indices may count from 0 or from 1, taken as from 1; "
            "--zero-based says it",
            err=True,
        )
    _check_columns(trained, reader, label_column)
    return reader


def _check_columns(trained: Trained, reader: "Reader", label_column: str | None) -> None:
    """Refuse data with other columns than a model was trained on."""
    n_features, names = trained.model.n_features_in_, trained.columns
    if reader.n_features != n_features:
        hint = ""
        if reader.columns and label_column is None and reader.n_features == n_features + 1:
            known = trained.record.get("label_column")
            hint = f"; is one that of the labels? --label-column {known or 'NAME'}"
        raise InputError(
            f"{reader.name} has {reader.n_features} columns, {trained.file} was trained on "
            f"{n_features}{hint}"
        )
    if reader.columns and names and reader.columns != names:
        pairs = enumerate(zip(reader.columns, names, strict=True), 1)
        place, given, expected = next((n, a, b) for n, (a, b) in pairs if a != b)
        raise InputError(
            f"{reader.name}: column {place} is {given!r}, that of {trained.file} is {expected!r}: "
            "give the columns that it was trained on, in the same order"
        )


def unknown_labels(n_unknown: int, n_rows: int, labels: Any) -> str:
    """Return what to say of rows whose labels a model does not know."""
    from kmaps.io.labels import few

    return (
        f"{n_unknown:,} of {n_rows:,} rows have labels that the model does not know "
        f"({few(labels)}); they count as wrong"
    )
