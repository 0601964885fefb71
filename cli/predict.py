"""``kmaps predict``: the labels that a model of ``kmaps train`` gives the rows of an array file."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from kmaps.cli import array_files
from kmaps.cli.array_files import (
    as_input_error,
    check_paths,
    compiling,
    input_file,
    once_each_warning,
    split_label_column,
)
from kmaps.cli.completing import files
from kmaps.cli.model_files import load_classifier, open_for, unknown_labels
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.io.reader import Reader

_TEXT = (".txt", ".csv")


@click.command(
    epilog="""\b
Examples:
  kmaps predict model.npz test.npy predicted.npy --labels labels.npy
  kmaps predict model.npz test.csv predicted.csv --label-column digit
  kmaps predict model.npz test.svm - | sort | uniq -c"""
)
@click.argument("model_file", metavar="MODEL", shell_complete=files)
@click.argument("source", metavar="IN", shell_complete=files)
@click.argument("target", metavar="OUT", shell_complete=files)
@array_files.labels
@array_files.label_column
@click.option("--scores", is_flag=True, help="Write decision values, a column a class, not labels.")
@array_files.input_format
@array_files.zero_based
@array_files.memory
@click.option("--force", is_flag=True, help="Replace OUT when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no warnings.")
def command(
    model_file: str,
    source: str,
    target: str,
    labels: str | None,
    label_column: str | None,
    scores: bool,
    input_format: str | None,
    zero_based: str,
    memory: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict the label of each row of the array file IN with MODEL and write them to OUT.

    IN is a file of rows as `kmaps train` takes it, or - for standard input, and is handled in
    blocks, whatever its size. OUT is .npy, or .txt, .csv or - for a label a line; it appears
    when it is complete. With true labels, of --labels, --label-column, a npz or a svm file, the
    accuracy is printed.
    """
    from kmaps.io import read_labels
    from kmaps.io.labels import check_label_kind

    _check_target(target, scores, as_json)
    check_paths(target, [model_file, source, labels], force)
    trained = load_classifier(model_file)
    model = trained.model
    own_column, column = split_label_column(label_column, labels)
    truth = None
    if labels:
        truth = read_labels(labels, column=column, classes=model.classes_)
        check_label_kind(truth, model.classes_)
    with (
        input_file(source, target, input_format) as (path, name),
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
        if truth is not None and reader.n_rows not in (None, len(truth)):
            raise InputError(f"{len(truth)} labels, but {name} has {reader.n_rows} rows")
        start = perf_counter()
        with (
            _writer(target, scores, force) as write,
            progress_bar(f"predict {name}", quiet=quiet) as report,
        ):
            tally = _predict(model, reader, truth, scores, memory, write, report)
        tally["predict_s"] = perf_counter() - start
    if tally["unknown_rows"] and not quiet:
        told = unknown_labels(tally["unknown_rows"], tally["rows"], tally["unknown_labels"])
        click.echo(f"warning: {told}", err=True)
    if as_json:
        click.echo(json.dumps(tally, indent=2))
    elif tally["accuracy"] is not None:
        counts = f"{tally['correct']:,} of {tally['rows']:,}"
        # Standard output may be the labels themselves.
        click.echo(f"accuracy {100 * tally['accuracy']:.2f} % ({counts})", err=target == "-")


def _check_target(target: str, scores: bool, as_json: bool) -> None:
    suffix = Path(target).suffix.lower()
    if target == "-" and as_json:
        raise ConfigError("--json: standard output is for the labels; name a file for OUT")
    if scores and suffix != ".npy":
        raise InputError(f"{target}: scores are written to .npy only")
    if target != "-" and suffix not in (".npy", *_TEXT):
        known = ", ".join(text.removeprefix(".") for text in (".npy", *_TEXT))
        raise InputError(f"{target}: unknown format {suffix.removeprefix('.')!r} ({known})")


def _predict(
    model: Any,
    reader: "Reader",
    truth: "NDArray | None",
    scores: bool,
    memory: float,
    write: Any,
    report: Any,
) -> dict[str, Any]:
    """Write what each block gives; count rows, and right labels if there are any to compare."""
    import numpy as np

    from kmaps.io import read_blocks
    from kmaps.svm.reduction import winners

    own: list[NDArray] = []
    given: list[NDArray] = []
    for X, y in read_blocks(reader, memory=int(memory * 1e6), progress=report):
        decision = model.decision_function(X)
        predicted = model.classes_[winners(decision)]
        write(decision.reshape(len(decision), -1) if scores else predicted)
        given.append(predicted)
        own += [] if y is None else [y]
    labels = np.concatenate(given)
    if truth is None and own:
        truth = _own_labels(reader, np.concatenate(own), model.classes_)
    if truth is not None and len(truth) != len(labels):
        raise InputError(f"{len(truth)} labels, but {reader.name} has {len(labels)} rows")
    right = None if truth is None else int(np.sum(labels == truth))
    return {
        "rows": len(labels),
        "correct": right,
        "accuracy": None if right is None else right / len(labels),
        **_unknown(truth, model.classes_),
    }


def _own_labels(reader: "Reader", y: "NDArray", classes: "NDArray") -> "NDArray | None":
    """Return the labels within the data; those of a svm file may stand for none."""
    import numpy as np

    from kmaps.io.labels import check_label_kind, typed

    if y.dtype.kind == "U":
        y = typed(y, classes)
        check_label_kind(y, classes)
        return y
    # A line of a svm file has some label, even where nobody knows it.
    return y if classes.dtype.kind != "U" and np.isin(y, classes).any() else None


def _unknown(truth: "NDArray | None", classes: "NDArray") -> dict[str, Any]:
    import numpy as np

    if truth is None:
        return {"unknown_rows": None, "unknown_labels": None}
    strange = ~np.isin(truth, classes)
    return {
        "unknown_rows": int(strange.sum()),
        "unknown_labels": np.unique(truth[strange]).tolist(),
    }


@contextmanager
def _writer(target: str, scores: bool, force: bool) -> Iterator[Any]:
    """Yield a function that appends labels or scores; OUT appears when all went well."""
    import numpy as np

    from kmaps.io import atomic_file, open_writer

    if scores:
        with open_writer(target, force=force) as writer:
            yield lambda rows: writer.write(rows, None)
    elif target == "-":
        yield lambda labels: click.echo(_lines(labels), nl=False)
    else:
        parts: list[NDArray] = []
        with atomic_file(target, force=force) as file:
            if Path(target).suffix.lower() in _TEXT:
                yield lambda labels: file.write(_lines(labels).encode())
            else:
                yield parts.append
                np.save(file, np.concatenate(parts))


def _lines(labels: "NDArray") -> str:
    return "".join(f"{label}\n" for label in labels.tolist())
