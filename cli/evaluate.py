"""``kmaps evaluate``: compare a trained model's labels with the true ones."""

import json
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.bench.report.document import check_form
from kmaps.cli import array_files
from kmaps.cli.array_files import check_labelled, check_paths, look_for
from kmaps.cli.completing import files
from kmaps.cli.drift import Drift, drift_of
from kmaps.cli.drift import max_drift as max_drift_option
from kmaps.cli.flags import COMMAND_LINE, say
from kmaps.cli.model_files import (
    check_probabilities,
    data_for,
    load_trained,
    say_formulas,
    unknown_labels_warning,
)
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.io import LabelledRows
    from kmaps.models import Calibration, Evaluation

_FORMATS = ("csv", "png", "svg", "pdf")


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
    help="Write how often the most probable class is right, by its probability: .csv, or a figure, "
    ".png, .svg or .pdf. Repeatable.",
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
@array_files.header
@array_files.memory
@max_drift_option
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
    max_drift: float | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **data_options: Any,
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

    For a model of `kmaps train --regression` the command shows R², the root mean square error and
    the mean absolute error.

    Rows with a label that the model does not know count as errors and are reported. The rows are
    read in blocks; their labels and scores stay in memory.
    """
    look_for(model_file, source)
    outputs = {"--confusion": confusion, "--reliability": reliability, "--out": out}
    for option, targets in outputs.items():
        for target in targets:
            check_paths(target, [model_file, source, data_options["labels"]], force)
            _check_target(option, target)
    trained = load_trained(model_file)
    from kmaps.io import LabelledRows

    if trained.classes is None:
        for option, targets in outputs.items():
            if targets:
                raise InputError(f"{option}: {model_file} is a regression, which has no classes")
    elif reliability:
        check_probabilities(trained)
    drift = drift_of(trained, max_drift)
    with data_for(trained, source, "-", quiet=quiet, **data_options) as (reader, y):
        check_labelled(reader, y)
        if drift is not None:
            drift.silence_the_library()
        with progress_bar(f"evaluate {reader.name}", quiet=quiet) as report:
            rows = LabelledRows(
                reader,
                y,
                memory=int(memory * 1e6),
                progress=lambda title, done, total: report(done, total),
                watch=False,
            )
            if trained.classes is None:
                errors = _regression_errors(trained.model, rows, drift)
                say(json.dumps(errors, indent=2) if as_json else _error_lines(errors))
            else:
                evaluation = _evaluate(trained.model, rows, drift)
    if trained.classes is None:
        if drift is not None:
            drift.report(max_drift, quiet=quiet)
        return
    from kmaps.bench.evaluated import lines

    facts = _as_dictionary(evaluation)
    for target in confusion:
        _write(target, force, evaluation, _confusion_rows(evaluation), "confusion")
        if _suffix(target) == "csv" and not quiet:
            say_formulas(evaluation.labels, target)
    for target in reliability:
        bins = facts["calibration"]["bins"]
        table = [list(bins[0]), *(list(values.values()) for values in bins)]
        _write(target, force, evaluation, table, "reliability")
    note = ""
    if evaluation.n_unknown:
        note = unknown_labels_warning(evaluation.n_unknown, facts["rows"], evaluation.unknown)
        if not quiet:
            say(f"warning: {note}", err=True)
    if out:
        _write_pages(evaluation, out, force, trained.file, reader.name, note)
    if drift is not None:
        facts["drift"] = drift.as_json()
    say(json.dumps(facts, indent=2) if as_json else lines(evaluation))
    if drift is not None:
        drift.report(max_drift, quiet=quiet)


def _write_pages(
    evaluation: "Evaluation", out: tuple[str, ...], force: bool, model: str, rows: str, note: str
) -> None:
    from kmaps.bench.evaluated import page
    from kmaps.cli.info import model_lines
    from kmaps.io import atomic_file
    from kmaps.models import describe_model

    settings = {"model file": model, "rows": rows}
    if model != "standard input":
        settings |= model_lines(describe_model(model))
    command_line = click.get_current_context().meta.get(COMMAND_LINE, "")
    for path in map(Path, out):
        with atomic_file(path, force=force) as file:
            file.write(page(evaluation, path.suffix, settings, command_line, note))


def _check_target(option: str, target: str) -> None:
    if target == "-":
        raise ConfigError(f"{option} -: standard output is for the table; name a file")
    if option == "--out":
        check_form(Path(target))
    elif _suffix(target) not in _FORMATS:
        raise InputError(f"{target}: unknown format {_suffix(target)!r} ({', '.join(_FORMATS)})")


def _suffix(target: str) -> str:
    return Path(target).suffix.lower().removeprefix(".")


def _confusion_rows(evaluation: "Evaluation") -> list[list[Any]]:
    """Return the confusion matrix with a column of the true labels and a header."""
    from kmaps.io import label_texts

    texts = label_texts(evaluation.labels)
    rows: list[list[Any]] = [["true", *texts[: len(evaluation.classes)]]]
    for text, counts in zip(texts, evaluation.confusion.tolist(), strict=True):
        rows.append([text, *counts])
    return rows


def _write(
    target: str, force: bool, evaluation: "Evaluation", rows: list[list[Any]], figure: str
) -> None:
    """Write rows as csv, or the figure that shows them."""
    from kmaps.io import atomic_file, csv_line

    if _suffix(target) != "csv":
        from kmaps.bench.figures.evaluation import FIGURES

        check_paths(target, [], force)  # again: reading the rows took time
        FIGURES[figure](evaluation, Path(target))
        return
    with atomic_file(target, force=force) as file:
        file.write("".join(map(csv_line, rows)).encode())


def _counted_blocks(rows: "LabelledRows", drift: Drift | None) -> "Iterator[Any]":
    """Yield the blocks of rows, and count their values for the drift."""
    for X in rows.blocks():
        if drift is not None:
            drift.add(X)
        yield X


def _evaluate(model: Any, rows: "LabelledRows", drift: Drift | None) -> "Evaluation":
    """Compare the model's scores with the labels; the rows are read block by block."""
    import numpy as np

    from kmaps.models import evaluate

    scores = np.concatenate([model.decision_function(X) for X in _counted_blocks(rows, drift)])
    probabilities = None if model.probability is None else model.probabilities_of(scores)
    return evaluate(rows.labels(model.classes_), scores, model.classes_, probabilities)


