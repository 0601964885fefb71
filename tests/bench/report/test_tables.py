"""Tables: what a reader sees. The expected texts are written out by hand."""

import io
import json
import re

import pandas as pd
import pytest

from kmaps.bench.report.tables import render
from tests.bench.sample_records import again, record, times

LINEAR = [record("linear", i, accuracy=a) for i, a in enumerate([0.91, 0.93])]
EXACT = [record("exact", i, accuracy=a) for i, a in enumerate([0.97, 0.97])]
FIRST = [record(split=i, params={"order": 1}, accuracy=a) for i, a in enumerate([0.94, 0.96])]
SECOND = [record(split=i, params={"order": 2}, accuracy=a) for i, a in enumerate([0.95, 0.96])]
JS = [cell | {"kernel": "js"} for cell in FIRST]
CELLS = [*LINEAR, *EXACT, *FIRST, *SECOND, *JS]
TITLE = "digits, intensity, one-vs-one: accuracy, %; mean ± std over 2 splits"


def show(cells, form="text", *measures):
    return render(cells, form, measures or ["accuracy"])


def lines_of(text):
    """Return the cells of a text table by label, split at two or more spaces."""
    rows = [line.split("  ") for line in text.splitlines()]
    return {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in rows}


ROWS = [
    ["", "any", "chi2", "js"],
    ["linear", "92.00 ± 1.41", "–", "–"],
    ["exact", "–", "*97.00", "–"],
    ["homogeneous, r = 3", "–", "95.00 ± 1.41", "95.00 ± 1.41"],
    ["homogeneous, r = 5", "–", "95.50 ± 0.71", "–"],
]
"""The table of CELLS; a star before the best row."""


def test_text():
    title, *rows, empty, last = show(CELLS).splitlines()
    assert (title, empty) == (TITLE, "")
    assert last.startswith("* ")
    split = [[cell.strip() for cell in re.split(r"  +", row)] for row in rows]
    starred = [[re.sub(r"^\*(.*)", r"\1*", cell) for cell in row] for row in ROWS]
    assert [[cell for cell in row if cell] for row in split] == [
        [cell for cell in row if cell] for row in starred
    ]
    ends = {match.end() for row in rows for match in re.finditer(r"\d(?=[* ]? *$)", row)}
    assert len(ends) == 1  # digits stand below each other


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


def test_latex():
    text = show(CELLS, "latex")
    bold = [[re.sub(r"^\*(.*)", r"\\textbf{\1}", cell) for cell in row] for row in ROWS[1:]]
    body = [" & ".join(row) + r" \\" for row in bold]
    body = [
        re.sub(r"(r = .)", r"$\1$", row).replace("±", r"$\pm$").replace("–", "--") for row in body
    ]
    head = r" & any & $\chi^2$ & JS \\"
    rows = "\n".join([r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}}%"])
    assert rows in text
    assert "accuracy, \\%; mean $\\pm$ std over 2 splits}\n" in text
    assert "\\label{tab:trial-digits-intensity-ovo-accuracy}\n" in text
    assert re.search(r"\\footnotesize .*bold: ", text)  # the note stands in the table


def test_titles_say_what_rows_share():
    wide, narrow = (
        {"features": f"phog cells={cells}", "feature_params": {"cells": cells}}
        for cells in ([9], [3])
    )
    shared = {"normalize": "l1", "reduction": "ovr"}
    text = show([record(**wide, **shared)])
    assert text.startswith("digits, phog (l1), one-vs-rest: accuracy, %; 1 split\n")
    assert "phog: cells=[9]." in text
    text = show([record(**wide), record(**narrow)])
    assert "digits, phog cells=[9], one-vs-one: " in text
    assert "digits, phog cells=[3], one-vs-one: " in text


def test_an_exact_kernel_that_has_no_draws_lacks_none():
    learner = {"name": "dense", "C": 1.0}
    shown = {"reduction": "", "dataset": "digits"}
    cells = [record("generalized-rbf", draw=i, learner=learner, **shown) for i in range(3)]
    cells.append(record("exact", learner={"name": "exact", "C": 1.0}, **shown))
    rows = lines_of(show(cells))
    assert rows["exact"] == ["90.00*"]
    assert rows["dense"] == ["90.00*"]
    assert "mean ± std over 3 draws" in show(cells)


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


