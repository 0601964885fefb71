"""Short labels: different for different rows, in the papers' words, with nothing said twice."""

import json
from pathlib import Path

import pytest

from kmaps.bench.records.names import short_label, short_labels
from kmaps.bench.records.row import Row

RESULTS = Path(__file__).parents[3] / "results"
RUNS = sorted(path.parent.name for path in RESULTS.glob("*/records.jsonl"))


def labels_of(*rows):
    labels, said = short_labels(rows)
    return [labels[row.identity] for row in rows], said


@pytest.mark.parametrize(
    ("method", "params", "label"),
    [
        ("linear", {}, "linear"),
        ("exact", {}, "exact"),
        ("exact-coded", {}, "exact on codes"),
        ("homogeneous", {"order": 1}, "homogeneous, r = 3"),
        ("homogeneous", {}, "homogeneous"),
        ("anchor", {"n_anchors": 40}, "ANNFM, N = 40"),
        ("anchor", {"n_anchors": 40, "n_neighbors": 1}, "ANNFM, N = 40"),
        ("anchor", {"n_anchors": 40, "n_neighbors": 2}, "2-ANNFM, N = 40"),
        ("anchor", {"n_anchors": 30, "anchors": "kmeans"}, "ANNFM k-means, N = 30"),
        ("intersection", {"n_bins": 10}, "Maji–Berg, N = 10"),
        ("nystroem", {"dim": 3}, "addKPCA, r = 3"),
        ("lowdim", {"dim": 5, "optimal": False}, "LP, D = 5"),
        ("lowdim", {"dim": 5, "optimal": True}, "optimal, D = 5"),
        ("lowdim", {"dim": 5}, "low-dimensional, D = 5"),
        ("lowdim-joint", {"dim": 31, "method": "proj_product"}, "Proj ⊗, D = 31"),
        ("spline", {"n_bins": 10, "degree": 3, "penalty": 1}, "spline, p = 3, s = 1, 10 bins"),
        ("fourier", {"degree": 4, "penalty": 1}, "Fourier, degree 4, s = 1"),
        ("hermite", {"degree": 4, "penalty": 1}, "Hermite, degree 4, s = 1"),
        ("sign-cauchy", {"n_projections": 1000}, "sign-Cauchy, m = 1,000"),
        ("generalized-rbf", {"n_frequencies": 10000}, "random map, m = 10,000"),
        ("random-fourier", {"n_frequencies": 16}, "random Fourier, m = 16"),
        ("my-map", {"tree_depth": 3, "scale": 0.5}, "my-map, tree depth = 3, scale = 0.5"),
    ],
)
def test_words_of_the_papers(method, params, label):
    assert short_label(Row(method, params)) == label


def test_other_parameters_show_where_the_rows_of_their_map_differ():
    wide, narrow = ({"order": 1, "window": window} for window in ("uniform", "rectangular"))
    labels, said = labels_of(Row("homogeneous", wide), Row("homogeneous", narrow))
    assert labels == [
        "homogeneous, r = 3, uniform window",
        "homogeneous, r = 3, rectangular window",
    ]
    assert said == []
    labels, said = labels_of(Row("homogeneous", wide), Row("anchor", {"energy": 0.95}))
    assert labels == ["homogeneous, r = 3", "ANNFM"]
    assert said == ["homogeneous: uniform window", "ANNFM: energy = 0.95"]


def row(method, solver="", size=None, learner=None, **params):
    return Row(method, params, solver, learner or {}, size)


LIBSVM = "LIBSVM, on the kernel matrices of their outputs"
BY_LIBSVM = [row("homogeneous", "libsvm"), row("exact", "libsvm")]


