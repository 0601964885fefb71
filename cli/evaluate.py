"""``kmaps evaluate``: compare a trained model's labels with the true ones."""

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.bench.report.forms import aligned, csv_text
from kmaps.cli import array_files
from kmaps.cli.array_files import check_labelled, check_paths, look_for
from kmaps.cli.completing import files
from kmaps.cli.flags import say
from kmaps.cli.model_files import check_probabilities, data_for, load_classifier, unknown_labels
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.models import Calibration, Evaluation

_WIDEST = 20  # classes of a confusion matrix that is printed whole
_FIGURES = ("png", "svg", "pdf")
_OF_CLASSES = {  # what is measured of each class: its scale and its digits in the table
    **{"recall": (100, 2), "precision": (100, 2)},
    **{"roc_auc": (1, 4), "average_precision": (1, 4)},
}


@click.command(
    epilog="""\b
Examples:
  kmaps evaluate model.npz test.npy --labels labels.npy
  kmaps evaluate model.npz test.csv --label-column digit --confusion confusion.pdf
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
    multiple=True,
    help="Write the confusion matrix: .csv, or a figure, .png, .svg or .pdf. Repeatable.",
)
@click.option(
    "--reliability",
    metavar="FILE",
    shell_complete=files,
    multiple=True,
    help="Write how often the most probable class is right, by its probability: .csv or a figure.",
)
@array_files.input_format
@array_files.zero_based
@array_files.memory
@array_files.threads
@click.option("--force", is_flag=True, help="Replace the files that are written when they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no warnings.")
def command(
    model_file: str,
    source: str,
    confusion: tuple[str, ...],
    reliability: tuple[str, ...],
    memory: float,
    force: bool,
    as_json: bool,
    quiet: bool,
    **contract: Any,
) -> None:
    """Compare what MODEL predicts with the true labels of the rows of DATA.

    DATA is a file of rows as `kmaps train` takes it; one of MODEL, DATA and --labels may be - for
    standard input. Shown are the accuracy; recall, precision, area under the ROC curve and average
    precision of each class, the last two against all other rows by the decision values; and the
    confusion matrix, a row a true label, a column a predicted one. Summaries of the two ranks are
    those of the second of two classes, and means over more.

    Of a model of `kmaps train --set probability=…` the calibration follows: the expected
    calibration error, the Brier score and the log loss, and in ten bins of the largest probability
    of a row how often its class is the true one.

    Rows whose label the model does not know count as wrong, and are reported. The rows are read in
    blocks; in memory stay their labels and scores.
    """
    look_for(model_file, source)
    for option, targets in {"--confusion": confusion, "--reliability": reliability}.items():
        for target in targets:
            check_paths(target, [model_file, source, contract["labels"]], force)
            _check_target(option, target)
    trained = load_classifier(model_file)
    if reliability:
        check_probabilities(trained)
    with data_for(trained, source, "-", quiet=quiet, **contract) as (reader, y):
        check_labelled(reader, y)
        with progress_bar(f"evaluate {reader.name}", quiet=quiet) as report:
            found = _evaluate(trained.model, reader, y, memory, report)
    by_name = _as_names(found)
    for target in confusion:
        _write(target, force, _confusion_rows(found), found)
    for target in reliability:
        bins = by_name["calibration"]["bins"]
        _write(target, force, [[*bins[0]], *([*one.values()] for one in bins)], found.calibration)
    if found.n_unknown and not quiet:
        warning = unknown_labels(found.n_unknown, by_name["rows"], found.unknown)
        say(f"warning: {warning}", err=True)
    say(json.dumps(by_name, indent=2) if as_json else _text(found, by_name))


def _check_target(option: str, target: str) -> None:
    if target == "-":
        raise ConfigError(f"{option} -: standard output is for the table; name a file")
    if _suffix(target) not in ("csv", *_FIGURES):
        formats = ", ".join(("csv", *_FIGURES))
        raise InputError(f"{target}: unknown format {_suffix(target)!r} ({formats})")


def _suffix(target: str) -> str:
    return Path(target).suffix.lower().removeprefix(".")


def _write(
    target: str, force: bool, rows: list[list[Any]], shown: "Evaluation | Calibration | None"
) -> None:
    from kmaps.io import atomic_file

    with atomic_file(target, force=force) as file:
        form = _suffix(target)
        if form == "csv":
            file.write(_csv(rows).encode())
            return
        from kmaps.bench.figures.evaluation import draw_confusion, draw_reliability
        from kmaps.models import Evaluation

        if isinstance(shown, Evaluation):
            draw_confusion(shown, file, form)
        elif shown is not None:
            draw_reliability(shown, file, form)


def _evaluate(
    model: Any, reader: Any, given: "NDArray | None", memory: float, report: Any
) -> "Evaluation":
    import numpy as np

    from kmaps.io import LabelledRows
    from kmaps.models import evaluate

    n = int(memory * 1e6)
    rows = LabelledRows(reader, given, memory=n, progress=lambda _, *done: report(*done))
    scores = np.concatenate([model.decision_function(X) for X in rows.blocks()])
    probabilities = None if model.probability is None else model.probabilities_of(scores)
    return evaluate(rows.labels(model.classes_), scores, model.classes_, probabilities)


def _records(**columns: "NDArray") -> list[dict[str, Any]]:
    """Return columns as one dictionary per row, with None for NaN, which JSON does not have."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [
        {name: None if value != value else value for name, value in zip(columns, row, strict=True)}
        for row in rows
    ]


