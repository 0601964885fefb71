"""``kmaps predict``: predict labels with a trained model."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli import array_files, model_files
from kmaps.cli.array_files import as_input_error, check_paths, once_each_warning
from kmaps.cli.cluster import cluster as cluster_option
from kmaps.cli.cluster import cluster_client, predict_on_cluster
from kmaps.cli.completing import files
from kmaps.cli.drift import Drift, drift_of
from kmaps.cli.drift import max_drift as max_drift_option
from kmaps.cli.flags import GroupedCommand, say
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.io import PredictionWriter, Reader

_NOT_ON_CLUSTER = (
    "scores",
    "proba",
    "max_drift",
    "input_format",
    "output_format",
    "zero_based",
    "header",
    "memory",
)
"""Options without a meaning on a cluster."""


@click.command(
    cls=GroupedCommand,
    groups={
        "Files": "labels label_column input_format output_format zero_based header force",
        "Computation": "memory threads cluster",
    },
    epilog="""\b
Examples:
  kmaps predict model.npz test.npy predicted.npy --labels labels.npy
  kmaps predict model.npz test.csv predicted.csv --label-column digit --scores --proba
  kmaps predict model.npz test.svm - | sort | uniq -c
  kmaps predict model.npz rows.npy predicted.npy --cluster local:4""",
)
@click.argument("model_file", metavar="MODEL", shell_complete=files)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="OUT", shell_complete=files)
@array_files.labels
@array_files.label_column
@click.option("--scores", is_flag=True, help="Write decision values, a column per class.")
@click.option(
    "--proba",
    is_flag=True,
    help="Write probabilities, a column per class (`kmaps train --probability …` is needed).",
)
@array_files.input_format
@click.option(
    "--output-format",
    metavar="FORMAT",
    help="Format of OUT: npy, npz, txt, csv, svm, parquet or arrow. [default: by its name]",
)
@array_files.zero_based
@array_files.header
@array_files.memory
@max_drift_option
@array_files.threads
@cluster_option
@click.option("--force", is_flag=True, help="Replace OUT when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress bar, no warnings.")
def command(
    model_file: str,
    source: str,
    target: str,
    scores: bool,
    proba: bool,
    output_format: str | None,
    memory: float,
    cluster: str | None,
    max_drift: float | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **data_options: Any,
) -> None:
    """Predict the label of each row of the array file IN with MODEL and write them to OUT.

    IN is a file of rows as `kmaps train` takes it, of any size, and is handled in blocks; OUT
    appears when it is complete. One of MODEL, IN and --labels may be - for standard input. If there
    are true labels (--labels, --label-column, a npz or a svm file), the accuracy is printed; for a
    model of `kmaps train --regression`, whose labels are numbers, R² and the root mean square
    error.

    OUT is .txt or .csv, with a label per line; with --scores or --proba tables (.csv, .parquet,
    .arrow) have the columns label, score:CLASS and proba:CLASS, and .npz the arrays labels, scores,
    proba and classes. .npy has the labels or, with one of these options, its table, which .svm has
    as features. - is standard output: txt, csv with --scores or --proba, or --output-format.
    In .txt and .csv each row is one line: control characters of labels are written as escapes.
    """
    if cluster is not None:
        trained = model_files.load_classifier(model_file)
        with (
            cluster_client(cluster, *_NOT_ON_CLUSTER),
            as_input_error(),
            once_each_warning(quiet),
        ):
            tally = predict_on_cluster(
                trained,
                source,
                target,
                data_options["labels"],
                data_options["label_column"],
                force=force,
            )
        _report(tally, target, as_json=as_json)
        return
    from kmaps.io import open_predictions, prediction_format

    tables = []
    if scores:
        tables.append("scores")
    if proba:
        tables.append("proba")
    if target == "-" and as_json:
        raise ConfigError("--json: standard output is for the labels; name a file for OUT")
    form = prediction_format(target, output_format, tables)
    check_paths(target, [model_file, source, data_options["labels"]], force)
    trained = model_files.load_trained(model_file)
    classes = trained.classes
    if proba:
        model_files.check_probabilities(trained)
    if classes is None and tables:
        raise InputError(f"{model_file}: is a regression, which has no classes: leave --scores out")
    open_output = partial(open_predictions, target, form, classes, force=force)
    drift = drift_of(trained, max_drift)
    with model_files.data_for(trained, source, target, quiet=quiet, **data_options) as (
        reader,
        truth,
    ):
        if drift is not None:
            drift.silence_the_library()
        tally = _predict(
            trained.model, reader, truth, tables, memory, open_output, drift, quiet=quiet
        )
    if form == "csv" and classes is not None and not quiet:
        model_files.say_formulas(classes, target)
    _report(tally, target, as_json=as_json, quiet=quiet)
    if drift is not None:
        drift.report(max_drift, quiet=quiet)


def _report(tally: dict[str, Any], target: str, *, as_json: bool, quiet: bool = True) -> None:
    """Print how many labels are right, or how close predicted numbers are."""
    if not quiet and tally.get("unknown_rows"):
        warning = model_files.unknown_labels_warning(
            tally["unknown_rows"], tally["rows"], tally["unknown_labels"]
        )
        say(f"warning: {warning}", err=True)
    to_stderr = target == "-"  # standard output has the labels
    if as_json:
        say(json.dumps(tally, indent=2))
    elif tally.get("accuracy") is not None:
        counts = f"{tally['correct']:,} of {tally['rows']:,}"
        say(f"accuracy {100 * tally['accuracy']:.2f} % ({counts})", err=to_stderr)
    elif tally.get("rmse") is not None:
        r2 = "–" if tally["r2"] is None else f"{tally['r2']:.4f}"
        rows = f"{tally['rows']:,} rows"
        say(f"R² {r2}, root mean square error {tally['rmse']:.4g} ({rows})", err=to_stderr)


def _predict(
    model: Any,
    reader: "Reader",
    truth: "NDArray | None",
    tables: list[str],
    memory: float,
    open_output: "Callable[[], AbstractContextManager[PredictionWriter]]",
    drift: Drift | None,
    *,
    quiet: bool,
) -> dict[str, Any]:
    """Write the predictions block by block; compare them with the true labels, if known."""
    import numpy as np

    from kmaps.cli.compiling import compile_counter
    from kmaps.io import read_blocks

    start = perf_counter()
    classes = vars(model).get("classes_")
    n_contradicted = 0
    predicted: list[NDArray] = []
    labels_in_file: list[NDArray] = []
    with (
        compile_counter() as compiled,
        open_output() as writer,
        progress_bar(f"predict {reader.name}", quiet=quiet) as report,
    ):
        for X, y in read_blocks(reader, memory=int(memory * 1e6), progress=report):
            block_labels, columns = _predict_block(model, X, tables)
            if drift is not None:
                drift.add(X)
            n_contradicted += columns.pop("n_contradicted", 0)
            writer.write(block_labels, columns)
            predicted.append(block_labels)
            if y is not None:
                labels_in_file.append(y)
        labels = np.concatenate(predicted)
        if truth is None and labels_in_file:
            truth = _labels_of_file(reader, np.concatenate(labels_in_file), classes)
        if truth is not None and len(truth) != len(labels):
            raise InputError(f"{len(truth)} labels, but {reader.name} has {len(labels)} rows")
    if n_contradicted and not quiet:
        say(
            f"warning: {n_contradicted:,} of {len(labels):,} rows: a class that is not predicted "
            f"is more probable; {model.probability} measures each class by itself",
            err=True,
        )
    seconds = perf_counter() - start - compiled.seconds
    tally: dict[str, Any] = {"rows": len(labels)}
    if classes is None:
        tally |= _regression_tally(labels, truth)
    else:
        tally |= _tally(labels, truth, classes)
    tally["predict_s"] = seconds
    if drift is not None:
        tally["drift"] = drift.as_json()
    return tally


def _predict_block(model: Any, X: Any, tables: list[str]) -> "tuple[NDArray, dict[str, Any]]":
    """Return the labels of some rows, and the tables of scores and probabilities asked for.

    With probabilities, also ``n_contradicted``: the rows with a more probable class.
    """
    from kmaps.models import count_contradicted
    from kmaps.svm import winners

    if vars(model).get("classes_") is None:
        return model.predict(X), {}
    decision = model.decision_function(X)
    columns = {}
    if "scores" in tables:
        columns["scores"] = decision.reshape(len(decision), -1)
    if "proba" in tables:
        columns["proba"] = model.probabilities_of(decision)
        columns["n_contradicted"] = count_contradicted(decision, columns["proba"])
    return model.classes_[winners(decision)], columns


def _tally(labels: "NDArray", truth: "NDArray | None", classes: "NDArray") -> dict[str, Any]:
    """Count right labels, and rows whose label the model does not know."""
    import numpy as np

    if truth is None:
        return dict.fromkeys(("correct", "accuracy", "unknown_rows", "unknown_labels"))
    unknown = truth[~np.isin(truth, classes)]
    correct = int(np.sum(labels == truth))
    return {
        "correct": correct,
        "accuracy": correct / len(labels),
        "unknown_rows": len(unknown),
        "unknown_labels": np.unique(unknown).tolist(),
    }


def _regression_tally(labels: "NDArray", truth: "NDArray | None") -> dict[str, Any]:
    """Return R², None where all true numbers are the same, and the root mean square error."""
    import numpy as np

    if truth is None:
        return {"r2": None, "rmse": None}
    squares = np.square(labels - truth)
    spread = np.square(truth - truth.mean())
    r2 = float(1 - squares.sum() / spread.sum()) if spread.sum() else None
    return {"r2": r2, "rmse": float(np.sqrt(squares.mean()))}


def _labels_of_file(reader: "Reader", y: "NDArray", classes: "NDArray | None") -> "NDArray | None":
    """Return the labels within the data; in a svm file some may stand for no label."""
    import numpy as np

    from kmaps.io import check_label_kind, target_numbers, typed_labels

    if classes is None:
        return target_numbers(y, reader.name, typed=reader.labels_typed)
    y = typed_labels(y, classes, typed=reader.labels_typed)
    if reader.index_base is not None:
        # Lines of svm files always have a label, even if the true one is unknown.
        return y if classes.dtype.kind != "U" and np.isin(y, classes).any() else None
    check_label_kind(y, classes)
    return y
