"""The gate on every published run: the same as itself, and no change goes unnoticed."""

import json

import pytest
from click.testing import CliRunner
from commands import kmaps_in

from kmaps.bench.kinds import shown_of
from kmaps.bench.kinds.load import described, load
from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.records import gate
from kmaps.bench.records.file import read_records
from kmaps.bench.records.lines import compared, lines_of
from kmaps.bench.run.measure import check_estimators
from kmaps.bench.run.plan import plan
from kmaps.cli.main import cli
from kmaps.errors import ConfigError
from tests.bench.records import published
from tests.loops import failures

RESULTS = published.ROOT / "results"
RUNS = sorted(published.kinds())


def verdicts(ours, baseline):
    return gate.compare(ours, baseline, shown_of(baseline).judged)


def code(ours, baseline):
    error = gate.outcome(verdicts(ours, baseline))
    return error.exit_code if error else 0


def check_same(name):
    records = published.records()[name]
    found = verdicts(records, records)
    assert {cell.verdict for cell in found} == {"same"}
    assert code(records, records) == 0
    assert sum(len(cell.differences) for cell in found) >= len(found)


def test_a_run_is_the_same_as_itself():
    assert failures(check_same, RUNS) == []


def check_claims(name):
    """One whose selections pick no two rows would go unnoticed among the others of its claim."""
    lines = lines_of(published.records()[name])
    for entry in claim_entries([name]).get(name, ()):
        assert list(compared(entry, lines)), entry


def test_every_entry_of_a_claim_compares_rows():
    assert failures(check_claims, RUNS) == []


def check_tolerances(name):
    records = published.records()[name]
    for judged in shown_of(records).judged:
        concerned = [i for i, record in enumerate(records) if judged.concerns(record)]
        for i in {*concerned[:1], *concerned[-1:]}:
            column, tolerance = judged.column, judged.tolerance
            moved = records[i][column] * (1 + 1.2 * (tolerance.relative or 0)) + 1e-9
            moved += not tolerance.relative
            ours, theirs = [{**records[i], column: moved}], [records[i]]
            if tolerance.of_mean:  # over all splits
                theirs = [records[k] for k in concerned]
                ours = [r | {column: max(0, r[column] - 0.2)} for r in theirs]
            assert code(ours, theirs) == 1, column


def test_a_judged_number_beyond_its_tolerance_fails_the_gate():
    assert failures(check_tolerances, RUNS) == []


def check_cells(name):
    """The experiment file is still the one that was run, so the same command has nothing to do."""
    planned = plan(load(name))
    records = published.records()[name]
    assert {record["key"] for record in records} == planned.keys()
    assert {record["status"] for record in records} == {"ok"}
    for record in records:
        columns = json.loads(json.dumps(planned[record["key"]].columns))
        assert {column: record[column] for column in columns} == columns
        if record["seed"] is not None:  # the first records of the other kinds have none
            assert record["seed"] == planned[record["key"]].seed


def test_every_record_is_of_a_planned_cell():
    assert failures(check_cells, RUNS) == []


EIGHT_EACH = [RUNS[first : first + 8] for first in range(0, len(RUNS), 8)]


def test_figures_are_small_svg_files():
    assert [*RESULTS.rglob("*.png")] == [RESULTS / "caltech101-words/features.png"]
    sizes = {str(path): path.stat().st_size for path in RESULTS.rglob("*.svg")}
    assert len(sizes) >= 70
    assert {path: size for path, size in sizes.items() if size > 300_000} == {}


@pytest.mark.slow  # tests/test_generated.py compares the same numbers
def test_what_the_papers_report_is_as_it_was():
    given = ["check", str(RESULTS), "--reported", "--against", str(RESULTS), "--quiet"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("245 numbers: ")


# The small presets, run again, against the baselines that are committed.
BASELINES = RESULTS / "small"
PRESETS = [name for name in packaged() if "small" in described(name).presets]


def test_every_preset_has_a_baseline_that_is_complete():
    assert sorted(path.name for path in BASELINES.iterdir()) == sorted(PRESETS)
    for name in PRESETS:
        records = read_records(BASELINES / name)
        assert {record["key"] for record in records} == plan(load(name, "small")).keys()
        assert {record["status"] for record in records} == {"ok"}


def test_every_kind_with_a_published_run_has_a_preset_or_the_quickstart():
    kinds = {described(name).kind for name in RUNS}
    assert kinds <= {described(name).kind for name in [*PRESETS, "quickstart"]}


@pytest.mark.slow  # next to tests/cli/test_reproduce.py, which runs the quickest of them
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_what_its_baseline_has(name, request, monkeypatch, tmp_path):
    experiment = load(name, "small")
    try:
        check_estimators(plan(experiment).values(), experiment)
    except ConfigError as error:
        if "install" not in str(error):  # third-party software is missing
            raise
        pytest.skip(str(error))
    if getattr(described(name), "dataset", None):
        monkeypatch.setenv("KMAPS_DATA_DIR", str(request.getfixturevalue("data_dir")))
    kmaps = kmaps_in(tmp_path)
    kmaps("run", name, "--preset", "small", "--quiet")
    kmaps("check", f"runs/{name}-small", "--against", BASELINES / name)