def _as_names(found: "Evaluation") -> dict[str, Any]:
    n_rows, of = found.confusion.sum(axis=1), found.calibration
    calibration = of and {
        "error": of.error,
        "brier": of.brier,
        "log_loss": None if of.log_loss != of.log_loss else of.log_loss,
        "bins": _records(
            **{"from": of.bounds[:-1], "to": of.bounds[1:], "rows": of.rows},
            **{"probability": of.confidence, "accuracy": of.accuracy},
        ),
    }
    return {
        "rows": int(n_rows.sum()),
        "accuracy": found.accuracy,
        "roc_auc": found.ranking(found.roc_auc),
        "average_precision": found.ranking(found.average_precision),
        "classes": _records(
            label=found.classes,
            rows=n_rows[: len(found.classes)],
            **{name: getattr(found, name) for name in _OF_CLASSES},
        ),
        "unknown_labels": found.unknown.tolist(),
        "unknown_rows": found.n_unknown,
        "confusion": found.confusion.tolist(),
        "calibration": calibration,
    }


def _text(found: "Evaluation", by_name: dict[str, Any]) -> str:
    right = int(found.confusion.diagonal().sum())
    lines = [f"accuracy {100 * found.accuracy:.2f} % ({right:,} of {by_name['rows']:,})"]
    of = f"of {found.classes[1]}" if len(found.classes) == 2 else "mean over the classes"
    for name, title in (("roc_auc", "ROC AUC"), ("average_precision", "average precision")):
        if by_name[name] is not None:
            lines.append(f"{title} {by_name[name]:.4f} ({of})")
    header = ["class", "rows", "recall, %", "precision, %", "ROC AUC", "average precision"]
    classes = [
        [str(one["label"]), f"{one['rows']:,}"]
        + [_shown(one[name], scale, digits) for name, (scale, digits) in _OF_CLASSES.items()]
        for one in by_name["classes"]
    ]
    tables = [aligned([header, *classes]), _confusion_text(found)]
    if by_name["calibration"] is not None:
        tables.append(_calibration_text(by_name["calibration"]))
    return "\n".join(lines + [line for table in tables for line in ["", *table]])


def _calibration_text(of: dict[str, Any]) -> list[str]:
    rows = [
        [
            f"{one['from']:.1f} to {one['to']:.1f}",
            f"{one['rows']:,}",
            _shown(one["probability"], 100, 2),
            _shown(one["accuracy"], 100, 2),
        ]
        for one in of["bins"]
        if one["rows"]
    ]
    return [
        f"expected calibration error {of['error']:.4f}, Brier score {of['brier']:.4f}, log loss "
        f"{_shown(of['log_loss'], 1, 4)}",
        *aligned([["largest probability", "rows", "mean, %", "right, %"], *rows]),
    ]


def _shown(value: float | None, scale: int, digits: int) -> str:
    return "-" if value is None else f"{scale * value:.{digits}f}"


def _confusion_text(found: "Evaluation") -> list[str]:
    """Return the lines of the matrix, or of many classes those that are confused most."""
    names = [str(label) for label in found.labels.tolist()]
    if len(found.classes) <= _WIDEST:
        [_, *header], *rows = [[*map(str, row)] for row in _confusion_rows(found)]
        return ["confusion matrix", *aligned([["true \\ predicted", *header], *rows])]
    wrong = [
        (count, names[row], names[column])
        for row, counts in enumerate(found.confusion.tolist())
        for column, count in enumerate(counts)
        if row != column and count
    ]
    most = sorted(wrong, key=lambda one: -one[0])[:10]
    table = [["true", "predicted", "rows"], *([true, as_, str(n)] for n, true, as_ in most)]
    return ["most confused (the whole matrix: --confusion FILE)", *aligned(table)]


def _confusion_rows(found: "Evaluation") -> list[list[Any]]:
    rows = zip(found.labels.tolist(), found.confusion.tolist(), strict=True)
    return [["true", *found.classes.tolist()], *([label, *counts] for label, counts in rows)]


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [csv_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return text.getvalue()
