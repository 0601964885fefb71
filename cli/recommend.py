"""``kmaps recommend``: measure a small grid of models and show the best ones."""

import json
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.bench.report.forms import aligned
from kmaps.cli import array_files
from kmaps.cli.array_files import labelled_rows, look_for
from kmaps.cli.completing import files
from kmaps.cli.flags import FILE, FOLDER, GroupedCommand, Number, say
from kmaps.cli.progress import cell_bar, say_compiling, stage_bars

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kmaps.bench.recommend import Candidate, Recommendation


@click.command(
    cls=GroupedCommand,
    groups={
        "Data": "labels label_column input_format zero_based header n_features keep_large "
        "normalize n_rows hold_out",
        "Models": "max_bytes max_us exact_only",
        "Output": "plot out force as_json quiet",
    },
    epilog="""\b
Examples:
  kmaps recommend train.csv --label-column digit
  kmaps recommend histograms.npy --labels labels.npy --max-us 20 --plot front.pdf
  kmaps recommend train.svm --exact-only --rows 10000 --out tried""",
)
@click.argument("source", metavar="DATA", shell_complete=files)
@array_files.labels
@array_files.label_column
@click.option(
    "--max-bytes",
    type=Number(0, min_open=True),
    metavar="N",
    help="Most bytes of storage: the training rows in the smallest form that training reads "
    "back, the tables and the model.",
)
@click.option(
    "--max-us",
    type=Number(0, min_open=True),
    metavar="N",
    help="Most microseconds that a model may take to predict a row.",
)
@click.option("--exact-only", is_flag=True, help="Try exact kernels alone, without maps.")
@click.option(
    "--rows",
    "n_rows",
    type=click.IntRange(10),
    default=3000,
    help="Number of rows to draw, class by class; a smaller DATA is used whole.",
)
@click.option(
    "--hold-out",
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.3,
    metavar="PART",
    help="Part of the sample, drawn class by class, on which accuracies are measured.",
)
@click.option(
    "--plot",
    type=FILE,
    metavar="FILE",
    help="Draw accuracy over the costs, to a .png, .svg or .pdf file.",
)
@click.option(
    "--out",
    type=FOLDER,
    metavar="FOLDER",
    help="Keep the sample, the experiment and its records here; the same command resumes. "
    "[default: a temporary folder]",
)
@array_files.input_format
@array_files.zero_based
@array_files.header
@array_files.n_features
@array_files.keep_large
@array_files.normalize
@click.option(
    "--threads",
    type=click.IntRange(1),
    help="Models measured at a time, each on one thread. [default: all processors]",
)
@click.option("--force", is_flag=True, help="Replace the file of --plot when it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no notes.")
def command(
    source: str,
    max_bytes: float | None,
    max_us: float | None,
    exact_only: bool,
    n_rows: int,
    hold_out: float,
    plot: Path | None,
    out: Path | None,
    threads: int | None,
    force: bool,
    as_json: bool,
    quiet: bool,
    **data_options: Any,
) -> None:
    """Measure a small grid of models on a sample of DATA and show the best ones.

    DATA is a file of rows with labels, as `kmaps train` takes it; - is standard input. The grid
    has exact kernels and some maps on codes (the intersection map of one bin is the linear model),
    exp-chi2, exact, by landmarks and by Fastfood frequencies, and rbf by landmarks; each
    one-vs-rest and, for 3 to 20 classes, one-vs-one. Next to them stand models of scikit-learn: the
    linear SVM and the SVM with the rbf kernel on standardised columns, and boosted trees; one
    sentence says whether the best of them is better than the best model of kmaps. C and widths are
    chosen by cross-validation (the rule `auto`) on the training part of the sample; accuracies are
    of the held-out rows.

    A model is shown when no other model is as accurate and cheaper in training time, test time,
    memory or storage. The named models follow, chosen by their accuracy on the held-out rows and in
    the cross-validation together. As the held-out rows decide this, the best of many models looks a
    little better than it is. Each model comes with the command or code that trains it on all rows.

    Limits apply to measurements on the sample. A model that cannot be trained is reported.
    """
    look_for(source, data_options["labels"])
    if plot is not None:
        from kmaps.bench.figures import check_figure

        check_figure(plot, force=force)
    from kmaps.bench.recommend import Limits, recommend

    with _folder(out) as folder:
        y = _sample(source, n_rows, folder, quiet, **data_options)
        say_compiling(quiet=quiet)
        with cell_bar(quiet=quiet) as reports:
            recommendation = recommend(
                folder,
                len(set(y.tolist())),
                hold_out=hold_out,
                limits=Limits(max_bytes or inf, max_us or inf),
                exact_only=exact_only,
                threads=threads,
                progress=reports["progress"],
                command=reports["command"],
            )
    if recommendation.failed and not quiet:
        say(f"warning: {_failures(recommendation)}", err=True)
    if plot is not None:
        from kmaps.bench.figures.costs import draw_front

        draw_front(recommendation.points, plot, "accuracy")
    report = _report(y, recommendation, source, data_options)
    say(json.dumps(report, indent=2) if as_json else _text(report))


