"""Records summed up: which count, in which order, with which numbers."""

import numpy as np
import pandas as pd
import pytest

from kmaps.bench.records.summary import (
    MEASURES,
    default_measures,
    latest_cells,
    mixed_conditions,
    summarize,
)
from kmaps.errors import ConfigError, NothingMeasured
from tests.bench.sample_records import record


def test_mean_std_and_n_over_splits():
    accuracies = [0.90, 0.93, 0.96]
    lines = summarize([record(split=i, accuracy=a) for i, a in enumerate(accuracies)], ["accuracy"])
    (line,) = lines.to_dict("records")
    assert line["mean"] == pytest.approx(np.mean(accuracies))
    assert line["std"] == pytest.approx(np.std(accuracies, ddof=1))
    assert (line["n"], line["failed"], line["unit"]) == (3, 0, "fraction")


def test_time_is_the_sum_of_its_parts_without_choosing_c_or_predicting():
    times = {"fit_s": 1.0, "encode_s": 20.0, "convert_s": 300.0, "train_s": 4000.0}
    cell = record(**times, predict_s=5e4, cv_s=6e5)
    lines = summarize([cell], ["time", "fit", "encode", "convert", "train", "predict", "cv"])
    assert lines["mean"].tolist() == [4321.0, 1.0, 20.0, 300.0, 4000.0, 5e4, 6e5]
    assert set(lines["unit"]) == {"s"}
    assert lines["std"].isna().all()


def test_a_part_that_was_not_measured_leaves_no_sum():
    (line,) = summarize([record(fit_s=1.0, encode_s=None)], ["time"]).to_dict("records")
    assert np.isnan(line["mean"])
    assert line["n"] == 0


def test_failed_splits_are_counted_apart():
    cells = [record(split=0, accuracy=0.8), record(split=1, status="failed", accuracy=None)]
    (line,) = summarize(cells, ["accuracy"]).to_dict("records")
    assert (line["mean"], line["n"], line["failed"]) == (0.8, 1, 1)


def test_accuracy_of_a_failed_record_never_counts():
    cells = [record(split=0, accuracy=0.8), record(split=1, status="failed", accuracy=0.1)]
    assert summarize(cells, ["accuracy"])["mean"].tolist() == [0.8]


def test_the_last_record_of_a_cell_counts():
    old = record(accuracy=0.1, key="a", map_version=1)
    new = record(accuracy=0.9, key="b", map_version=2)
    other = record(accuracy=0.5, split=1)
    assert [c["accuracy"] for c in latest_cells([old, other, new])] == [0.9, 0.5]
    (line,) = summarize([old, other, new], ["accuracy"]).to_dict("records")
    assert (line["mean"], line["n"]) == (pytest.approx(0.7), 2)


@pytest.mark.parametrize(
    "column", ["dataset", "features", "normalize", "reduction", "kernel", "method", "experiment"]
)
def test_cells_that_differ_are_kept_apart(column):
    lines = summarize([record(), record(**{column: "other"})], ["accuracy"])
    assert lines["n"].tolist() == [1, 1]


def test_parameters_keep_cells_apart_whatever_their_order():
    cells = [
        record(split=0, params={"order": 1, "period": 2.0}, label="m"),
        record(split=1, params={"period": 2.0, "order": 1}, label="m"),
        record(split=0, params={"period": 2.0, "order": 2}, label="m"),
    ]
    assert summarize(cells, ["accuracy"])["n"].tolist() == [2, 1]


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
    lines = summarize(cells, ["accuracy"])
    assert lines["label"].tolist() == [
        *("linear", "exact", "homogeneous gamma=0.25", "homogeneous gamma=0.5"),
        *["homogeneous order=2"] * 4,
        *("homogeneous order=10", "spline"),
    ]
    kernels = lines["kernel"][lines["label"] == "homogeneous order=2"]
    assert kernels.tolist() == ["chi2", "intersection", "js", "exp-chi2"]


def test_an_unknown_measure_suggests_the_nearest():
    with pytest.raises(ConfigError, match="unknown measure 'acuracy', did you mean 'accuracy'"):
        summarize([record()], ["acuracy"])


def test_no_records_is_nothing_measured():
    with pytest.raises(NothingMeasured, match="no record to show"):
        summarize([], ["accuracy"])


def test_the_measures_are_columns_of_the_records():
    from kmaps.bench.records.file import COLUMNS

    for name, measure in MEASURES.items():
        assert set(measure.columns) <= set(COLUMNS), name


def test_conditions_that_differ_are_named():
    same = [record(cpu="a", threads=2, jobs=1), record(cpu="a", threads=2, jobs=1)]
    assert mixed_conditions(same) == []
    assert mixed_conditions([*same, record(cpu="b", threads=1, jobs=1)]) == ["cpu", "threads"]


def test_the_summary_survives_a_round_trip(tmp_path):
    lines = summarize([record(params={"order": 1})], ["accuracy"])
    lines.to_csv(tmp_path / "a.csv", index=False)
    back = pd.read_csv(tmp_path / "a.csv")
    assert back["params"].tolist() == ['{"order": 1}']
    assert back.columns.tolist() == lines.columns.tolist()


def test_accuracy_is_per_class_where_so_many_of_each_are_tested():
    per_class = {"protocol": {"train_per_class": 30, "test_per_class": 20}}
    assert default_measures([record(**per_class)])[0] == "per-class"
    assert default_measures([record(protocol={"train": 10, "test": 20})])[0] == "accuracy"
