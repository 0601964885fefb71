"""``kmaps table``: show the records of a run as a table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmaps.cli.completing import measures, names
from kmaps.cli.flags import PATH, RUN, say
from kmaps.errors import ConfigError

if TYPE_CHECKING:
    from kmaps.bench.records.columns import Record


@click.command(
    epilog="""\b
Examples:
  kmaps table results/quickstart --measure accuracy --format latex
  kmaps table results/quickstart --records --format parquet -o records.parquet"""
)
@click.argument("results", type=RUN)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "csv", "latex", "parquet"]),
    default="text",
    help="Format: csv is long and tidy, in plain units; text, md and latex are for reading; "
    "parquet goes with --records and needs --out and the extra `parquet`.",
)
@click.option(
    "--records",
    "every_record",
    is_flag=True,
    help="Write every record as a line with all its columns, failures included, in place of means "
    "over splits; with --format csv or parquet.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    shell_complete=names(measures),
    help="Show accuracy, per-class, ap, time, time-common, storage, memory, train-memory, gram, "
    "copies, linf, rms, l1, bound, period, random-rms, additive-rms, bias, deviation, important, "
    "dim, fit, encode, convert, train, predict, cv, "
    "storage-train, storage-paper, storage-tables, storage-model, or all; repeat for several. "
    "[default: the measures of the kind of experiment]",
)
@click.option(
    "--together",
    is_flag=True,
    help="Print one table with the measures side by side, not one per measure.",
)
@click.option(
    "--intervals",
    metavar="ROW",
    help="Print the difference of each row to this one, by its label, with a 95 % interval: of "
    "accuracies in points on the same test samples, of all other measures as a ratio.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the lines of csv as JSON.")
@click.option("-o", "--out", type=PATH, help="Write to this file. [default: -, standard output]")
@click.option("--force", is_flag=True, help="Replace the file when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Show no warnings.")
def command(
    results: Path,
    form: str,
    every_record: bool,
    measures: tuple[str, ...],
    together: bool,
    intervals: str | None,
    as_json: bool,
    out: Path | None,
    force: bool,
    quiet: bool,
) -> None:
    """Show the records in RESULTS: rows by method, columns by kernel, mean ± std over splits.

    RESULTS is a records.jsonl or its folder. There is one table per multi-class reduction. Rows
    have the names that the experiment gives them (`name:`), else those that the papers use;
    parameters that are the same in all rows of a map stand below the tables. The best row of each
    measure is marked, whoever's it is, and with it the rows whose difference from it is not decided
    by a 95 % interval.
    """
    from kmaps.bench.kinds.row_names import read_named
    from kmaps.bench.records.file import read_records
    from kmaps.io import atomic_file, check_target, refuse_terminal

    if together and (every_record or as_json or form in ("csv", "parquet")):
        raise ConfigError("--together: needs a --format for reading: text, md or latex")
    if intervals and (together or every_record or as_json or form not in ("text", "md")):
        raise ConfigError("--intervals: needs --format text or md, without --together or --json")
    to_stdout = out is None or str(out) == "-"
    if not to_stdout:
        check_target(out, force=force)
    elif form == "parquet":
        refuse_terminal(form)
    if every_record or form == "parquet":
        _check_records_form(every_record, form, measures, as_json)
        from kmaps.bench.report.export import as_csv, as_parquet

        render = as_parquet if form == "parquet" else as_csv
        rendered = render(read_records(results))
    else:
        records = read_named(results)
        form = "json" if as_json else form
        if intervals:
            text = _difference_tables(results, records, form, measures, intervals)
        else:
            text = _measure_tables(results, records, form, measures, quiet, together=together)
        rendered = text.encode()
    if to_stdout:
        say(rendered if form == "parquet" else rendered.decode(), nl=False)
    else:
        with atomic_file(out, force=force) as file:
            file.write(rendered)


def _check_records_form(
    every_record: bool, form: str, measures: tuple[str, ...], as_json: bool
) -> None:
    if not every_record:
        raise ConfigError("--format parquet is for --records; add it, or choose another format")
    if measures or as_json or form not in ("csv", "parquet"):
        raise ConfigError("--records: for --format csv or parquet, without --measure and --json")


def _difference_tables(
    results: Path, records: list["Record"], form: str, measures: tuple[str, ...], reference: str
) -> str:
    """Return the differences of all rows to one of them, as text or Markdown."""
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.paper.row_differences import difference_tables
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.records.measures import check_measures
    from kmaps.bench.report.document import as_markdown, as_text

    check_measures(measures)
    names = measures or shown_of(records).measures(records)
    correct = read_correct(results, records)
    tables = difference_tables(records, names, reference, correct)
    if form == "md":
        return "\n\n".join(as_markdown(table, 3) for table in tables) + "\n"
    return as_text(tables) + "\n"


def _measure_tables(
    results: Path,
    records: list["Record"],
    form: str,
    measures: tuple[str, ...],
    quiet: bool,
    *,
    together: bool,
) -> str:
    """Return the tables of some measures; warn of times that are not comparable."""
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.paper.ties import ties
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.records.measures import MEASURES
    from kmaps.bench.records.summary import times_warning
    from kmaps.bench.report.tables import render

    names = tuple(MEASURES) if "all" in measures else measures
    names = names or shown_of(records).measures(records)
    tied = ties(read_correct(results, records))
    rendered = render(records, form, names, together=together, tied=tied)
    warning = times_warning(records, names)
    if warning and not quiet:
        say(f"warning: {warning}", err=True)
    return rendered
