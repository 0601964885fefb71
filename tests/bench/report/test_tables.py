"""Tables: what a reader sees. The expected texts are written out by hand."""

import io
import json

import pandas as pd
import pytest

from kmaps.bench.records.times import without_doubtful_times
from kmaps.bench.report.tables import render
from tests.bench.sample_records import again, record

LINEAR = [record("linear", i, accuracy=a) for i, a in enumerate([0.91, 0.93])]
EXACT = [record("exact", i, accuracy=a) for i, a in enumerate([0.97, 0.97])]
FIRST = [record(split=i, params={"order": 1}, accuracy=a) for i, a in enumerate([0.94, 0.96])]
SECOND = [record(split=i, params={"order": 2}, accuracy=a) for i, a in enumerate([0.95, 0.96])]
JS = [cell | {"kernel": "js"} for cell in FIRST]
CELLS = [*LINEAR, *EXACT, *FIRST, *SECOND, *JS]


def show(cells, form="text", *measures):
    return render(cells, form, measures or ["accuracy"])


def lines_of(text):
    """Return the cells of a text table by label, split at two or more spaces."""
    rows = [line.split("  ") for line in text.splitlines()]
    return {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}


"""The table of CELLS; a star before the best row."""


def test_measures_side_by_side():
    timed = [cell | {"train_s": i + 1.0} for i, cell in enumerate(CELLS)]
    both = lines_of(render(timed, "text", ["accuracy", "train"], together=True))
    assert both["linear"] == ["92.00 ± 1.41", "1.50 ± 0.71*"]
    assert both["exact, chi2"] == ["97.00*", "3.50 ± 0.71"]
    assert both["homogeneous, r = 5, chi2"] == ["95.50 ± 0.71", "7.50 ± 0.71"]
    assert both["homogeneous, r = 3, js"] == ["95.00 ± 1.41", "9.50 ± 0.71"]
    latex = render(timed, "latex", ["accuracy", "train"], together=True)
    assert r" & accuracy, \% & train, s \\" in latex
    assert latex.count(r"\begin{tabular}") == 1


def test_titles_name_the_features_and_how_they_are_normalised():
    assert "intensity (l1)" in show([record(features="intensity", normalize="l1")])
    plain = show([record(features="intensity", normalize="none")], "md")
    assert "(none)" not in plain
    assert plain.startswith("### ")


def test_csv_and_json_are_tidy_and_in_plain_units():
    table = pd.read_csv(io.StringIO(show(CELLS, "csv", "accuracy")), keep_default_na=False)
    assert len(table) == 5
    row = table[(table["label"] == "homogeneous, r = 5") & (table["kernel"] == "chi2")].iloc[0]
    assert (row["measure"], row["unit"], row["n"], row["failed"]) == ("accuracy", "fraction", 2, 0)
    assert float(row["mean"]) == pytest.approx(0.955)
    assert json.loads(row["params"]) == {"order": 2}
    lines = json.loads(show([*LINEAR, record("exact")], "json", "accuracy"))
    assert [line["mean"] for line in lines] == pytest.approx([0.92, 0.9])
    assert lines[1]["std"] is None
    assert ",100," in show([record(size=100), record()], "csv")  # not 100.0


def test_the_best_row_is_marked_whoever_made_it_and_ties_with_it():
    cells = [
        record("linear", kernel="", accuracy=0.85),
        record(params={"order": 1}, accuracy=0.90001),
        record(params={"order": 2}, accuracy=0.90004),
        record(params={"order": 3}, accuracy=0.8999),
    ]
    rows = lines_of(show(cells))
    assert [rows[f"homogeneous, r = {r}"][-1] for r in (3, 5, 7)] == ["90.00*", "90.00*", "89.99"]
    for better in (
        record("sklearn.svm.SVC", solver="own", kernel="", accuracy=0.95),
        record("exact", kernel="js", accuracy=0.95),
        record("linear", kernel="", accuracy=0.95),
    ):
        text = show([*cells[1:], better])
        assert "95.00*" in text
        assert "90.00*" not in text

    def tied(row, best, measure):
        return measure == "accuracy" and row[0]["accuracy"] > best[0]["accuracy"] - 0.001

    rows = lines_of(render(cells, "text", ["accuracy"], tied=tied))
    assert [rows[f"homogeneous, r = {r}"][-1] for r in (3, 5, 7)] == 2 * ["90.00*"] + ["89.99*"]
    assert rows["linear"][0] == "85.00"