@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        (  # a parameter that one row lacks shows in the others
            [row("anchor", n_anchors=30, shared=True), row("anchor", n_anchors=40)],
            ["ANNFM, N = 30, shared range", "ANNFM, N = 40"],
            [],
        ),
        (  # solvers show where the rows of a map differ in them
            [
                *(row("homogeneous", solver, order=1) for solver in ("liblinear", "coded")),
                row("spline", "coded", learner={"form": "local"}, degree=1),
                *(row("linear", "liblinear"), row("exact", "libsvm")),
            ],
            [
                *("homogeneous, r = 3, LIBLINEAR", "homogeneous, r = 3, on codes"),
                *("spline, p = 1", "linear", "exact"),
            ],
            ["spline: on codes, local form"],
        ),
        (
            [row("homogeneous", "coded"), row("lowdim", "coded"), row("exact-coded")],
            ["homogeneous", "low-dimensional", "exact on codes"],
            ["all maps: on codes"],
        ),
        (BY_LIBSVM, ["homogeneous", "exact"], [f"homogeneous: {LIBSVM}"]),
        (
            [*BY_LIBSVM, row("lowdim", "libsvm")],
            ["homogeneous", "exact", "low-dimensional"],
            [f"all maps: {LIBSVM}"],
        ),
        (
            [*BY_LIBSVM, row("lowdim", "liblinear")],
            ["homogeneous", "exact", "low-dimensional"],
            [f"homogeneous: {LIBSVM}"],
        ),
        (
            [row("exact", size=n) for n in (1000, 60000)],
            ["exact, n = 1,000", "exact, n = 60,000"],
            [],
        ),
        ([row("exact", size=1000)], ["exact"], []),
        (  # values that no word tells apart: the whole row
            [row("anchor", n_anchors=40, n_neighbors=1), row("anchor", n_anchors=40)],
            ["anchor n_anchors=40 n_neighbors=1", "anchor n_anchors=40"],
            None,
        ),
    ],
)
def test_what_shows_and_what_is_said_once(rows, labels, said):
    shown, once = labels_of(*rows)
    assert shown == labels
    assert said is None or once == said


def trial(name, C, m=4000, **settings):
    learner = {"name": name, "C": C, **settings}
    if name == "exact":
        return Row("exact", learner=learner)
    return Row("generalized-rbf", {"n_frequencies": m, "structure": "fastfood"}, learner=learner)


def test_learners_of_tradeoffs_by_their_own_words():
    labels, said = labels_of(
        trial("exact", 3.0),
        trial("dense", 10.0),
        trial("sparse-svm", 0.5),
        trial("sparse-svm", 1.0),
        trial("sparse-lr", 30.0),
        trial("group-hinge", 2.0),
        trial("strongest", 10.0, keep=1000),
    )
    assert labels == [
        *("exact", "dense, m = 4,000", "sparse SVM, m = 4,000, C = 0.5"),
        *("sparse SVM, m = 4,000, C = 1", "sparse LR, m = 4,000", "group, hinge, m = 4,000"),
        "strongest 1,000 of 4,000",
    ]
    assert said == [
        *("all learners: on the random map, Fastfood", "exact: C = 3", "dense: C = 10"),
        *("sparse LR: C = 30", "group, hinge: C = 2", "strongest: C = 10"),
    ]


@pytest.mark.parametrize("name", RUNS)
def test_rows_of_a_published_run_have_different_labels_without_falling_back(name):
    lines = (RESULTS / name / "records.jsonl").read_text().splitlines()
    rows = {row.identity: row for row in map(Row.of, map(json.loads, lines))}
    labels, _ = short_labels(rows.values())
    assert len(set(labels.values())) == len(rows)
    for label in labels.values():
        assert "_" not in label
        assert label.count("=") == label.count(" = ")


def test_estimators_of_others_go_by_the_names_of_their_classes():
    svc = Row("sklearn.svm.SVC", {"kernel": "rbf", "gamma": 1}, solver="own")
    other = Row("sklearn.svm.SVC", {"kernel": "rbf", "gamma": 2}, solver="own")
    labels, said_once = short_labels([svc, other])
    assert list(labels.values()) == ["SVC, gamma = 1", "SVC, gamma = 2"]
    assert said_once == ["SVC: sklearn.svm.SVC, kernel = rbf"]
    # Two classes of one name go by their places.
    labels, _ = short_labels([svc, Row("mine.SVC", {}, solver="own")])
    assert list(labels.values()) == ["sklearn.svm.SVC", "mine.SVC"]
