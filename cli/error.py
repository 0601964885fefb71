"""``kmaps error``: show how far maps are from the kernel, pair by pair."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmaps.bench.report.forms import aligned
from kmaps.cli import array_files
from kmaps.cli.array_files import compiling
from kmaps.cli.completing import names
from kmaps.cli.flags import FILE, say
from kmaps.cli.map_options import MapsCommand, build_maps
from kmaps.errors import InputError

if TYPE_CHECKING:
    from kmaps.bench.work.errors import SquareErrors


def _kernels() -> list[str]:
    from kmaps.kernels import KERNELS, LOG_KERNELS, STATIONARY

    return [*KERNELS, *LOG_KERNELS, *STATIONARY]


@click.command(
    cls=MapsCommand,
    epilog="""\b
Examples:
  kmaps error --kernel chi2 --map homogeneous --order 3 --range 0:255 --integers
  kmaps error --kernel js --map homogeneous:order=1 --map homogeneous:order=3 --plot js.png
  kmaps error --map lowdim:optimal=true --map lowdim:optimal=false --map homogeneous:order=3
  kmaps error --kernel rbf --sigma 0.2 --map lowdim --dim 9""",
)
@click.option(
    "--kernel",
    default="chi2",
    shell_complete=names(_kernels),
    help="Name of a homogeneous kernel, or of a stationary one such as rbf.",
)
@click.option("--range", "text", default="0:1", metavar="LOW:HIGH", help="Range of x and y.")
@click.option("--integers", is_flag=True, help="Compare at integers only.")
@click.option("--relative", is_flag=True, help="Divide errors by the kernel.")
@click.option("--fit-range", metavar="LOW:HIGH", help="Range to fit maps on. [default: --range]")
@click.option(
    "--plot",
    type=FILE,
    metavar="OUT.png",
    help="Draw the error surfaces to OUT.png, and k(x, y₀) to OUT-sections.png.",
)
@array_files.threads
@click.option("--force", is_flag=True, help="Replace the plots when they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    map_name: tuple[str, ...],
    kernel: str,
    text: str,
    integers: bool,
    relative: bool,
    fit_range: str | None,
    plot: Path | None,
    force: bool,
    as_json: bool,
    **parameters: Any,
) -> None:
    """Compare maps with the kernel on all pairs of values of a range.

    The table shows for each map its outputs per value, the largest and the root mean square error
    over all pairs, and the pair with the largest error.
    """
    from kmaps.bench.work.errors import Range, approximate

    targets = _plot_files(plot, force)
    values = Range.parse(text, integers).values()
    fit_values = Range.parse(fit_range, integers).values() if fit_range else None
    maps = build_maps(map_name, {"kernel": kernel, **parameters})
    sigma = parameters.get("sigma")
    options = {"sigma": 1.0 if sigma is None else sigma, "relative": relative}
    with compiling(quiet=False):
        results = {
            label: approximate(made, kernel, values, fit_values=fit_values, **options)
            for label, made in maps.items()
        }
    rows = [
        {"map": label, "dim": result.dim, "linf": result.linf, "rms": result.rms}
        | dict(zip(("worst_x", "worst_y"), result.worst, strict=True))
        for label, result in results.items()
    ]
    say(json.dumps(rows, indent=2) if as_json else _table(rows))
    if plot:
        _draw(targets, maps, results, {"kernel": kernel, "range": text, "relative": relative})


def _plot_files(plot: Path | None, force: bool) -> dict[str, Path]:
    """Return the figures to draw and their files; refuse to replace one unasked."""
    from kmaps.io import check_target

    if plot is None:
        return {}
    if plot.suffix != ".png":
        raise InputError(f"{plot}: plots are PNG files; give a name that ends in .png")
    files = {"errors": plot, "sections": plot.with_name(f"{plot.stem}-sections.png")}
    for file in files.values():
        check_target(file, force=force)
    return files


def _draw(
    targets: dict[str, Path],
    maps: dict[str, Any],
    results: dict[str, "SquareErrors"],
    shown: dict[str, Any],
) -> None:
    from kmaps.bench.figures.approximation import draw_sections
    from kmaps.bench.figures.heat import draw_errors
    from kmaps.bench.records.row import Row

    records, arrays = [], {}
    for label, result in results.items():
        parameters = maps[label].get_params(deep=False)
        parameters.pop("kernel", None)  # all maps share it
        columns = Row(label.partition(" ")[0], parameters).columns  # a label begins with the name
        cell = {"key": label, "kernel": shown["kernel"], "dim": result.dim, "setting": ""}
        records.append({**cell, **columns, "options": shown})
        arrays[label] = result.arrays
    draw = {"errors": draw_errors, "sections": draw_sections}
    for name, target in targets.items():
        draw[name](records, arrays, target)


def _table(rows: list[dict[str, Any]]) -> str:
    head = ["map", "outputs", "L∞", "RMS", "worst x", "worst y"]
    numbers = [[f"{value:.4g}" for value in list(row.values())[1:]] for row in rows]
    grid = [head, *([row["map"], *texts] for row, texts in zip(rows, numbers, strict=True))]
    return "\n".join(aligned(grid))