def test_times_that_do_not_compare_are_never_the_best():
    [busy] = made([[1.0, 2.0]], other_cpus=0.7, stolen_cpus=0.0)
    assert "*" not in "".join(lines_of(show([busy], "text", "train"))["exact"])
    idle = record("anchor", train_s=9.0)
    assert lines_of(show([busy, idle], "text", "train"))["ANNFM"] == ["9.00*"]


@pytest.mark.parametrize(
    ("load", "marked"),
    [
        ({"other_cpus": 0.0}, False),
        ({"other_cpus": 0.5}, True),
        # A cell of less than half a second: the load average counts.
        ({"other_cpus": None, "load_before": 4.0, "cores": 2}, True),
        ({"other_cpus": None, "load_before": 0.5, "cores": 2}, False),
    ],
)
def test_times_are_marked_where_pages_leave_them_out(load, marked):
    cells = [record("exact", train_s=1.0, **load), record("anchor", train_s=2.0)]
    assert all(cell["train_s"] is None for cell in without_doubtful_times(cells)) == marked
    rows = lines_of(show(cells, "text", "train"))
    assert ["‡" in rows[name][0] for name in ("exact", "ANNFM")] == [marked, marked]
    assert ("*" in "".join(rows["exact"])) != marked


def test_uneven_and_failed_splits_show_and_are_never_the_best():
    failed = {"status": "failed", "accuracy": None}
    cells = [
        *(record(split=i, params={"order": 1}, accuracy=0.5) for i in range(3)),
        *(record(split=i, params={"order": 2}, accuracy=0.9) for i in range(2)),
        record(split=2, params={"order": 2}) | failed | {"accuracy": 0.1},  # counts nowhere
        record(split=0, params={"order": 3}, accuracy=0.95),
        *(record(split=i, params={"order": 4}) | failed for i in range(3)),
    ]
    rows = lines_of(show(cells))
    assert rows["homogeneous, r = 3"] == ["50.00*"]
    assert rows["homogeneous, r = 5"] == ["90.00 (n=2, failed 1)"]
    assert rows["homogeneous, r = 7"] == ["95.00 (n=1)"]
    assert rows["homogeneous, r = 9"] == ["failed (3)"]
    assert "over 3 splits" in show(cells)
    # In every row, too, a failure is not hidden.
    last = record(split=1, **failed)
    assert "90.00 (n=1, failed 1)" in show([record(split=0), last])
    assert lines_of(show([last]))["homogeneous"] == ["failed (1)"]


def made(seconds, **columns):
    """Return a cell for each split, timed again."""
    cells = [record("exact", split=i, train_s=50.0) for i in range(len(seconds))]
    return [again(cell, *some, **columns) for cell, some in zip(cells, seconds, strict=True)]


@pytest.mark.parametrize(
    ("seconds", "shown", "title"),
    [
        # Not the mean, 4.2, nor the last, 2, nor the run's 50.
        ([[1.0, 9.0, 3.0, 6.0, 2.0]], "3.00 (2.00–6.00)", "5 repeats; 1 split\n"),
        # Repeats of several splits count together.
        ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "3.50 (2.25–4.75)", "3 repeats; 2 splits\n"),
    ],
)
def test_what_was_timed_again_shows_the_median_and_the_quartiles(seconds, shown, title):
    text = show(made(seconds), "text", "train")
    assert lines_of(text)["exact"] == [f"{shown}*"]
    assert f": train, s; median (quartiles) of {title}" in text
    assert lines_of(show(made(seconds), "text", "accuracy"))["exact"] == ["90.00*"]


def test_times_of_unlike_machines_and_of_a_busy_one_are_marked():
    [cell] = made([[1.0, 2.0]])
    cell["repeats"] += [line | {"repeat": 2, "cpu": "another"} for line in cell["repeats"][:1]]
    text = show([cell], "text", "train")
    assert lines_of(text)["exact"] == ["1.00 (1.00–1.50) †"]
    assert "† not comparable: other computers or numbers of threads." in text
    busy = show(made([[1.0, 2.0]], other_cpus=0.7, stolen_cpus=0.0), "text", "train")
    assert lines_of(busy)["exact"] == ["1.50 (1.25–1.75) ‡"]
    assert "‡ other work ran meanwhile" in busy
    idle = show(made([[1.0, 2.0]]), "text", "train")
    assert not {"†", "‡"} & set(idle)
    assert r"$\ddagger$" in show(made([[1.0]], busy="so"), "latex", "train")


CLAMPED = "UserWarning: 1 of 80 values lie outside the range that AnchorMap was fitted on and were "
CLAMPED += "clamped to it"
