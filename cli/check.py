"""``kmaps check``: compare the records of a run with a baseline."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from kmaps.cli.flags import FILE, RUN, Number, say

_Forms = dict[str, Callable[[], str]]
_Comparison = tuple[_Forms, Exception | None]  # its forms of output, and the error at the end


@click.command(
    epilog="\b\nExamples:\n  kmaps check results/quickstart --against baselines/quickstart"
    "\n  kmaps check runs/mine --against baselines/mine --format md --junit kmaps.xml"
    "\n  kmaps check results --reported --against baselines --format md"
)
@click.argument("results", type=RUN)
@click.option(
    "--against",
    "baseline",
    type=RUN,
    help="The baseline: a records.jsonl or the folder it is in; with --reported also a folder of "
    "runs. Required without --reported.",
)
@click.option(
    "--reported",
    is_flag=True,
    help="Show every number and claim of the papers next to ours, of a run or a folder of runs.",
)
@click.option(
    "--floor",
    type=Number(0, 1),
    default=0.005,
    help="Least tolerance on a mean accuracy or average precision, as a fraction; with --reported "
    "the tolerance on each split.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md"]),
    default="text",
    help="Print for a terminal, or Markdown for a pull request.",
)
@click.option("--json", "json_wanted", is_flag=True, help="Print the verdicts as JSON.")
@click.option(
    "--junit", type=FILE, help="Also write the verdicts to this file as JUnit XML, for CI systems."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Fail where a number of kmaps' own rows differs at all. Not for --reported.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only what changed, and a summary.")
def command(
    results: Path,
    baseline: Path | None,
    reported: bool,
    floor: float,
    form: str,
    json_wanted: bool,
    junit: Path | None,
    strict: bool,
    quiet: bool,
) -> None:
    """Compare RESULTS with a baseline, cell by cell, the worst first.

    Mean accuracy and average precision are compared within a tolerance: two standard errors of a
    difference of means, from the baseline's spread over its splits, and at least --floor. Errors of
    kernels are compared to a thousandth, the number of frequencies kept to a twentieth, storage to
    the byte; times are not compared. A cell is improved only if nothing in it is less good; if a
    number differs within its tolerance it is changed, which passes without --strict. Accuracy is
    shown before and after, with the interval of the difference where both have their correct.npz
    (which test samples each cell got right). If the baseline has one, the results must have it too.
    Rows with a C at the edge of the values that were tried are flagged, which is no failure.

    With --reported the command shows the numbers and claims of the papers next to ours: printed,
    ours, the difference, the verdict. With --against too it fails if a number that the baseline
    reproduces is worse, a claim that holds there does not hold, a number or claim is missing, a
    statement of the paper was changed, or a cell of the baseline is worse. Runs with a C at the
    edge of the values that were tried are flagged as well.

    \b
    Exit code 0  every cell of the baseline is there and none is worse
              1  a cell is worse or missing, or changed with --strict; a number or a
                 claim is missing, is not reproduced or does not hold any more
              5  a cell could not be compared: it failed, or the baseline was
                 made on other data, splits, sizes, settings, grid of C or map version;
                 or the kind of the records cannot be used
    """
    if reported and strict:
        raise click.UsageError("--strict compares the cells of a run; leave out --reported.")
    if reported:
        forms, error = _compare_reported(results, baseline, floor, quiet)
    else:
        forms, error = _compare_cells(results, baseline, floor, quiet, strict)
    if junit:
        from kmaps.io import atomic_file

        with atomic_file(junit, force=True) as file:
            file.write(forms["junit"]().encode())
    say(forms["json" if json_wanted else form]())
    if error:
        raise error


def _compare_cells(
    results: Path, baseline: Path | None, floor: float, quiet: bool, strict: bool
) -> _Comparison:
    from kmaps.bench.kinds import SHOWN, shown_of
    from kmaps.bench.paper.claims import paired_interval
    from kmaps.bench.records import gate
    from kmaps.bench.records.arrays import read_correct
    from kmaps.bench.records.file import read_records
    from kmaps.bench.report import gate_forms
    from kmaps.errors import ConfigError, NothingMeasured

    if baseline is None:
        raise click.UsageError("Missing option '--against' (or --reported).")
    records = read_records(results)
    baseline_records = read_records(baseline)
    kind = records[0]["kind"]
    baseline_kind = baseline_records[0]["kind"]
    try:
        shown = shown_of(records)
        baseline_shown = shown_of(baseline_records)
    except ConfigError as error:
        if kind not in SHOWN or baseline_kind not in SHOWN:  # of another version
            raise
        raise NothingMeasured(f"the gate cannot judge: {error}") from error
    if shown is not baseline_shown:
        raise NothingMeasured(
            f"the results have the kind {kind}, the baseline has the kind {baseline_kind}; check "
            "that it belongs to this experiment"
        )
    correct = read_correct(results, records)
    baseline_correct = read_correct(baseline, baseline_records)
    verdicts = gate.compare(
        records,
        baseline_records,
        shown.judged,
        floor=floor,
        correct=correct,
        baseline_correct=baseline_correct,
        interval=paired_interval(correct, baseline_correct),
    )
    run = records[0]["experiment"]
    forms: _Forms = {
        "junit": partial(gate_forms.as_junit, verdicts, run, strict=strict),
        "json": partial(gate_forms.as_json, verdicts, strict=strict),
        "md": partial(gate_forms.as_markdown, verdicts, run, strict=strict),
        "text": partial(gate_forms.as_text, verdicts, unchanged=not quiet),
    }
    return forms, gate.outcome(verdicts, strict=strict)


def _compare_reported(
    results: Path, baseline: Path | None, floor: float, quiet: bool
) -> _Comparison:
    from kmaps.bench.paper import reported, reported_forms
    from kmaps.bench.paper.entries import claim_entries
    from kmaps.bench.report.choice import edges_of_runs

    runs = reported.read_runs(results)
    correct = reported.read_correct_of_runs(results, runs)
    items = reported.in_order_of_runs(reported.reported(runs, claim_entries(runs), correct), runs)
    failures = reported.missing(items)
    if baseline is not None:
        from kmaps.bench.kinds import SHOWN
        from kmaps.errors import ConfigError, NothingMeasured

        all_baseline_runs = reported.read_runs(baseline)
        baseline_correct = reported.read_correct_of_runs(baseline, all_baseline_runs)
        baseline_runs = reported.expected(runs, all_baseline_runs)
        baseline_items = reported.read_stored(baseline)
        if baseline_items is None:
            baseline_items = reported.reported(
                baseline_runs, claim_entries(baseline_runs), baseline_correct
            )
        failures = reported.failures(items, baseline_items, baseline_runs)
        kinds = dict.fromkeys(records[0]["kind"] for records in baseline_runs.values())
        try:
            judged = {kind: SHOWN[kind].judged for kind in kinds}
        except ConfigError as error:
            raise NothingMeasured(f"the gate cannot judge: {error}") from error
        failures += reported.cell_failures(
            runs, baseline_runs, judged, floor, correct=correct, baseline_correct=baseline_correct
        )
    edges = edges_of_runs(runs)
    forms: _Forms = {
        "junit": partial(reported_forms.as_junit, items, failures),
        "json": partial(reported.as_json, items, failures, edges),
        "md": partial(reported_forms.as_markdown, items, failures, edges),
        "text": partial(reported_forms.as_text, items, failures, edges, every=not quiet),
    }
    return forms, reported.outcome(failures)
