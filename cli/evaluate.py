"""``kmaps evaluate``: compare a trained model's labels with the true ones."""

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.bench.report.document import check_form
from kmaps.bench.report.forms import csv_text
from kmaps.cli import array_files
from kmaps.cli.array_files import check_labelled, check_paths, look_for
from kmaps.cli.completing import files
from kmaps.cli.flags import COMMAND_LINE, say
from kmaps.cli.model_files import check_probabilities, data_for, load_classifier, unknown_labels
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.models import Evaluation

_FORMATS = ("csv", "png", "svg", "pdf")
_OF_CLASSES = ("recall", "precision", "roc_auc", "average_precision")


@click.command(
    epilog="""\b
Examples:
  kmaps evaluate model.npz test.npy --labels labels.npy
  kmaps evaluate model.npz test.csv --label-column digit --confusion confusion.pdf
  kmaps evaluate model.npz test.svm --json -o page.html"""
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
    help="Write how often the most probable class is right, by its probability: .csv or figure.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    shell_complete=files,
    multiple=True,
    help="Write a page with intervals, figures and settings: .md, .html, .json, .pdf. Repeatable.",
)
@array_files.input_format
@array_files.zero_based
@array_files.memory
@array_files.threads
@click.option("--force", is_flag=True, help="Replace the written files when they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress bar, no warnings.")
def command(
    model_file: str,
    source: str,
    confusion: tuple[str, ...],
    reliability: tuple[str, ...],
    out: tuple[str, ...],
    memory: float,
    force: bool,
    as_json: bool,
    quiet: bool,
    **contract: Any,
) -> None:
    """Compare the labels that MODEL predicts for the rows of DATA with the true ones.

    DATA is a file of rows as `kmaps train` takes it; one of MODEL, DATA and --labels may be - for
    standard input. The command shows the accuracy; recall, precision, area under the ROC curve and
    average precision of each class, the last two by the decision values, against all other rows;
    and the confusion matrix, with a row per true label and a column per predicted label. The two
    ranking scores are summarised: for the second of two classes, or as means over more classes.

    For a model of `kmaps train --probability …` the calibration follows: the expected
    calibration error, the Brier score, the log loss, and, in ten bins of the largest probability of
    a row, how often the most probable class is the true one.

    Rows with a label that the model does not know count as errors and are reported. The rows are
    read in blocks; their labels and scores stay in memory.
    """
    look_for(model_file, source)
    targets = {"--confusion": confusion, "--reliability": reliability, "--out": out}
    for option, of in targets.items():
        for target in of:
            check_paths(target, [model_file, source, contract["labels"]], force)
            _check_target(option, target)
    trained = load_classifier(model_file)
    if reliability:
        check_probabilities(trained)
    with data_for(trained, source, "-", quiet=quiet, **contract) as (reader, y):
        check_labelled(reader, y)
        with progress_bar(f"evaluate {reader.name}", quiet=quiet) as report:
            found = _evaluate(trained.model, reader, y, memory, report)
    from kmaps.bench.evaluated import lines

    by_name = _as_names(found)
    for target in confusion:
        counts = zip(found.labels.tolist(), found.confusion.tolist(), strict=True)
        rows = [["true", *found.classes.tolist()], *([label, *of] for label, of in counts)]
        _write(target, force, found, rows, "confusion")
    for target in reliability:
        bins = by_name["calibration"]["bins"]
        rows = [[*bins[0]], *([*one.values()] for one in bins)]
        _write(target, force, found, rows, "reliability")
    n, note = found.n_unknown, ""
    if n and (note := unknown_labels(n, by_name["rows"], found.unknown)) and not quiet:
        say(f"warning: {note}", err=True)
    if out:
        _write_pages(found, out, force, trained.file, reader.name, note)
    say(json.dumps(by_name, indent=2) if as_json else lines(found))


def _write_pages(
    found: "Evaluation", out: tuple[str, ...], force: bool, model: str, rows: str, note: str
) -> None:
    from kmaps.bench.evaluated import page
    from kmaps.cli.info import model_lines
    from kmaps.io import atomic_file
    from kmaps.models import describe_model

    known = {} if model == "standard input" else model_lines(describe_model(model))
    settings = {"model file": model, "rows": rows} | known
    given = click.get_current_context().meta.get(COMMAND_LINE, "")
    for path in map(Path, out):
        with atomic_file(path, force=force) as file:
            file.write(page(found, path.suffix, settings, given, note))


def _check_target(option: str, target: str) -> None:
    if target == "-":
        raise ConfigError(f"{option} -: standard output is for the table; name a file")
    if option == "--out":
        check_form(Path(target))
    elif _suffix(target) not in _FORMATS:
        raise InputError(f"{target}: unknown format {_suffix(target)!r} ({', '.join(_FORMATS)})")


def _suffix(target: str) -> str:
    return Path(target).suffix.lower().removeprefix(".")


def _write(target: str, force: bool, found: "Evaluation", rows: list[list[Any]], what: str) -> None:
    from kmaps.io import atomic_file

    if _suffix(target) != "csv":
        from kmaps.bench.figures.evaluation import DRAWN

        check_paths(target, [], force)  # again: reading the rows took time
        return DRAWN[what](found, Path(target))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [csv_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    with atomic_file(target, force=force) as file:
        file.write(text.getvalue().encode())


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
