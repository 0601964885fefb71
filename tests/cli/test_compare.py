"""`kmaps compare`: two runs, or a line that says what is missing."""

import json

import numpy as np

from tests.bench.records.published import ROOT
from tests.bench.sample_records import record
from tests.commands import kmaps, write_records

LEVELS = ROOT / "results" / "levels-daimler"
CHI2 = "ovr chi2 homogeneous, r = 3, LIBLINEAR"


def test_two_runs_and_one():
    found = kmaps("compare", LEVELS, ROOT / "results" / "levels-mnist", "--format", "json")
    document = json.loads(found.stdout)
    assert document["differs"]["dataset"] == ["daimler", "mnist"]
    accuracies = [one for one in document["rows"] if one["measure"] == "accuracy"]
    assert [one["row"] for one in accuracies if one["row"] == CHI2] == [CHI2]
    [chi2] = [one for one in accuracies if one["row"] == CHI2]
    mean = [100 * np.mean(chi2["runs"][name]) for name in ("levels-daimler", "levels-mnist")]
    assert chi2["to_first"][0]["interval"] is None
    assert mean[1] > mean[0]
    assert "expected two or more" in kmaps("compare", LEVELS, code=2).stderr


def test_compare_and_table_print_the_same_number():
    cells = [record("exact", i, train_s=seconds) for i, seconds in enumerate([1.0, 2.0, 9.0])]
    for name in ("a", "b"):
        write_records(cells, path=f"{name}/records.jsonl")
    shown = [
        kmaps(*command, "--measure", "train").stdout
        for command in (["compare", "a", "b"], ["table", "a"])
    ]
    assert all("4.00 ± 4.36" in text for text in shown)
