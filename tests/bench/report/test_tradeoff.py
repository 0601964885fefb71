"""Trade-offs: what the points of a learner are."""

import math

import pytest

from kmaps.bench.report.tradeoff import learners
from tests.bench.sample_records import record


def trial(name, draw=0, dim=8000, accuracy=0.8, **columns):
    row = {"learner": {"name": name, "C": 10.0}, "solver": "", "kernel": "exp-chi2"}
    cell = row | {"predict_s": 0.5, "n_test": 1000, "accuracy": accuracy, "dim": dim}
    if name == "exact":
        return record("exact", **cell | columns)
    cell |= {"params": {"n_frequencies": 4000}, "draw": draw}
    return record("generalized-rbf", **cell | columns)


def test_points_are_means_over_the_draws():
    records = [
        trial("sparse-svm", draw=i, dim=d, accuracy=a) for i, d, a in [(0, 20, 0.8), (1, 40, 0.9)]
    ]
    ((learner, exact),) = [learners([*records, trial("exact", accuracy=0.85)])]
    assert (learner.name, learner.exact) == ("sparse SVM", False)
    (point,) = learner.points
    assert (point.quality, point.kept) == (pytest.approx(85), 15)
    assert point.spread == pytest.approx(100 * math.sqrt(0.005))
    assert (point.drawn, point.C, point.keep) == (4000, 10, 0)
    assert point.us == pytest.approx(500)
    (untimed,) = learners([records[0] | {"predict_s": 0.3}, records[1] | {"predict_s": None}])
    assert untimed.points[0].us == pytest.approx(300)
    assert (exact.name, exact.exact) == ("exact exp-chi2", True)
    assert math.isnan(exact.points[0].spread)