def _regression_errors(model: Any, rows: "LabelledRows", drift: Drift | None) -> dict[str, Any]:
    """Compare predicted numbers with the true ones."""
    import numpy as np
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    predicted = np.concatenate([model.predict(X) for X in _counted_blocks(rows, drift)])
    truth = rows.targets()
    return {
        "rows": len(truth),
        "r2": float(r2_score(truth, predicted)) if len(np.unique(truth)) > 1 else None,
        "rmse": float(root_mean_squared_error(truth, predicted)),
        "mae": float(mean_absolute_error(truth, predicted)),
    }


def _error_lines(errors: dict[str, Any]) -> str:
    r2 = "–" if errors["r2"] is None else f"{errors['r2']:.4f}"
    return (
        f"R² {r2} ({errors['rows']:,} rows)\n"
        f"root mean square error {errors['rmse']:.4g}\n"
        f"mean absolute error {errors['mae']:.4g}"
    )


def _records(**columns: "NDArray") -> list[dict[str, Any]]:
    """Return columns as one dictionary per row, with None for NaN, which JSON does not have."""
    rows = []
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows.append({name: _or_none(value) for name, value in row.items()})
    return rows


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and isnan(value) else value


def _as_dictionary(evaluation: "Evaluation") -> dict[str, Any]:
    """Return an evaluation in types that JSON has."""
    n_rows = evaluation.confusion.sum(axis=1)
    calibration = evaluation.calibration
    return {
        "rows": int(n_rows.sum()),
        "accuracy": evaluation.accuracy,
        "roc_auc": evaluation.ranking(evaluation.roc_auc),
        "average_precision": evaluation.ranking(evaluation.average_precision),
        "classes": _records(
            label=evaluation.classes,
            rows=n_rows[: len(evaluation.classes)],
            recall=evaluation.recall,
            precision=evaluation.precision,
            roc_auc=evaluation.roc_auc,
            average_precision=evaluation.average_precision,
        ),
        "unknown_labels": evaluation.unknown.tolist(),
        "unknown_rows": evaluation.n_unknown,
        "confusion": evaluation.confusion.tolist(),
        "calibration": None if calibration is None else _calibration_columns(calibration),
        "contradicted_rows": evaluation.n_contradicted,
    }


def _calibration_columns(calibration: "Calibration") -> dict[str, Any]:
    columns = {
        "from": calibration.bounds[:-1],
        "to": calibration.bounds[1:],
        "rows": calibration.rows,
        "probability": calibration.confidence,
        "accuracy": calibration.accuracy,
    }
    return {
        "error": calibration.error,
        "brier": calibration.brier,
        "log_loss": _or_none(calibration.log_loss),
        "bins": _records(**columns),
    }
