"""Records summed up: which count, in which order, with which numbers."""

import numpy as np
import pandas as pd
import pytest

from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.records.gate import FRACTION, Judged, compare
from kmaps.bench.records.lines import line_labels, lines_of, where
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import latest_cells, summarize
from tests.bench.sample_records import record


def summary_of(records, measures):
    """Return the summary of records as a table."""
    return pd.DataFrame(summarize(records, measures))


def test_time_is_the_sum_of_its_parts_without_choosing_c_or_predicting():
    times = {"fit_s": 1.0, "encode_s": 20.0, "convert_s": 300.0, "train_s": 4000.0}
    cell = record(**times, predict_s=5e4, cv_s=6e5)
    lines = summary_of([cell], ["time", "fit", "encode", "convert", "train", "predict", "cv"])
    assert lines["mean"].tolist() == [4321.0, 1.0, 20.0, 300.0, 4000.0, 5e4, 6e5]
    assert set(lines["unit"]) == {"s"}
    assert lines["std"].isna().all()

    (line,) = summarize([record(fit_s=1.0, encode_s=None)], ["time"])
    assert (line["mean"], line["n"]) == (None, 0)  # no sum without a part


def test_the_last_record_of_a_cell_counts():
    old = record(accuracy=0.1, key="a", map_version=1)
    new = record(accuracy=0.9, key="b", map_version=2)
    other = record(accuracy=0.5, split=1)
    assert [c["accuracy"] for c in latest_cells([old, other, new])] == [0.9, 0.5]
    (line,) = summary_of([old, other, new], ["accuracy"]).to_dict("records")
    assert (line["mean"], line["n"]) == (pytest.approx(0.7), 2)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *((name, "other") for name in ("dataset", "features", "normalize")),
        *((name, "other") for name in ("setting", "reduction", "kernel", "method", "solver")),
        ("learner", {"form": "local"}),
        ("params", {"order": 3}),
        ("size", 100),
    ],
)
def test_cells_that_differ_are_kept_apart(column, value):
    """In tables, by the gate, and under claims, all of whose records are of one dataset."""
    cells = [record(), record(**{column: value})]
    assert summary_of(cells, ["accuracy"])["n"].tolist() == [1, 1]
    assert len(compare(cells, cells, [Judged("accuracy", FRACTION, highest=True)])) == 2
    assert len(lines_of(cells)) == 2 - (column in ("dataset", "features", "normalize"))


@pytest.mark.parametrize(
    ("places", "over"),
    [
        ([(0, 0), (0, 1), (1, 0), (1, 1)], "draws"),
        ([(0, 0), (1, 1)], "splits"),  # each with a draw of its own
        ([(0, None), (1, None)], "splits"),
        ([(None, None)], ""),
    ],
)
def test_splits_and_draws_are_taken_together(places, over):
    cells = [record(split=i, draw=j, accuracy=0.8 + (i or 0) / 10) for i, j in places]
    (line,) = summarize(cells, ["accuracy"])
    mean = np.mean([cell["accuracy"] for cell in cells])
    assert (line["n"], line["over"], line["mean"]) == (len(places), over, pytest.approx(mean))


def test_the_order_of_parameters_is_free():
    cells = [
        record(split=0, params={"order": 1, "period": 2.0}),
        record(split=1, params={"period": 2.0, "order": 1}),
    ]
    assert summary_of(cells, ["accuracy"])["n"].tolist() == [2]


def test_lines_come_references_first_then_by_number_and_kernel():
    given = [(10, "chi2"), (2, "exp-chi2"), (2, "js")]
    cells = [record(params={"order": order}, kernel=kernel) for order, kernel in given]
    lines = summarize([*cells, record("exact"), record("linear")], ["accuracy"])
    assert [(line["label"], line["kernel"]) for line in lines] == [
        ("linear", ""),
        ("exact", "chi2"),
        *(("homogeneous, r = 5", kernel) for kernel in ("js", "exp-chi2")),
        ("homogeneous, r = 21", "chi2"),
    ]
    left, right = pair = list(lines_of([record("linear"), record("exact")]))
    assert where(left, right, line_labels(pair)) == "ovo chi2 linear against exact"


def test_the_measures_are_columns_of_the_records():
    for name, measure in MEASURES.items():
        assert set(measure.columns) <= set(COLUMNS), name


def test_packed_codes_are_stored_as_annfm_counts_them():
    packed = {"storage_form": "5-bit codes", "train_bytes": 70, "storage_bytes_paper": None}
    assert MEASURES["storage-paper"].value(packed) == 70
    assert MEASURES["storage-paper"].value(packed | {"storage_form": "codes"}) is None
