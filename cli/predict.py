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
    input_file,
    once_each_warning,
)
from kmaps.cli.model_files import check_columns, load_classifier
from kmaps.cli.progress import progress_bar
from kmaps.errors import ConfigError, InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXT = (".txt", ".csv")


@click.command(
    epilog="""\b
Examples:
  kmaps predict model.npz test.npy predicted.npy --labels labels.npy
  kmaps predict model.npz test.svm - | sort | uniq -c"""
)
@click.argument("model_file", metavar="MODEL")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--labels", metavar="FILE", help="True labels of the rows, .npy. [default: IN's own]")
@click.option("--scores", is_flag=True, help="Write decision values, a column a class, not labels.")
@array_files.input_format
@array_files.memory
@click.option("--force", is_flag=True, help="Replace OUT when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no warnings.")
def command(
    model_file: str,
    source: str,
    target: str,
    labels: str | None,
    scores: bool,
    input_format: str | None,
    memory: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict the label of each row of the array file IN with MODEL and write them to OUT.

    IN is .npy, .npz, .csv or .svm/.libsvm, or - for standard input, and is handled in blocks,
    whatever its size. OUT is .npy, or .txt, .csv or - for a label a line; it appears when it is
    complete. With true labels, of --labels or of a svm file, the accuracy is printed.
    """
    from kmaps.io import open_reader, read_labels

    _check_target(target, scores, as_json)
    check_paths(target, [model_file, source, labels], force)
    model = load_classifier(model_file)
    truth = read_labels(labels) if labels else None
    with (
        input_file(source, target, input_format) as (path, name),
        as_input_error(),
        once_each_warning(quiet),
    ):
        reader = open_reader(path, input_format, n_features=model.n_features_in_, name=name)
        _check_rows(model, model_file, reader, truth)
        start = perf_counter()
        with (
            _writer(target, scores, force) as write,
            progress_bar(f"predict {name}", quiet=quiet) as report,
        ):
            tally = _predict(model, reader, truth, scores, memory, write, report)
        tally["predict_s"] = perf_counter() - start
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


def _check_rows(model: Any, file: str, reader: Any, truth: "NDArray | None") -> None:
    check_columns(model, file, reader)
    if truth is not None and reader.n_rows not in (None, len(truth)):
        raise InputError(f"{len(truth)} labels, but {reader.name} has {reader.n_rows} rows")


def _predict(
    model: Any,
    reader: Any,
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

    done, right, own = 0, 0, False
    for X, y in read_blocks(reader, memory=int(memory * 1e6), progress=report):
        decision = model.decision_function(X)
        predicted = model.classes_[winners(decision)]
        write(decision.reshape(len(decision), -1) if scores else predicted)
        if truth is not None:
            y = truth[done : done + len(predicted)]
        # The labels of a svm file that are none of the model's stand for no label.
        own = own or (y is not None and bool(np.isin(y, model.classes_).any()))
        right += 0 if y is None else int(np.sum(predicted[: len(y)] == y))
        done += len(predicted)
    if truth is not None and len(truth) != done:
        raise InputError(f"{len(truth)} labels, but {reader.name} has {done} rows")
    compared = own or truth is not None
    return {
        "rows": done,
        "correct": right if compared else None,
        "accuracy": right / done if compared else None,
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
