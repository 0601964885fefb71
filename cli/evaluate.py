"""``kmaps evaluate``: how well a trained model does on labelled rows."""

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli import array_files
from kmaps.cli.array_files import (
    as_input_error,
    check_paths,
    compiling,
    input_file,
    look_for,
    once_each_warning,
    split_label_column,
)
from kmaps.cli.completing import files
from kmaps.cli.model_files import load_classifier, open_for, unknown_labels
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.models import Evaluation

_WIDEST = 20  # classes of a confusion matrix that is printed whole
_MOST_CONFUSED = 10  # pairs of classes that are printed instead


@click.command(
    epilog="""\b
Examples:
  kmaps evaluate model.npz test.npy --labels labels.npy
  kmaps evaluate model.npz test.csv --label-column digit
  kmaps evaluate model.npz test.svm --confusion confusion.csv --json"""
)
@click.argument("model_file", metavar="MODEL", shell_complete=files)
@click.argument("source", metavar="DATA", shell_complete=files)
@array_files.labels
@array_files.label_column
@click.option(
    "--confusion",
    metavar="FILE",
    shell_complete=files,
    help="Write the confusion matrix as CSV.",
)
@array_files.input_format
@array_files.zero_based
@array_files.memory
@click.option("--force", is_flag=True, help="Replace the file of --confusion when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no warnings.")
def command(
    model_file: str,
    source: str,
    labels: str | None,
    label_column: str | None,
    confusion: str | None,
    input_format: str | None,
    zero_based: str,
    memory: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare what MODEL predicts with the true labels of the rows of DATA.

    Shown are the accuracy; recall, precision, area under the ROC curve and average precision of
    each class, the last two against all other rows by the decision values; and the confusion
    matrix, a row a true label, a column a predicted one. Summaries of the two ranks are those of
    the second of two classes, and means over more.

    Rows whose label the model does not know count as wrong, and are told. The rows are read in
    blocks; in memory stay their labels and scores.
    """
    look_for(model_file, source)
    from kmaps.io import atomic_file, read_labels

    if confusion == "-":
        raise ConfigError("--confusion -: standard output is for the table; name a file")
    if confusion:
        check_paths(confusion, [model_file, source, labels], force)
    trained = load_classifier(model_file)
    own_column, column = split_label_column(label_column, labels)
    classes = trained.model.classes_
    y = read_labels(labels, column=column, classes=classes) if labels else None
    with (
        input_file(source, confusion or "-", input_format) as (path, name),
        as_input_error(),
        once_each_warning(quiet),
        compiling(quiet),
    ):
        reader = open_for(
            trained,
            path,
            input_format,
            name,
            label_column=own_column,
            zero_based=zero_based,
            quiet=quiet,
        )
        if y is None and not reader.has_labels:
            raise ConfigError(
                f"{name}: holds no labels; name a file with --labels, or the column that has "
                "them with --label-column"
            )
        with progress_bar(f"evaluate {name}", quiet=quiet) as report:
            found = _evaluate(trained.model, reader, y, memory, report)
    if confusion:
        with atomic_file(confusion, force=force) as file:
            file.write(_confusion_csv(found).encode())
    if found.n_unknown and not quiet:
        told = unknown_labels(found.n_unknown, int(found.confusion.sum()), found.unknown)
        click.echo(f"warning: {told}", err=True)
    click.echo(json.dumps(_as_names(found), indent=2) if as_json else _text(found))


def _evaluate(
    model: Any, reader: Any, given: "NDArray | None", memory: float, report: Any
) -> "Evaluation":
    """Score the rows block by block, then compare."""
    import numpy as np

    from kmaps.io import LabelledRows
    from kmaps.models import evaluate

    rows = LabelledRows(
        reader,
        given,
        memory=int(memory * 1e6),
        progress=lambda stage, done, total: report(done, total),
    )
    scores = np.concatenate([model.decision_function(X) for X in rows.blocks()])
    return evaluate(rows.labels(model.classes_), scores, model.classes_)


def _number(value: float) -> float | None:
    """Return a metric for JSON, which has no NaN."""
    return None if value != value else float(value)


def _as_names(found: "Evaluation") -> dict[str, Any]:
    n_rows = found.confusion.sum(axis=1)
    return {
        "rows": int(n_rows.sum()),
        "accuracy": found.accuracy,
        "roc_auc": found.ranking(found.roc_auc),
        "average_precision": found.ranking(found.average_precision),
        "classes": [
            {
                "label": label,
                "rows": int(n_rows[place]),
                "recall": _number(found.recall[place]),
                "precision": _number(found.precision[place]),
                "roc_auc": _number(found.roc_auc[place]),
                "average_precision": _number(found.average_precision[place]),
            }
            for place, label in enumerate(found.classes.tolist())
        ],
        "unknown_labels": found.unknown.tolist(),
        "unknown_rows": found.n_unknown,
        "confusion": found.confusion.tolist(),
    }


def _text(found: "Evaluation") -> str:
    told = _as_names(found)
    right = int(found.confusion.diagonal().sum())
    lines = [f"accuracy {100 * found.accuracy:.2f} % ({right:,} of {told['rows']:,})"]
    of = f"of {found.classes[1]}" if len(found.classes) == 2 else "mean over the classes"
    for name, title in (("roc_auc", "ROC AUC"), ("average_precision", "average precision")):
        if told[name] is not None:
            lines.append(f"{title} {told[name]:.4f} ({of})")
    header = ["class", "rows", "recall, %", "precision, %", "ROC AUC", "average precision"]
    classes = [
        [
            str(one["label"]),
            f"{one['rows']:,}",
            _shown(one["recall"], 100, 2),
            _shown(one["precision"], 100, 2),
            _shown(one["roc_auc"], 1, 4),
            _shown(one["average_precision"], 1, 4),
        ]
        for one in told["classes"]
    ]
    return "\n".join([*lines, "", *_aligned([header, *classes]), "", *_confusion_text(found)])


def _shown(value: float | None, scale: int, digits: int) -> str:
    return "-" if value is None else f"{scale * value:.{digits}f}"


def _confusion_text(found: "Evaluation") -> list[str]:
    """Return the lines of the matrix, or of many classes those that are confused most."""
    names = [str(label) for label in found.labels.tolist()]
    if len(found.classes) <= _WIDEST:
        rows = [
            [name, *map(str, counts)]
            for name, counts in zip(names, found.confusion.tolist(), strict=True)
        ]
        table = [["true \\ predicted", *names[: len(found.classes)]], *rows]
        return ["confusion matrix", *_aligned(table)]
    wrong = [
        (count, names[row], names[column])
        for row, counts in enumerate(found.confusion.tolist())
        for column, count in enumerate(counts)
        if row != column and count
    ]
    most = sorted(wrong, key=lambda one: -one[0])[:_MOST_CONFUSED]
    table = [["true", "predicted", "rows"], *([true, as_, str(n)] for n, true, as_ in most)]
    return ["most confused (the whole matrix: --confusion FILE)", *_aligned(table)]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Return rows as lines of columns, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if place else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _confusion_csv(found: "Evaluation") -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["true", *found.classes.tolist()])
    for label, counts in zip(found.labels.tolist(), found.confusion.tolist(), strict=True):
        table.writerow([label, *counts])
    return text.getvalue()
