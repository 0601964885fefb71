"""Accuracy over what rows cost: what the figure shows and names."""

import re

from kmaps.bench.figures.costs import BUSY_NOTE, LEFT_OUT_NOTE, TITLES, draw_costs
from kmaps.bench.records.times import without_doubtful_times
from tests.bench.sample_records import record

TIMES = {"fit_s": 0.5, "encode_s": 0.5, "convert_s": 1.0, "predict_s": 0.25}
SIZES = {"peak_bytes": 3e6, "storage_bytes": 4e6, "storage_form": "codes"}


def own(**columns):
    return record("sklearn.svm.SVC", kernel="", solver="own", **TIMES, **SIZES, **columns)


RECORDS = [
    record("exact", split=0, accuracy=0.9, train_s=1, **TIMES, **SIZES),
    record("exact", split=1, accuracy=0.8, train_s=3, **TIMES, **SIZES),
    own(split=0, accuracy=0.95, train_s=8),
    record("linear", split=0, status="failed", accuracy=None),
]


def svg_of(records, folder):
    draw_costs(records, folder / "costs.svg")
    return (folder / "costs.svg").read_text()


def test_the_figure_has_an_axes_for_each_cost_and_names_the_rows(tmp_path):
    drawn = svg_of(RECORDS, tmp_path)
    texts = re.findall(r">([^<>]+)</text>", drawn)
    assert set(TITLES.values()) <= set(texts)
    assert texts.count("accuracy, %") == len(TITLES) == 4
    assert texts.count("chi2 exact") == texts.count("SVC") == 2  # at the end of each row of axes


def test_what_was_not_measured_has_no_axes(tmp_path):
    beaten = [*RECORDS, own(split=1, accuracy=0.5, train_s=9) | {"method": "a.Poor"}]
    drawn = svg_of([cell | {"peak_bytes": None} for cell in beaten], tmp_path)
    texts = re.findall(r">([^<>]+)</text>", drawn)
    assert "Poor" in texts
    assert TITLES["storage"] in drawn
    assert TITLES["memory"] not in drawn


def test_times_of_a_busy_machine_are_marked_or_said_to_be_left_out(tmp_path):
    busy = [cell | {"other_cpus": 1.0} for cell in RECORDS[:3]]
    assert svg_of(busy, tmp_path).count(BUSY_NOTE) == 2  # training and test
    assert BUSY_NOTE not in svg_of(RECORDS, tmp_path)
    drawn = svg_of(without_doubtful_times(busy), tmp_path)
    assert LEFT_OUT_NOTE in drawn
    assert TITLES["time"] not in drawn