def _sample(
    source: str,
    n_rows: int,
    folder: Path,
    quiet: bool,
    *,
    keep_large: bool,
    normalize: str,
    **reader_options: Any,
) -> "NDArray":
    """Write the sample of the file that the options describe; return the labels of the file."""
    from kmaps.bench.recommend import draw_sample
    from kmaps.io import LabelledRows
    from kmaps.models import NormalizedRows

    with (
        labelled_rows(source, "-", quiet=quiet, **reader_options) as (reader, y),
        stage_bars(quiet=quiet) as report,
        array_files.noting(quiet),
    ):
        rows = LabelledRows(reader, y, progress=report, keep_large=keep_large)
        if normalize == "none":
            return draw_sample(rows, n_rows, folder)
        return draw_sample(NormalizedRows(rows, normalize), n_rows, folder)


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Yield the folder of the records; the cached copy of the data is deleted at the end."""
    from kmaps.bench.run.processes import starting

    with (
        tempfile.TemporaryDirectory(prefix="kmaps-") as temporary,
        starting({"KMAPS_DATA_DIR": str(Path(temporary, "cache"))}),
    ):
        yield out or Path(temporary, "records")


def _failures(recommendation: "Recommendation") -> str:
    from kmaps.bench.records.columns import cell_name

    failures = [f"{cell_name(record)} ({record['error']})" for record in recommendation.failed]
    return f"{len(failures)} of {len(recommendation.records)} models failed: {'; '.join(failures)}"


def _train_words(data_options: dict[str, Any]) -> list[str]:
    """Return the options that describe DATA as words of a ``kmaps train`` command."""
    words = []
    for name, value in data_options.items():
        if value and value not in ("auto", "none"):
            words.append(f"--{name.replace('_', '-')}")
            if value is not True:
                words.append(str(value))
    return words


def _report(
    y: "NDArray", recommendation: "Recommendation", source: str, data_options: dict[str, Any]
) -> dict[str, Any]:
    """Return the recommendation in types that JSON has."""
    from kmaps.bench.records.columns import cell_name

    record = recommendation.choices[0].record  # the sample is the same in all of them
    words = _train_words(data_options)
    return {
        "rows": len(y),
        "features": record["n_features"],
        "classes": len(set(y.tolist())),
        "sample_rows": record["n_train"] + record["n_test"],
        "train_rows": record["n_train"],
        "held_out_rows": record["n_test"],
        "measured": len(recommendation.records) - len(recommendation.failed),
        "within_limits": len(recommendation.points),
        "failed": {cell_name(record): record["error"] for record in recommendation.failed},
        "named": recommendation.named,
        "comparison": recommendation.comparison,
        "normalize": data_options["normalize"],
        "recommended": [
            _model(choice, ["kmaps", "train", source, f"model-{i}.npz", *words])
            for i, choice in enumerate(recommendation.choices, 1)
        ],
    }


def _model(choice: "Candidate", train: list[str]) -> dict[str, Any]:
    from kmaps.bench.recommend import options_of, python_of, row_us
    from kmaps.bench.records.columns import WARNED, warned
    from kmaps.bench.records.measures import MEASURES

    record = choice.record
    options = options_of(record)
    return {
        "name": choice.point.name,
        "method": record["method"],
        "kernel": record["kernel"],
        "params": record["params"],
        "reduction": record["reduction"],
        "C": record["C"],
        "accuracy": record["accuracy"],
        "peak_bytes": record["peak_bytes"],
        "storage_bytes": record["storage_bytes"],
        "storage_form": record["storage_form"],
        "interval": list(choice.interval),
        "standing": choice.standing,
        "train_s": MEASURES["time"].value(record),
        "us_per_row": row_us(record),
        "model_bytes": record["table_bytes"] + record["model_bytes"],
        "warned": [WARNED[name] for name in warned(record)],
        "command": shlex.join([*train, *options]) if options else None,
        "python": python_of(record),
    }


def _text(report: dict[str, Any]) -> str:
    lines = [
        "{rows:,} rows of {features:,} features, {classes} classes; of {sample_rows:,} "
        "{train_rows:,} trained on, {held_out_rows:,} held out".format_map(report),
        f"{report['measured']} models measured, {report['within_limits']} within the limits; no "
        "other model beats these, except named ones:",
        "",
    ]
    head = ["", "accuracy, %", "95 % interval", "train, s", "us/row", "memory, MB", "stored, MB"]
    table = [head]
    table += [_cells(number, model) for number, model in enumerate(report["recommended"], 1)]
    lines += aligned(table, texts=0)
    lines.append("")
    for wish, number in report["named"].items():
        lines.append(f"{wish}: {number or 'none'}")
    if report["comparison"] is not None:
        lines += ["", report["comparison"]]
    for number, model in enumerate(report["recommended"], 1):
        name = "; ".join([model["name"], *model["warned"]])
        lines += ["", f"{number}  {name}"]
        if model["command"]:
            lines.append(f"    {model['command']}")
        lines += [f"    {line}" for line in model["python"].split("\n")]
    if report["sample_rows"] < report["rows"]:
        lines += ["", "C was chosen on the sample; -C auto chooses it again, on all rows."]
    if report["normalize"] != "none":
        lines += ["", f"In Python, X are rows normalised as by --normalize {report['normalize']}."]
    return "\n".join(lines)


def _cells(number: int, model: dict[str, Any]) -> list[str]:
    low, high = model["interval"]
    peak = model["peak_bytes"]
    return [
        str(number),
        f"{100 * model['accuracy']:.2f}",
        f"{100 * low:.2f} to {100 * high:.2f}",
        f"{model['train_s']:.3g}",
        f"{model['us_per_row']:.3g}",
        "–" if peak is None else f"{peak / 1e6:.3g}",
        f"{model['storage_bytes'] / 1e6:.3g}",
    ]
