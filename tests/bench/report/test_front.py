"""Rows as points, and the front that no other row beats."""

import numpy as np
import pytest

from kmaps.bench.report.front import COSTS, FrontPoint, front, points_of
from tests.bench.sample_records import again, record

COLUMNS = {"fit_s": 0.5, "encode_s": 0.5, "convert_s": 1.0, "predict_s": 0.25, "peak_bytes": 3e6}


def exact(split, accuracy, train_s):
    return record("exact", split=split, accuracy=accuracy, train_s=train_s, **COLUMNS)


def test_a_point_has_the_means_in_printed_units():
    cells = [exact(0, 0.9, 1), exact(1, 0.8, 3), record("linear", status="failed", accuracy=None)]
    [point] = points_of(cells, ["accuracy", *COSTS])  # what failed has no accuracy
    named = point.group, point.name, point.method, point.kernel
    assert named == ("", "chi2 exact", "exact", "chi2")
    accuracy = point.values.pop("accuracy"), point.spreads["accuracy"]
    assert accuracy == pytest.approx((85, 7.07), abs=0.01)
    assert point.values == {"time": 4.0, "predict": 0.25, "memory": 3.0}
    timed = again(exact(0, 0.9, 9), 1.0, 2.0, 6.0)
    assert points_of([timed], ["accuracy", "train"])[0].values["train"] == 2.0


def points(*pairs, **columns):
    values = [{"time": time, "accuracy": accuracy} for time, accuracy in pairs]
    return [FrontPoint("", str(i), "", "", value, **columns) for i, value in enumerate(values)]


def test_the_front_is_what_comparing_all_pairs_leaves():
    """Against the definition, on points with many ties."""
    drawn = np.random.default_rng(0).integers(0, 12, (60, 2))
    drawn[:, 1] += drawn[:, 0]
    every = points(*drawn.tolist())
    unbeaten = [
        point.name
        for point, (time, accuracy) in zip(every, drawn, strict=True)
        if not any((t <= time) & (a >= accuracy) & ((t < time) | (a > accuracy)) for t, a in drawn)
    ]
    found = front(every, "time", "accuracy")
    assert sorted(point.name for point in found) == sorted(unbeaten)
    assert len(found) > 3
    costs = [point.values["time"] for point in found]
    assert costs == sorted(costs)
