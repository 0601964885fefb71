"""``kmaps report``: a page on a run, beside its records."""

from pathlib import Path

import click

from kmaps.errors import ConfigError


@click.command(epilog="\b\nExample:\n  kmaps report results/quickstart")
@click.argument("results", type=click.Path(file_okay=False, path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="[default: RESULTS/README.md]")
@click.option("--force", is_flag=True, help="Replace the page when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the name of the page.")
def command(results: Path, out: Path | None, force: bool, quiet: bool) -> None:
    """Write a Markdown page on the records in the folder RESULTS.

    The page says what was run, with which command, on what, at which commit, what the paper prints
    beside ours, and whether the claims of the experiment hold, fail or are undecided; it has the
    tables and the figures of the folder. The text of NOTES.md in the folder, if there is one,
    becomes its findings.
    """
    from kmaps.bench.kinds import kind_of
    from kmaps.bench.kinds.load import load
    from kmaps.bench.records.file import read_records
    from kmaps.bench.records.paper.numbers import compare, numbers_of
    from kmaps.bench.report.page import page
    from kmaps.io import atomic_file, check_target

    records = read_records(results)
    kind = kind_of(records)
    out = out or results / "README.md"
    check_target(out, force=force)
    try:
        experiment = load(records[0]["experiment"])
        about, claims = experiment.about, experiment.claims
    except ConfigError:  # an experiment of the user's own, known by its records alone
        about, claims = "", []
    name = records[0]["experiment"]
    notes = results / "NOTES.md"
    text = page(
        records,
        measures=kind.measures(records),
        about=about,
        claims=[claim.model_dump() for claim in claims],
        numbers=list(compare(numbers_of(name), {name: records})),
        sections=kind.sections(records),
        figures=sorted(path.name for path in results.glob("*.png")),
        notes=notes.read_text() if notes.exists() else "",
    )
    with atomic_file(out, force=force) as file:
        file.write(text.encode())
    if not quiet:
        click.echo(out)
