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
@click.option("--range", "value_range", default="0:1", metavar="LOW:HIGH", help="Range of x and y.")
@click.option("--integers", is_flag=True, help="Compare at the integers of the range only.")
@click.option("--relative", is_flag=True, help="Divide errors by the value of the kernel.")
@click.option(
    "--fit-range",
    metavar="LOW:HIGH",
    help="Range whose values maps that learn are fitted on. [default: --range]",
)
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
    value_range: str,
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
    values = Range.parse(value_range, integers).values()
    fit_values = Range.parse(fit_range, integers).values() if fit_range else None
    maps = build_maps(map_name, {"kernel": kernel, **parameters})
    sigma = parameters.get("sigma")
    results = {}
    with compiling(quiet=False):
        for label, feature_map in maps.items():
            results[label] = approximate(
                feature_map,
                kernel,
                values,
                fit_values=fit_values,
                sigma=1.0 if sigma is None else sigma,
                relative=relative,
            )
    rows = []
    for label, result in results.items():
        worst_x, worst_y = result.worst
        row = {
            "map": label,
            "dim": result.dim,
            "linf": result.linf,
            "rms": result.rms,
            "worst_x": worst_x,
            "worst_y": worst_y,
        }
        rows.append(row)
    say(json.dumps(rows, indent=2) if as_json else _table(rows))
    if plot:
        options = {"kernel": kernel, "range": value_range, "relative": relative}
        _draw(targets, maps, results, options)


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
    options: dict[str, Any],
) -> None:
    from kmaps.bench.figures.approximation import draw_sections
    from kmaps.bench.figures.heat import draw_errors
    from kmaps.bench.records.row import Row

    records = []
    arrays = {}
    for label, result in results.items():
        parameters = maps[label].get_params(deep=False)
        parameters.pop("kernel", None)  # all maps share it
        columns = Row(label.partition(" ")[0], parameters).columns  # a label begins with the name
        cell = {"key": label, "kernel": options["kernel"], "dim": result.dim, "setting": ""}
        records.append({**cell, **columns, "options": options})
        arrays[label] = result.arrays
    draw = {"errors": draw_errors, "sections": draw_sections}
    for name, target in targets.items():
        draw[name](records, arrays, target)


def _table(rows: list[dict[str, Any]]) -> str:
    grid = [["map", "outputs", "L∞", "RMS", "worst x", "worst y"]]
    for row in rows:
        label, *numbers = row.values()
        grid.append([label, *(f"{number:.4g}" for number in numbers)])
    return "\n".join(aligned(grid))
