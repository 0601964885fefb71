"""Code that the commands with a trained model share: load it, open its data, compare columns."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmaps.cli import array_files
from kmaps.cli.flags import refuse_run, say
from kmaps.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.dask import SharedRows
    from kmaps.io import Reader


@dataclass(frozen=True)
class Trained:
    """A model, the name of its file, and the file's record of its training."""

    model: Any
    file: str
    record: dict[str, Any]

    @property
    def classes(self) -> "NDArray | None":
        """The labels that the model gives, None for a regression."""
        return vars(self.model).get("classes_")

    @property
    def columns(self) -> list[str] | None:
        """The names of the columns that the model was trained on, where they had names."""
        fitted_names = vars(self.model).get("feature_names_in_")
        if fitted_names is not None:
            return fitted_names.tolist()
        names = self.record.get("columns")
        if names is not None and not (
            isinstance(names, list) and len(names) == self.model.n_features_in_
        ):
            raise InputError(
                f"{self.file}: the model is damaged: it has more or fewer columns than features; "
                "train and save it again"
            )
        return names


def load_trained(path: str) -> Trained:
    """Return the model in a file, or from standard input for -."""
    array_files.look_for(path)
    refuse_run(path)
    from kmaps.svm import ModelFile

    with array_files.seekable(path, ".npz") as name:
        file = ModelFile(name)
        from kmaps.models import model_of  # after the file proved to be a model: a slow import

        return Trained(model_of(file), "standard input" if path == "-" else path, file.record)


def load_classifier(path: str) -> Trained:
    """Return the model in a file as `load_trained` does; refuse a model that gives no labels."""
    trained = load_trained(path)
    if trained.classes is None:
        name = type(trained.model).__name__
        raise InputError(f"{path}: holds a {name}, which gives no labels; use kmaps.load_model")
    return trained


def check_probabilities(trained: Trained) -> None:
    """Refuse a model that gives no probabilities."""
    if vars(trained.model).get("probability") is None:
        raise InputError(
            f"{trained.file}: has no probabilities; train it with --probability temperature"
        )


@contextmanager
def data_for(
    trained: Trained,
    source: str,
    target: str,
    *,
    labels: str | None,
    label_column: str | None,
    input_format: str | None,
    zero_based: str,
    header: str,
    quiet: bool,
) -> Iterator[tuple["Reader", "NDArray | None"]]:
    """Yield the rows of a file or of standard input for a model, and the labels of another file.

    A read error inside the block becomes one line, and each warning is printed once.
    """
    from kmaps.io import check_label_kind, target_numbers

    data_column, labels_column = array_files.split_label_column(label_column, labels)
    true_labels = None
    if labels:
        classes = trained.classes
        true_labels = array_files.labels_in(labels, labels_column, classes)
        if classes is None:
            true_labels = target_numbers(true_labels, labels)
        else:
            check_label_kind(true_labels, classes)
    with (
        array_files.input_file(source, target, input_format) as (path, name),
        array_files.as_input_error(),
        array_files.once_each_warning(quiet),
        array_files.compiling(quiet),
    ):
        reader = open_rows_for(
            trained,
            path,
            input_format,
            name,
            label_column=data_column,
            zero_based=zero_based,
            header=header,
            quiet=quiet,
        )
        if true_labels is not None and reader.n_rows not in (None, len(true_labels)):
            raise InputError(f"{len(true_labels)} labels, but {name} has {reader.n_rows} rows")
        yield reader, true_labels


def open_rows_for(
    trained: Trained,
    path: Path,
    form: str | None,
    name: str,
    *,
    label_column: str | None,
    zero_based: str,
    header: str,
    quiet: bool,
) -> "Reader":
    """Open data for a model; refuse data that do not match its training data."""
    n_features = trained.model.n_features_in_
    reader = array_files.open_rows(
        path,
        form,
        name=name,
        label_column=label_column,
        zero_based=zero_based,
        header=header,
        n_features=n_features,
        model_names=trained.columns,
        quiet=quiet,
    )
    if zero_based == "auto" and reader.index_base is not None:
        _check_index_base(trained, reader, quiet=quiet)
    check_columns(trained, reader, label_column)
    if not quiet:
        _compare_types(trained, reader)
    return reader


def _check_index_base(trained: Trained, reader: "Reader", *, quiet: bool) -> None:
    """Compare what a svm file shows its indices to count from with the training file.

    The training file proves nothing about this one; but where this one has index 0 and the training
    file had none, the columns of one of the two may be shifted.
    """
    trained_base = trained.record.get("index_base")
    if reader.index_base == 0 and trained_base == 1:
        raise InputError(
            f"{reader.name}: has index 0, but {trained.file} was trained on indices from 1; pass "
            "--zero-based true if this file's indices count from 0"
        )
    if reader.index_base == 1 and trained_base == 0 and not quiet:
        say(
            f"note: {reader.name}: its indices count from 1, as the last index occurs; those of "
            f"{trained.file}'s training file counted from 0 (--zero-based)",
            err=True,
        )


def _compare_types(trained: Trained, reader: "Reader") -> None:
    """Warn of fractions for a model of whole numbers, or the other way round.

    An example are pixels from 0 to 1, which lie within the range of a model of bytes.
    """
    import numpy as np

    dtype = trained.record.get("dtype")
    if not isinstance(dtype, str) or dtype not in np.sctypeDict or reader.is_text:
        return
    if (np.dtype(dtype).kind == "f") != (reader.dtype.kind == "f"):
        say(
            f"warning: {reader.name} holds {reader.dtype}, {trained.file} was trained on {dtype}: "
            "are the values on the same scale?",
            err=True,
        )


def check_columns(
    trained: Trained, reader: "Reader | SharedRows", label_column: str | None
) -> None:
    """Refuse data with other columns than a model was trained on."""
    n_features, names = trained.model.n_features_in_, trained.columns
    if reader.n_features != n_features:
        hint = ""
        if reader.columns and label_column is None and reader.n_features == n_features + 1:
            label_name = trained.record.get("label_column")
            hint = f"; does one hold the labels? --label-column {label_name or 'NAME'}"
        raise InputError(
            f"{reader.name} has {reader.n_features} columns, {trained.file} was trained on "
            f"{n_features}{hint}"
        )
    if reader.columns and names and reader.columns != names:
        for number, (name, expected) in enumerate(zip(reader.columns, names, strict=True), 1):
            if name != expected:
                raise InputError(
                    f"{reader.name}: column {number} is {name!r}, in {trained.file} it is "
                    f"{expected!r}: give the columns that the model was trained on, in the same "
                    "order"
                )


def say_formulas(classes: "NDArray", target: str) -> None:
    """Report classes in a csv file that spreadsheets may take for formulas."""
    from kmaps.io import few_labels, formula_labels

    formulas = formula_labels(classes)
    if formulas:
        say(
            f"note: {target}: labels that begin with = + - @ are written as they are "
            f"({few_labels(formulas)}); a spreadsheet may take them for formulas",
            err=True,
        )


def unknown_labels_warning(n_unknown: int, n_rows: int, labels: Any) -> str:
    """Return the warning about rows whose labels a model does not know."""
    from kmaps.io import few_labels

    return (
        f"{n_unknown:,} of {n_rows:,} rows have labels that the model does not know "
        f"({few_labels(labels)}); they count as errors"
    )
