"""``kmaps table``: the records of a run as a table."""

from pathlib import Path

import click

from kmaps.cli.completing import measures, names


@click.command(
    epilog="\b\nExample:\n  kmaps table results/quickstart --measure accuracy --format latex"
)
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "csv", "latex"]),
    default="text",
    show_default=True,
    help="csv is long and tidy, in plain units; the others are for reading.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    shell_complete=names(measures),
    help="accuracy, per-class, ap, time, time-common, storage, memory, train-memory, gram, copies, "
    "linf, rms, random-rms, additive-rms, dim, fit, encode, convert, train, predict, cv, "
    "storage-train, storage-paper, storage-tables, storage-model, or all; repeat for several. "
    "[default: those of the kind of experiment]",
)
@click.option("--json", "as_json", is_flag=True, help="The lines of --format csv as JSON.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--force", is_flag=True, help="Replace the file when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="No warnings.")
def command(
    results: Path,
    form: str,
    measures: tuple[str, ...],
    as_json: bool,
    out: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Show the records in RESULTS: rows by method, columns by kernel, mean ± std over splits.

    RESULTS is a records.jsonl or the folder it is in. Each multi-class reduction has tables of its
    own. Rows go by the papers' names for them; parameters that are the same in all rows of a map
    stand below the tables. The best map of each column is marked; the references, linear and exact,
    never are.
    """
    from kmaps.bench.kinds import kind_of
    from kmaps.bench.records.file import read_records
    from kmaps.bench.records.measures import MEASURES
    from kmaps.bench.records.summary import mixed_conditions
    from kmaps.bench.report.tables import render
    from kmaps.io import atomic_file, check_target

    if out is not None:
        check_target(out, force=force)
    records = read_records(results)
    given = tuple(MEASURES) if "all" in measures else measures
    names = given or kind_of(records).measures(records)
    rendered = render(records, "json" if as_json else form, names)
    mixed = mixed_conditions(records) if any(MEASURES[n].unit == "s" for n in names) else []
    if mixed and not quiet:
        click.echo(f"warning: times do not compare: records differ in {', '.join(mixed)}", err=True)
    if out is None:
        click.echo(rendered, nl=False)
    else:
        with atomic_file(out, force=force) as file:
            file.write(rendered.encode())
