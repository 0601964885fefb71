"""``kmaps check``: the gate between the records of a run and a baseline."""

from pathlib import Path

import click


@click.command(
    epilog="\b\nExample:\n  kmaps check results/quickstart --against baselines/quickstart"
)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--against",
    "baseline",
    type=click.Path(path_type=Path),
    required=True,
    help="The baseline: a records.jsonl or the folder it is in.",
)
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    default=0.005,
    show_default=True,
    help="Smallest tolerance on a mean accuracy or average precision, as a fraction.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the verdicts as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the cells that changed.")
def command(results: Path, baseline: Path, floor: float, json_wanted: bool, quiet: bool) -> None:
    """Compare RESULTS with a baseline, cell by cell, the worst first.

    Mean accuracy and average precision are compared within a tolerance: two standard errors of a
    difference of means, from the baseline's spread over its splits, and at least the floor. Errors
    of kernels are compared to a thousandth, projections kept to a twentieth, storage to the byte,
    times not at all.

    \b
    Exit code 0  every cell of the baseline is there and none is worse
              1  a cell is worse or missing
              5  a cell could not be compared: it failed, or the baseline was
                 made on other data, splits, sizes, settings, grid of C or map version
    """
    from kmaps.bench.kinds import kind_of
    from kmaps.bench.records import gate
    from kmaps.bench.records.file import read_records
    from kmaps.errors import NothingMeasured

    records, reference = read_records(results), read_records(baseline)
    kind = kind_of(records)
    if kind is not kind_of(reference):
        raise NothingMeasured(
            f"the results are of the kind {records[0]['kind']}, the baseline of the kind "
            f"{reference[0]['kind']}; check that it belongs to this experiment"
        )
    verdicts = gate.compare(records, reference, kind.judged, floor=floor)
    if json_wanted:
        click.echo(gate.as_json(verdicts))
    else:
        click.echo(gate.report(verdicts, unchanged=not quiet))
    error = gate.outcome(verdicts)
    if error:
        raise error
