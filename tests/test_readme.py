"""Every command in README and docs runs, in the order it stands there; Python blocks are doctests.

Among them is the quickstart, whose records pass the gate.
"""

import json
import re
import shlex
import shutil
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import numpy as np
import pandas as pd
import pytest
from commands import kmaps_in
from sklearn.datasets import dump_svmlight_file

from kmaps.bench.records.file import read_records
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.row import Row

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
USER_DATA = (ROOT / "docs" / "user-data.md").read_text()


def write_user_data(folder):
    section = USER_DATA.split("## User data")[1]
    [experiment] = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)[:1]
    (folder / "digits.yaml").write_text(experiment)
    X = np.random.default_rng(1).integers(0, 9, (60, 5))
    y = (X[:, 0] > X[:, 1]).astype(int) + 3
    for name, of in {"train": slice(0, 40), "test": slice(40, 60)}.items():
        table = pd.DataFrame(X[of], columns=list("abcde"))
        table.insert(2, "digit", y[of])
        table.to_csv(folder / f"{name}.csv", index=False)
        table.to_parquet(folder / f"{name}.parquet")
        dump_svmlight_file(X[of], y[of], str(folder / f"{name}.svm"), zero_based=False)
    np.savetxt(folder / "new.csv", X[40:], "%d", ",", header="a,b,c,d,e", comments="")
    np.save(folder / "test.npy", X[40:])
    np.savetxt(folder / "test-labels.txt", y[40:], "%d")


def write_user_method(folder):
    """Write the two files of the section "User methods", as they stand there."""
    section = USER_DATA.split("## User methods")[1]
    for name, language in {"my_methods.py": "python", "mine.yaml": "yaml"}.items():
        [text] = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)[:1]
        (folder / name).write_text(text)


@pytest.mark.slow  # each of its commands has tests of its own
def test_commands_run(tmp_path):
    np.save(tmp_path / "histograms.npy", np.random.default_rng(0).random((50, 8)))
    np.save(tmp_path / "labels.npy", np.arange(50) % 2)
    np.save(tmp_path / "targets.npy", np.load(tmp_path / "histograms.npy").sum(axis=1))
    write_user_data(tmp_path)
    write_user_method(tmp_path)
    # The quickstart is there already, which `run` resumes; another test starts from nothing.
    for folder in ("runs", "results"):
        shutil.copytree(ROOT / "results" / "quickstart", tmp_path / folder / "quickstart")
    (tmp_path / "runs" / "quickstart" / "README.md").unlink()
    text = (ROOT / "docs" / "command-line.md").read_text() + USER_DATA
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line]
    assert len(lines) >= 8
    kmaps = kmaps_in(tmp_path)
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[0] == "kmaps"
        done = kmaps(*words[1:])
        if words[1:] == ["run", "quickstart"]:
            assert "digits, intensity, one-vs-one: accuracy" in done.stdout
        if words[1:3] == ["table", "my-digits"]:
            assert r"\caption{my-digits, columns (l1), one-vs-rest: accuracy" in done.stdout
    assert (tmp_path / "my-digits" / "accuracy.svg").exists()
    assert np.load(tmp_path / "encoded.npy").shape == (50, 56)
    assert (tmp_path / "confusion.csv").read_text().startswith("true,3,4\n3,")
    found = {record["method"]: record["accuracy"] for record in read_records(tmp_path / "mine")}
    assert found["my_methods.NearestMean"] > 0.8 < found["my_methods.RootMap"]
    assert (tmp_path / "confusion.pdf").read_bytes().startswith(b"%PDF")
    named = ["label", "score:4", "proba:3", "proba:4"]
    assert pd.read_parquet(tmp_path / "new.parquet").columns.tolist() == named
    assert len((tmp_path / "new-labels.csv").read_text().split()) == 20


@pytest.mark.slow
def test_the_quickstart_is_no_worse_than_the_baseline(tmp_path):
    kmaps = kmaps_in(tmp_path)
    done = kmaps("run", "quickstart")
    assert "digits, intensity, one-vs-one: accuracy" in done.stdout
    ours, baseline = tmp_path / "runs" / "quickstart", ROOT / "results" / "quickstart"
    kmaps("check", ours, "--against", baseline)
    # The same accuracies to the last digit, not only within the tolerance of the gate.
    accuracy = {r["key"]: r["accuracy"] for r in read_records(ours)}
    assert accuracy == {r["key"]: r["accuracy"] for r in read_records(baseline)}
    # A baseline that was better must fail.
    better = [r | {"accuracy": min(1.0, r["accuracy"] + 0.02)} for r in read_records(ours)]
    (tmp_path / "better.jsonl").write_text("".join(json.dumps(r) + "\n" for r in better))
    kmaps("check", ours, "--against", "better.jsonl", code=1)


def test_the_one_table_of_results_is_the_published_scaling():
    records = {Row.of(r).label: r for r in read_records(ROOT / "results" / "scaling-mnist")}
    found = re.findall(r"^\| ((?:exact|homog).*?) \| (\d\d,000) \| (.*) \|$", README, re.MULTILINE)
    labels = {
        "exact kernel on codes (`CodedSVC`)": "exact-coded",
        "homogeneous map on codes (`CodedSVC`)": "homogeneous order=1 solver=coded",
        "homogeneous map, LIBLINEAR": "homogeneous order=1",
        "exact kernel, LIBSVM": "exact",
    }
    scales = {
        **{("accuracy",): 100, ("fit_s", "encode_s"): 1, ("convert_s",): 1, ("train_s",): 1},
        **{("train_peak_bytes",): 1e-6},
    }
    assert len(found) == 5
    for name, n, cells in found:
        record = records[f"{labels[name]} n={n.replace(',', '')}"]
        for text, (columns, scale) in zip(cells.split(" | "), scales.items(), strict=True):
            value = scale * measured(record, columns)
            text = text.replace(",", "")
            assert float(text) == round(value, len(text.partition(".")[2])), (name, n, text)


def test_the_table_of_what_is_most_accurate_is_of_the_published_comparison():
    rows = defaultdict(list)
    for record in read_records(ROOT / "results" / "comparison-daimler"):
        rows[Row.of(record).label, record["kernel"]].append(record)
    shown = MEASURES["accuracy"], MEASURES["time"], MEASURES["predict"]
    found = re.findall(r"(?m)^\| ([^|]+) \| (\d\d\.\d\d) \| ([\d.]+) \| ([\d.]+) \|$", README)
    labels = "KernelSVC", "SVC search", "fastfood", "=2000", "exact-coded", "leaves$", "LinearSVC"
    names = "`KernelSVC`", "`SVC`", "`Random", "`Landmark", "`CodedSVC`", "LightGBM", "`LinearSVC`"
    for name, label, (said, *cells) in zip(names, labels, found, strict=True):
        assert name in said
        [of] = [rows[key] for key in rows if re.search(label, key[0]) and key[1] != "intersection"]
        assert cells == [what.format(mean(map(what.value, of))) for what in shown], name


def measured(record, columns):
    """Return the sum of columns: of times the median over the repeats."""
    if not columns[0].endswith("_s"):
        return sum(record[column] for column in columns)
    lines = [line["seconds"] for line in record["repeats"]]
    return median(sum(line[column] for column in columns) for line in lines)
