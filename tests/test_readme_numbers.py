"""The README's numbers are those of the published records."""

import re
from pathlib import Path
from statistics import median

import pandas as pd

from kmaps.bench.records.file import read_records
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.row import Row
from kmaps.bench.records.summary import summarize
from kmaps.bench.report.tradeoff import learners


def summary_of(records, measures):
    """Return the summary of records as a table."""
    return pd.DataFrame(summarize(records, measures))


SHOWN = ("accuracy", "time", "convert", "storage")
ROOT = Path(__file__).resolve().parent.parent


def measured(record, columns):
    """Return the sum of columns: of times the median over the repeats."""
    if not columns[0].endswith("_s"):
        return sum(record[column] for column in columns)
    lines = [line["seconds"] for line in record["repeats"]]
    return median(sum(line[column] for column in columns) for line in lines)


def test_readme_headline_is_the_published_scaling():
    records = {Row.of(r).label: r for r in read_records(ROOT / "results" / "scaling-mnist")}
    lines = (ROOT / "README.md").read_text().splitlines()
    rows = [
        line.split("|")[1:-1] for line in lines if re.match(r"\| (exact|homog).* \d\d,000 ", line)
    ]
    labels = {
        "exact kernel on codes (`CodedSVC`)": "exact-coded",
        "homogeneous map on codes (`CodedSVC`)": "homogeneous order=1 solver=coded",
        "homogeneous map, LIBLINEAR": "homogeneous order=1",
        "exact kernel, LIBSVM": "exact",
    }
    assert len(rows) == 5
    columns = [
        *(("accuracy",), ("fit_s", "encode_s"), ("convert_s",), ("train_s",)),
        ("train_peak_bytes",),
    ]
    scales = 100, 1, 1, 1, 1e-6
    for name, n, *shown in ([cell.strip() for cell in row] for row in rows):
        record = records[f"{labels[name]} n={n.replace(',', '')}"]
        for text, parts, scale in zip(shown, columns, scales, strict=True):
            value = measured(record, parts)
            text = text.replace(",", "")
            decimals = len(text.partition(".")[2])
            assert float(text) == round(scale * value, decimals), (name, n, text)


def test_readme_table_of_maps_is_the_published_run():
    records = read_records(ROOT / "results" / "annfm-table1-mnist")
    table = summary_of(records, SHOWN)
    table = table[(table["reduction"] == "ovo") & table["kernel"].isin(["chi2", ""])]
    readme = (ROOT / "README.md").read_text()
    for start, label in (
        ("exact", "exact"),
        ("homogeneous map, r = 3", "homogeneous, r = 3"),
        ("anchor map", "ANNFM, N = 40"),
        ("linear", "linear"),
    ):
        row = next(line for line in readme.splitlines() if line.startswith(f"| {start}, "))
        lines = table[table["label"] == label].set_index("measure")
        centers = lines["median"].fillna(lines["mean"])  # of what was timed again
        for cell, name in zip(row.split("|")[2:6], SHOWN, strict=True):
            text, value = cell.split()[0], MEASURES[name].scale * centers[name]
            decimals = len(text.partition(".")[2])
            assert float(text) == round(value, decimals), (label, text, value)
            assert cell.strip().endswith(lines["form"][name]), (label, cell)


def test_readme_table_of_exponential_kernels_is_the_published_run():
    records = read_records(ROOT / "results" / "genrbf-figure3-tradeoff")
    points = {
        (learner.name, point.drawn): point
        for learner in learners(records)
        for point in learner.points
    }
    readme = (ROOT / "README.md").read_text().splitlines()
    for start, of in (
        ("exact chi2", ("exact chi2", 0)),
        ("exact exp-chi2", ("exact exp-chi2", 0)),
        ("random map of exp-chi2, 4,000 frequencies", ("dense", 4000)),
        ("the 1,000 strongest of them", ("strongest", 4000)),
        ("the {:,.0f} that a sparse SVM keeps of them", ("sparse SVM", 4000)),
    ):
        point = points[of]
        name = start.format(point.kept)
        row = next(line for line in readme if line.startswith(f"| {name} |"))
        accuracy, time = (cell.strip() for cell in row.split("|")[2:4])
        assert accuracy == f"{point.quality:.2f} ± {point.spread:.2f}", name
        decimals = len(time.partition(".")[2])
        assert float(time) == round(point.us, decimals), name


def test_readme_table_beside_what_people_pick_is_the_published_page():
    page = (ROOT / "results" / "comparison-daimler" / "README.md").read_text()
    readme = (ROOT / "README.md").read_text()
    for shown, row in (
        ("SVC, rbf kernel", "SVC"),
        ("intersection kernel on codes (`CodedSVC`)", "intersection exact on codes"),
        ("chi2 kernel on codes (`CodedSVC`)", "chi2 exact on codes"),
        ("AdditiveChi2Sampler, LIBLINEAR", "AdditiveChi2Sampler"),
        ("LightGBM", "LGBMClassifier"),
        ("HistGradientBoostingClassifier", "HistGradientBoostingClassifier"),
        ("LinearSVC", "LinearSVC"),
    ):
        published = _first_row(page.split("| row |")[1], row)
        assert _first_row(readme, shown) == [published[0].split()[0], *published[1:4]], shown


def _first_row(text, name):
    """Return the cells of the first row of a table that has a name."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]
