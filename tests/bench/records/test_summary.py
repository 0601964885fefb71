"""Records summed up: which count, in which order, with which numbers."""

import numpy as np
import pandas as pd
import pytest

from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import latest_cells, mixed_conditions, summarize
from kmaps.errors import ConfigError, NothingMeasured
from tests.bench.sample_records import record


def summary_of(records, measures):
    """Return the summary of records as a table."""
    return pd.DataFrame(summarize(records, measures))


def test_mean_std_and_n_over_splits():
    accuracies = [0.90, 0.93, 0.96]
    lines = summary_of(
        [record(split=i, accuracy=a) for i, a in enumerate(accuracies)], ["accuracy"]
    )
    (line,) = lines.to_dict("records")
    assert line["mean"] == pytest.approx(np.mean(accuracies))
    assert line["std"] == pytest.approx(np.std(accuracies, ddof=1))
    assert (line["n"], line["failed"], line["unit"]) == (3, 0, "fraction")


def test_time_is_the_sum_of_its_parts_without_choosing_c_or_predicting():
    times = {"fit_s": 1.0, "encode_s": 20.0, "convert_s": 300.0, "train_s": 4000.0}
    cell = record(**times, predict_s=5e4, cv_s=6e5)
    lines = summary_of([cell], ["time", "fit", "encode", "convert", "train", "predict", "cv"])
    assert lines["mean"].tolist() == [4321.0, 1.0, 20.0, 300.0, 4000.0, 5e4, 6e5]
    assert set(lines["unit"]) == {"s"}
    assert lines["std"].isna().all()

    (line,) = summarize([record(fit_s=1.0, encode_s=None)], ["time"])
    assert (line["mean"], line["n"]) == (None, 0)  # no sum without a part


@pytest.mark.parametrize("recorded", [None, 0.1])
def test_failed_splits_are_counted_apart(recorded):
    cells = [record(split=0, accuracy=0.8), record(split=1, status="failed", accuracy=recorded)]
    (line,) = summary_of(cells, ["accuracy"]).to_dict("records")
    assert (line["mean"], line["n"], line["failed"]) == (0.8, 1, 1)


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
        *(
            (name, "other")
            for name in ("experiment", "setting", "dataset", "features", "normalize", "reduction")
        ),
        *((name, "other") for name in ("kernel", "method", "solver")),
        ("learner", {"form": "local"}),
        ("params", {"order": 3}),
        ("size", 100),
    ],
)
def test_cells_that_differ_are_kept_apart(column, value):
    lines = summary_of([record(), record(**{column: value})], ["accuracy"])
    assert lines["n"].tolist() == [1, 1]


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


def test_lines_come_references_first_then_by_name_and_number():
    cells = [
        record("spline"),
        record(params={"order": 10}),
        record(params={"order": 2}),
        record(params={"gamma": 0.25}),
        record(params={"gamma": 0.5}),
        record(params={"order": 2}, kernel="exp-chi2"),
        record(params={"order": 2}, kernel="js"),
        record(params={"order": 2}, kernel="intersection"),
        record("exact"),
        record("linear"),
    ]
    lines = summary_of(cells, ["accuracy"])
    assert lines["label"].tolist() == [
        *("linear", "exact", "homogeneous, γ = 0.25", "homogeneous, γ = 0.5"),
        *["homogeneous, r = 5"] * 4,
        *("homogeneous, r = 21", "spline"),
    ]
    kernels = lines["kernel"][lines["label"] == "homogeneous, r = 5"]
    assert kernels.tolist() == ["chi2", "intersection", "js", "exp-chi2"]


def test_what_cannot_be_summed_up_is_refused():
    with pytest.raises(ConfigError, match="unknown measure 'acuracy', did you mean 'accuracy'"):
        summary_of([record()], ["acuracy"])
    with pytest.raises(NothingMeasured, match="no record to show"):
        summary_of([], ["accuracy"])


def test_the_measures_are_columns_of_the_records():
    for name, measure in MEASURES.items():
        assert set(measure.columns) <= set(COLUMNS), name


def test_conditions_that_differ_are_named():
    same = [record(cpu="a", threads=2, jobs=1), record(cpu="a", threads=2, jobs=1)]
    assert mixed_conditions(same) == []
    assert mixed_conditions([*same, record(cpu="b", threads=1, jobs=1)]) == ["cpu", "threads"]
