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
from kmaps.cli.cluster import connected, predict_there
from kmaps.cli.completing import files
from kmaps.cli.flags import GroupedCommand, say
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.io import PredictionWriter, Reader

_NOT_THERE = ("scores", "proba", "input_format", "output_format", "zero_based", "memory")
"""Options without a meaning on a cluster."""


@click.command(
    cls=GroupedCommand,
    groups={
        "Files": "labels label_column input_format output_format zero_based force",
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
@array_files.memory
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
    force: bool,
    as_json: bool,
    quiet: bool,
    **contract: Any,
) -> None:
    """Predict the label of each row of the array file IN with MODEL and write them to OUT.

    IN is a file of rows as `kmaps train` takes it, of any size, and is handled in blocks; OUT
    appears when it is complete. One of MODEL, IN and --labels may be - for standard input. If there
    are true labels (--labels, --label-column, a npz or a svm file), the accuracy is printed.

    OUT is .txt or .csv, with a label per line; with --scores or --proba tables (.csv, .parquet,
    .arrow) have the columns label, score:CLASS and proba:CLASS, and .npz the arrays labels, scores,
    proba and classes. .npy has the labels or, with one of these options, its table, which .svm has
    as features. - is standard output: txt, csv with --scores or --proba, or --output-format.
    """
    if cluster is not None:
        trained = model_files.load_classifier(model_file)
        with connected(cluster, *_NOT_THERE), as_input_error(), once_each_warning(quiet):
            tally = predict_there(
                trained, source, target, contract["labels"], contract["label_column"], force=force
            )
        _tell(tally, target, as_json=as_json)
        return
    from kmaps.io import open_predictions, prediction_format

    tables = ["scores"] * scores + ["proba"] * proba
    if target == "-" and as_json:
        raise ConfigError("--json: standard output is for the labels; name a file for OUT")
    form = prediction_format(target, output_format, tables)
    check_paths(target, [model_file, source, contract["labels"]], force)
    trained = model_files.load_classifier(model_file)
    if proba:
        model_files.check_probabilities(trained)
    opened = partial(open_predictions, target, form, trained.model.classes_, force=force)
    with model_files.data_for(trained, source, target, quiet=quiet, **contract) as (reader, given):
        tally = _predict(trained, reader, given, tables, memory, opened, quiet=quiet)
    _tell(tally, target, as_json=as_json, quiet=quiet)


def _tell(tally: dict[str, Any], target: str, *, as_json: bool, quiet: bool = True) -> None:
    if not quiet and tally["unknown_rows"]:
        warning = model_files.unknown_labels(
            tally["unknown_rows"], tally["rows"], tally["unknown_labels"]
        )
        say(f"warning: {warning}", err=True)
    if as_json:
        say(json.dumps(tally, indent=2))
    elif tally["accuracy"] is not None:
        counts = f"{tally['correct']:,} of {tally['rows']:,}"
        # Standard output may be the labels themselves.
        say(f"accuracy {100 * tally['accuracy']:.2f} % ({counts})", err=target == "-")


def _predict(
    trained: model_files.Trained,
    reader: "Reader",
    truth: "NDArray | None",
    tables: list[str],
    memory: float,
    opened: "Callable[[], AbstractContextManager[PredictionWriter]]",
    *,
    quiet: bool,
) -> dict[str, Any]:
    """Write the predictions block by block; count rows, and right labels if labels are known."""
    import numpy as np

    from kmaps.cli.compiling import watched
    from kmaps.io import read_blocks
    from kmaps.svm import winners

    start, model = perf_counter(), trained.model
    found: list[NDArray] = []
    given: list[NDArray] = []
    with (
        watched() as compiled,
        opened() as writer,
        progress_bar(f"predict {reader.name}", quiet=quiet) as report,
    ):
        for X, y in read_blocks(reader, memory=int(memory * 1e6), progress=report):
            decision = model.decision_function(X)
            found.append(model.classes_[winners(decision)])
            scores = {"scores": decision.reshape(len(decision), -1)}
            scores |= {"proba": model.probabilities_of(decision)} if "proba" in tables else {}
            writer.write(found[-1], {what: scores[what] for what in tables})
            given += [] if y is None else [y]
        labels = np.concatenate(found)
        if truth is None and given:
            truth = _labels_of_file(reader, np.concatenate(given), model.classes_)
        if truth is not None and len(truth) != len(labels):
            raise InputError(f"{len(truth)} labels, but {reader.name} has {len(labels)} rows")
    tally: dict[str, Any] = {"rows": len(labels), "correct": None, "accuracy": None}
    tally |= {"unknown_rows": None, "unknown_labels": None}
    if truth is not None:
        strange = truth[~np.isin(truth, model.classes_)]
        tally["correct"] = int(np.sum(labels == truth))
        tally["accuracy"] = tally["correct"] / len(labels)
        tally |= {"unknown_rows": len(strange), "unknown_labels": np.unique(strange).tolist()}
    return tally | {"predict_s": perf_counter() - start - compiled.seconds}


def _labels_of_file(reader: "Reader", y: "NDArray", classes: "NDArray") -> "NDArray | None":
    """Return the labels within the data; in a svm file some may stand for no label."""
    import numpy as np

    from kmaps.io import check_label_kind, typed_labels

    if y.dtype.kind == "U":
        y = typed_labels(y, classes)
    elif reader.index_base is not None:
        # Lines of svm files always have a label, even if the true one is unknown.
        return y if classes.dtype.kind != "U" and np.isin(y, classes).any() else None
    check_label_kind(y, classes)
    return y
