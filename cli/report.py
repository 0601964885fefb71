"""``kmaps report``: write a page on a run: how, tables, claims, figures."""

from pathlib import Path
from typing import Any

import click

from kmaps.cli.flags import say


@click.command(
    epilog="\b\nExamples:\n  kmaps report results/quickstart\n  kmaps report --all results"
)
@click.argument("results", type=click.Path(file_okay=False, path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="[default: RESULTS/README.md]")
@click.option(
    "--all",
    "of_all",
    is_flag=True,
    help="A page on all runs in the folders of RESULTS, and reported.json next to it.",
)
@click.option("--force", is_flag=True, help="Replace the page when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the name of the page.")
def command(results: Path, out: Path | None, of_all: bool, force: bool, quiet: bool) -> None:
    """Write a Markdown page on the records in the folder RESULTS.

    The page says what was run, with which command, on which machine, at which commit; it compares
    the paper's numbers with ours, says whether the claims of the experiment hold, fail or are
    undecided, and has the tables and the figures of the folder. It leaves out the times that
    `kmaps table` marks: those that were taken while other work ran. The text of NOTES.md in the
    folder becomes its findings. What a user's experiment is about, and its claims, are read from
    experiment.yaml next to the records.

    With --all the page says of each paper, table by table and claim by claim, what the runs in the
    folders of RESULTS reproduce, how well, and what is missing. It is also written as data, to
    reported.json next to the page, which `kmaps check --reported --against` reads.
    """
    from kmaps.io import atomic_file, check_target

    out = out or results / "README.md"
    check_target(out, force=force)
    pages = _of_all(results, out) if of_all else {out: _of_run(results)}
    for path, text in pages.items():
        with atomic_file(path, force=force) as file:
            file.write(text.encode())
        if not quiet:
            say(path)


def _of_run(results: Path) -> str:
    from kmaps.bench.kinds import shown_of
    from kmaps.bench.paper.numbers import numbers_of
    from kmaps.bench.paper.page import page
    from kmaps.bench.paper.reproduced import compare
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.records.file import read_records
    from kmaps.bench.records.times import without_doubtful_times
    from kmaps.io import read_text

    records = read_records(results)
    sure = without_doubtful_times(records)
    correct = read_correct(results, records)
    shown = shown_of(records)
    name = records[0]["experiment"]
    about, claims = _said(results, name)
    notes = results / "NOTES.md"
    return page(
        records,
        measures=shown.measures(records),
        about=about,
        claims=claims,
        correct=correct,
        numbers=list(compare(numbers_of(name), {name: sure})),
        sections=shown.sections(sure),
        figures=sorted(path.name for path in results.glob("*.png")),
        notes=read_text(notes) if notes.exists() else "",
    )


def _said(results: Path, name: str) -> tuple[str, list[dict[str, Any]]]:
    from kmaps.bench.paper.entries import about, claim_entries
    from kmaps.bench.records.file import definition_file

    definition = definition_file(results)
    if definition is None:
        return about(name), claim_entries([name])[name]
    from kmaps.bench.kinds.load import described_in  # what users wrote is checked

    experiment = described_in(definition)
    return experiment.about, [claim.model_dump() for claim in experiment.claims]


def _of_all(results: Path, out: Path) -> dict[Path, str]:
    from kmaps.bench.paper import reported
    from kmaps.bench.paper.entries import claim_entries, packaged
    from kmaps.bench.paper.glance import glance

    runs = reported.read_runs(results)
    correct = reported.read_correct_of_runs(results, runs)
    items = reported.reported(runs, claim_entries(runs), correct)
    return {
        out: glance(items, runs, packaged()),
        out.parent / reported.STORED: reported.stored(items),
    }
