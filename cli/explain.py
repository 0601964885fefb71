"""``kmaps explain``: write a page on the functions that a trained model has learnt."""

import re
from pathlib import Path
from typing import Any

import click

from kmaps.cli import array_files
from kmaps.cli.array_files import check_paths, compiling, input_file, look_for, once_each_warning
from kmaps.cli.completing import files
from kmaps.cli.flags import COUNT, say
from kmaps.cli.model_files import load_trained, open_rows_for
from kmaps.errors import ConfigError, InputError


@click.command(
    epilog="""\b
Examples:
  kmaps explain model.npz
  kmaps explain model.npz --data test.npy --row 0 --row 17 --out page.html
  kmaps explain digits.npz --data pixels.npy --shape 28x28"""
)
@click.argument("model_file", metavar="MODEL", shell_complete=files)
@click.option(
    "--data",
    metavar="FILE",
    shell_complete=files,
    help="File of samples, whose densities are drawn and whose rows are explained.",
)
@click.option("--label-column", metavar="NAME", help="Column of labels to leave out.")
@array_files.input_format
@array_files.zero_based
@array_files.header
@click.option(
    "--row",
    "rows",
    type=click.IntRange(0),
    multiple=True,
    help="Show the terms of this row of --data, counted from 0. Repeat for several. [default: 0]",
)
@click.option(
    "--features", "n_features", type=COUNT, default=24, help="Number of features to show."
)
@click.option(
    "--shape", metavar="HxW", help="Height and width of the images whose pixels the features are."
)
@click.option(
    "-o", "--out", help="File of the page; - is standard output. [default: MODEL as .html]"
)
@array_files.threads
@click.option("--force", is_flag=True, help="Replace the page when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the name of the page.")
def command(
    model_file: str,
    data: str | None,
    input_format: str | None,
    rows: tuple[int, ...],
    n_features: int,
    shape: str | None,
    out: str | None,
    force: bool,
    quiet: bool,
    **data_options: Any,
) -> None:
    """Write an HTML page on MODEL, one of `kmaps train` on codes.

    The page shows how important each feature is; the functions that the most important features
    add to the score, each above the density of the data; and the terms that the scores of single
    rows consist of. It needs no network and no other file. The data, a file of rows as
    `kmaps train` takes it, is read whole. One of MODEL and --data may be - for standard input.
    """
    look_for(model_file, data)
    from kmaps.io import atomic_file, read_whole

    out = out or ("model.html" if model_file == "-" else str(Path(model_file).with_suffix(".html")))
    check_paths(out, [model_file, data], force)
    if rows and data is None:
        raise ConfigError("--row: counts the rows of --data; give --data too")
    from kmaps.models import explanation
    from kmaps.svm import CodedEstimator

    trained = load_trained(model_file)
    model = trained.model
    if not isinstance(model, CodedEstimator):
        raise InputError(
            f"{model_file}: holds {type(model).__name__}, which is no sum of functions of single "
            "features; train a model on an additive kernel or map"
        )
    samples = None
    with once_each_warning(quiet), compiling(quiet):
        if data is not None:
            with input_file(data, out, input_format) as (path, name):
                reader = open_rows_for(
                    trained, path, input_format, name, quiet=quiet, **data_options
                )
                samples = read_whole(reader)[0]
        page = explanation(
            model,
            samples,
            rows=rows or (0,),
            n_features=n_features,
            shape=None if shape is None else _shape(shape),
            names=trained.columns,
        )
    if out == "-":
        say(page, nl=False)
        return
    with atomic_file(out, force=force) as file:
        file.write(page.encode())
    if not quiet:
        say(out)


def _shape(text: str) -> tuple[int, int]:
    sides = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", text)
    if sides is None:
        raise ConfigError(f"--shape {text}: expected height and width, such as 28x28")
    return int(sides[1]), int(sides[2])