@pytest.mark.parametrize(
    ("seconds", "printed"),
    [
        *(([0.0], "0"), ([0.000123456], "0.000123"), ([0.5], "0.500"), ([12.345], "12.3")),
        ([12345.6], "12346"),
        ([10.0, 10.1], "10.1 ± 0.1"),  # the decimals of the mean
        ([10.0, 10.01], "10.0"),  # what does not vary in the printed digits has no deviation
    ],
)
def test_three_significant_digits(seconds, printed):
    cells = [record("exact", split=i, train_s=s) for i, s in enumerate(seconds)]
    assert lines_of(show(cells, "text", "train"))["exact"] == [f"{printed}*"]


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


def test_rows_that_were_not_timed_again_are_marked_and_the_least_median_is_the_best():
    others = [record("anchor", i, train_s=s) for i, s in enumerate([10.0, 12.0])]
    again_faster = again(record("nystroem", train_s=9.0), 4.0, 4.0, 99.0)
    text = show([*made([[1.0, 2.0], [1.0, 2.0]]), *others], "text", "train")
    assert lines_of(text)["exact"] == ["1.50 (1.00–2.00)*"]
    assert lines_of(text)["ANNFM"] == ["11.0 ± 1.4"]
    assert "2 repeats, the others timed once; mean ± std over 2 splits" in text
    slower = again(record("anchor", train_s=1.0), 5.0, 5.0, 5.0)
    rows = lines_of(show([slower, again_faster], "text", "train"))
    assert rows == rows | {"ANNFM": ["5.00 (5.00–5.00)"], "addKPCA": ["4.00 (4.00–51.50)*"]}


def test_times_of_unlike_machines_and_of_a_busy_one_are_marked():
    [cell] = made([[1.0, 2.0]])
    cell["repeats"] += [line | {"repeat": 2, "cpu": "another"} for line in cell["repeats"][:1]]
    text = show([cell], "text", "train")
    assert lines_of(text)["exact"] == ["1.00 (1.00–1.50) †"]
    assert "† not comparable: other computers or numbers of threads." in text
    busy = show(made([[1.0, 2.0]], other_cpus=0.7, stolen_cpus=0.0), "text", "train")
    assert lines_of(busy)["exact"] == ["1.50 (1.25–1.75) ‡"]
    assert "‡ other work ran meanwhile." in busy
    idle = show(made([[1.0, 2.0]]), "text", "train")
    assert not {"†", "‡"} & set(idle)
    assert r"$\ddagger$" in show(made([[1.0]], busy="so"), "latex", "train")


def test_the_times_at_one_c_say_which():
    [cell] = made([[1.0]])
    cell["common_repeats"] = times(cell, 4.0, 6.0, common=True, C=0.5)
    text = show([cell], "text", "train", "time-common")
    assert "fit + encode + convert + train at one C for all, s; median" in text
    assert lines_of(text.split("\n\n")[0])["exact"] == ["5.00 (4.50–5.50)*"]
    assert lines_of(text.split("\n\n")[1])["exact"] == ["1.00*"]
    assert "one C for all: 0.5." in text
    assert "one C" not in show([cell], "text", "train")


STOPPED = "ConvergenceWarning: LIBLINEAR reached its limit of passes in 1 of 1 binary problems"
CLAMPED = "UserWarning: 1 of 80 values lie outside the range that AnchorMap was fitted on and were "
CLAMPED += "clamped to it"


def test_accuracies_bear_the_signs_of_what_their_records_warn_of():
    cells = [
        record("exact", 0, warnings=[]),
        record("exact", 1, warnings=["UserWarning: of something else"]),
        record("anchor", 0, warnings=[]),
        record("anchor", 1, warnings=[CLAMPED]),
        record("linear", 0, warnings=[STOPPED, CLAMPED], kernel=""),
    ]
    cells = [cell | {"accuracy": 0.8, "train_s": 1.0} for cell in cells]
    text = show(cells, "text", "accuracy")
    rows = lines_of(text)
    assert rows["exact"][-1] == "80.00*"
    assert rows["ANNFM"][-1] == "80.00 §*"
    assert rows["linear"][0].startswith("80.00 ¶§ (n=1)")
    assert "¶ the solver stopped at its limit of passes in some cell" in text
    assert "§ values outside the range fitted on were clamped to it in some cell." in text
    assert not {"¶", "§"} & set(show(cells, "text", "train"))
    assert not {"¶", "§"} & set(show(cells[:2], "text", "accuracy"))
    # In LaTeX each table stands alone, and says what its own signs mean.
    accuracy, training = show(cells, "latex", "accuracy", "train").split("\n\n")
    assert r"$\P$ the solver stopped" in accuracy
    assert not {r"$\P$", r"$\S$"} & set(training.split())
    assert r"80.00 $\P$$\S$" in show(cells, "latex", "accuracy")
