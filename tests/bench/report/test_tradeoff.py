"""Trade-offs: what the points of a learner are."""

import math

import pytest

from kmaps.bench.report.tables import render
from kmaps.bench.report.tradeoff import learners, tradeoff_table
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


def test_kernels_and_maps_are_not_mixed():
    records = [trial("dense", kernel=kernel) for kernel in ("exp-chi2", "exp-js")]
    assert [learner.name for learner in learners(records)] == ["dense exp-chi2", "dense exp-js"]
    records = [trial("dense", params={"structure": s}) for s in ("dense", "fastfood")]
    names = [learner.name for learner in learners(records)]
    assert names == ["dense, random map, dense", "dense, random map, Fastfood"]


def test_detectors_of_classes_have_average_precision():
    found = {"accuracy": None, "average_precision": 0.4, "options": {"classes": ["cat"]}}
    assert "average precision, %" in tradeoff_table([trial("dense") | found]).head
    ((learner,),) = [learners([trial("dense") | found])]
    assert learner.points[0].quality == pytest.approx(40)


@pytest.mark.parametrize(
    "right", [(34030, 34010, 33850, 33940, 34300), (33720, 33510, 33830, 33600, 33950)]
)
def test_accuracies_have_the_digits_that_tables_have(right):
    # Means that end on a five are rounded by their last bit.
    records = [
        trial("dense", draw=draw, split=draw, accuracy=count / 40000)
        for draw, count in enumerate(right)
    ]
    table = render(records, "md", ["accuracy"])
    shown = tradeoff_table(records).rows[-1][4]
    assert f"| {shown} |" in table.replace("**", "")
