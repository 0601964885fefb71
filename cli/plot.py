"""``kmaps plot``: draw the accuracy of a run's rows over their cost."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.cli.completing import measures, names
from kmaps.cli.flags import FILE, RUN, say
from kmaps.errors import ConfigError, DataError, NothingMeasured, suggest

if TYPE_CHECKING:
    from kmaps.bench.records.columns import Record


def _measures() -> list[str]:
    return [name for name in measures() if name != "all"]


@click.command(
    epilog="""\b
Examples:
  kmaps plot results/quickstart
  kmaps plot results/quickstart --x predict --x storage -o front.pdf
  kmaps plot results/ldefm-table1 --x dim --y rms -o errors.svg
  kmaps plot results/scaling-mnist --figure scaling -o scaling.pdf"""
)
@click.argument("results", type=RUN)
@click.option(
    "--x",
    "costs",
    multiple=True,
    metavar="MEASURE",
    shell_complete=names(_measures),
    help="Draw over this cost, any measure of `kmaps table`. Repeat for several panels. "
    "[default: time, predict, memory and storage, or dim]",
)
@click.option(
    "--y",
    "quality",
    metavar="MEASURE",
    shell_complete=names(_measures),
    help="The quality to draw. [default: the first measure that `kmaps table` shows]",
)
@click.option("--figure", metavar="NAME", help="Draw this figure of the run's kind instead.")
@click.option(
    "-o",
    "--out",
    type=FILE,
    help="Write this .png, .svg or .pdf file. [default: RESULTS/front.png, or NAME.png]",
)
@click.option("--force", is_flag=True, help="Replace the file when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Show no warnings and no file name.")
def command(
    results: Path,
    costs: tuple[str, ...],
    quality: str | None,
    figure: str | None,
    out: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Draw the rows of the records in RESULTS, one measure over others.

    RESULTS is a records.jsonl or the folder it is in. A line joins the rows that no other row
    beats, the Pareto front; the others are pale. Bars are standard deviations over splits or draws.
    Under an axis of times a line says so if other work ran meanwhile, as `kmaps table` marks them.
    --figure NAME draws one of the figures of `kmaps run`, without the times that were taken while
    other work ran. In PDF and SVG files letters stay text. Where the arrays of a figure are not
    there, as in published runs, an installed browser makes its PNG of NAME.svg.
    """
    from kmaps.bench.figures import check_figure
    from kmaps.bench.kinds.row_names import read_named
    from kmaps.bench.records.file import records_path

    if figure and (costs or quality):
        raise ConfigError("--figure: the figure has fixed axes; leave --x and --y out")
    records = read_named(results)
    out = out or records_path(results).parent / f"{figure or 'front'}.png"
    check_figure(out, force=force)
    if figure:
        _draw_figure(records, figure, records_path(results).parent, out)
    else:
        warning = _draw_front(records, costs, quality, out)
        if warning and not quiet:
            say(f"warning: {warning}", err=True)
    if not quiet:
        say(out)


def _draw_figure(records: list["Record"], name: str, folder: Path, out: Path) -> None:
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.records.times import without_doubtful_times

    figures = shown_of(records).known_figures
    if name not in figures:
        raise ConfigError(
            f"--figure {name}: is unknown{suggest(name, figures)}; records of the kind "
            f"{records[0]['kind']} have {', '.join(figures) or 'none'}"
        )
    measured = [record for record in records if record["status"] == "ok"]
    if not measured:
        raise NothingMeasured(f"{folder}: has no measured cell to draw")
    svg = folder / f"{name}.svg"
    try:
        figures[name].write(name, without_doubtful_times(measured), folder, out)
    except DataError:  # published runs come without the arrays of their figures
        if out.suffix != ".png" or not svg.exists():
            raise
        from kmaps.bench.report.browser import png_of_svg
        from kmaps.io import atomic_file

        with atomic_file(out, force=True) as file:
            file.write(png_of_svg(svg))


def _draw_front(
    records: list["Record"], costs: tuple[str, ...], quality: str | None, out: Path
) -> str:
    """Draw one measure over others; return the warnings."""
    from kmaps.bench.figures.costs import draw_front
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.records.summary import times_warning
    from kmaps.bench.report.front import COSTS, points_of

    y = quality or shown_of(records).measures(records)[0]
    candidates = costs or (*COSTS, "dim")
    points = points_of(records, [y, *(name for name in candidates if name != y)])
    if not points:
        raise NothingMeasured(f"--y {y}: was not measured in any of these records")
    measured = [name for name in candidates if any(name in point.values for point in points)]
    unmeasured = [name for name in costs if name not in measured]
    if unmeasured or not measured:
        names = ", ".join(unmeasured or candidates)
        raise NothingMeasured(f"--x {names}: was not measured here")
    if not costs and len(measured) > 1 and "dim" in measured:
        measured.remove("dim")  # it is for records without other costs
    draw_front(points, out, y, measured)
    return times_warning(records, [y, *measured])
