"""``kmaps compare``: show runs side by side, with differences and what changed."""

from pathlib import Path

import click

from kmaps.cli.completing import measures, names
from kmaps.cli.flags import RUN, say


@click.command(
    epilog="\b\nExamples:\n  kmaps compare results/quickstart runs/quickstart"
    "\n  kmaps compare runs/before runs/after --measure accuracy --measure time --format md"
)
@click.argument("runs", nargs=-1, required=True, type=RUN)
@click.option(
    "--measure",
    "measure_names",
    multiple=True,
    metavar="NAME",
    shell_complete=names(measures),
    help="Compare this measure of `kmaps table`. Repeat for several. [default: the measures of the "
    "kind of experiment]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    help="Print for a terminal, as Markdown, or as JSON in plain units.",
)
def command(runs: tuple[Path, ...], measure_names: tuple[str, ...], form: str) -> None:
    """Show RUNS side by side: their shared rows, each run's difference to the first, what changed.

    A run is a records.jsonl or the folder it is in. Accuracies are compared on the same test
    samples, with a 95 % interval that fits the design of the splits; times, memory and errors
    as ratios to the first run. The last table shows the conditions that differ.
    """
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.kinds.row_names import read_named
    from kmaps.bench.paper import compared_runs
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.records.measures import check_measures

    if len(runs) < 2:
        raise click.UsageError(f"got one run, {runs[0]}: expected two or more")
    check_measures(measure_names)
    run_names = [path.resolve().name for path in runs]
    if len(set(run_names)) < len(run_names):
        run_names = [str(path) for path in runs]
    named_runs = []
    for name, path in zip(run_names, runs, strict=True):
        records = read_named(path)
        correct = read_correct(path, records)
        named_runs.append(compared_runs.Run(name, records, correct))
    if not measure_names:
        first_records = named_runs[0].records
        measure_names = shown_of(first_records).measures(first_records)
    rows = compared_runs.compare_runs(named_runs, measure_names)
    forms = {
        "text": compared_runs.as_text,
        "md": compared_runs.as_markdown,
        "json": compared_runs.as_json,
    }
    say(forms[form](named_runs, rows), nl=False)
