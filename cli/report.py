"""``kmaps report``: write a page on a run: its claims, tables, figures and conditions."""

from pathlib import Path

import click

from kmaps.cli.flags import PATH, RUN_FOLDER, say


@click.command(
    epilog="""\b
Examples:
  kmaps report results/quickstart
  kmaps report results/quickstart -o page.html
  kmaps report --all results"""
)
@click.argument("results", type=RUN_FOLDER)
@click.option(
    "-o",
    "--out",
    type=PATH,
    help="Write the page to this .md, .html, .json or .pdf file. [default: RESULTS/README.md]",
)
@click.option(
    "--all",
    "all_runs",
    is_flag=True,
    help="Write a page on all runs in the folders of RESULTS, and reported.json next to it.",
)
@click.option("--force", is_flag=True, help="Replace the page when it exists.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the name of the page.")
def command(results: Path, out: Path | None, all_runs: bool, force: bool, quiet: bool) -> None:
    """Write a page on the records in the folder RESULTS.

    The page compares the paper's numbers with ours, says whether the claims of the experiment hold,
    fail or are undecided, and shows the tables and figures of the folder. It leaves out the times
    that `kmaps table` marks, which were taken while other work ran. The text of NOTES.md in the
    folder becomes the findings of the page. The subject and the claims of a user's experiment are
    read from experiment.yaml next to the records.

    Markdown (.md) is short. HTML (.html) needs no other file and no network, and adds every
    comparison, measure and figure, and the conditions; PDF (.pdf) is that page, as an installed
    browser prints it; JSON (.json) has its parts for programs.

    With --all the page shows for each paper, by tables and claims, the numbers that the runs in the
    folders of RESULTS reproduce, how closely, and the missing ones. The same content is written as
    data to reported.json next to the page, which `kmaps check --reported --against` reads.
    """
    from kmaps.bench.pages import page_of, page_of_all
    from kmaps.bench.paper.reported import STORED
    from kmaps.bench.report.document import FORMS, check_form
    from kmaps.io import atomic_file, check_target

    out = out or results / "README.md"
    check_form(out)
    check_target(out, force=force)
    render = FORMS[out.suffix]
    if all_runs:
        page, stored = page_of_all(results)
        contents = {out: render(page), out.parent / STORED: stored.encode()}
    else:
        contents = {out: render(page_of(results))}
    for path, content in contents.items():
        with atomic_file(path, force=force) as file:
            file.write(content)
        if not quiet:
            say(path)
