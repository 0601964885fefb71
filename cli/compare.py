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
    "wanted",
    multiple=True,
    metavar="NAME",
    shell_complete=names(measures),
    help="Compare this measure of `kmaps table`. Repeat for several. [default: the kind's]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json"]),
    default="text",
    help="Print for a terminal, as Markdown, or as JSON in plain units.",
)
def command(runs: tuple[Path, ...], wanted: tuple[str, ...], form: str) -> None:
    """Show RUNS side by side: their shared rows, each run's difference to the first, what changed.

    A run is a records.jsonl or the folder it is in. Accuracies are compared on the same test
    samples, with a 95 % interval that fits the design of the splits; times, memory and errors
    as ratios to the first run. The last table shows the conditions that differ.
    """
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.kinds.row_names import read_named
    from kmaps.bench.paper import compared_runs as compared
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.records.measures import check_measures

    if len(runs) < 2:
        raise click.UsageError(f"got one run, {runs[0]}: expected two or more")
    check_measures(wanted)
    held = []
    names = [path.resolve().name for path in runs]
    if len(set(names)) < len(names):
        names = [str(path) for path in runs]
    for name, path in zip(names, runs, strict=True):
        records = read_named(path)
        held.append(compared.Run(name, records, read_correct(path, records)))
    chosen = wanted or shown_of(held[0].records).measures(held[0].records)
    rows = compared.compare_runs(held, chosen)
    forms = {"text": compared.as_text, "md": compared.as_markdown, "json": compared.as_json}
    say(forms[form](held, rows), nl=False)
