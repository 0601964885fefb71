"""Short labels: different for different rows, in the papers' words, with nothing said twice."""

import pytest

from kmaps.bench.records.names import short_labels
from kmaps.bench.records.row import Row
from tests.bench.records.published import records
from tests.loops import failures


@pytest.mark.parametrize(
    ("method", "params", "label"),
    [  # the words of other maps are on published pages
        ("homogeneous", {}, "homogeneous"),
        ("anchor", {"n_anchors": 40, "n_neighbors": 1}, "ANNFM, N = 40"),
        ("anchor", {"n_anchors": 30, "anchors": ["no word"]}, "ANNFM, N = 30"),
        ("same-sign", {"order": 1}, "same-sign homogeneous, r = 6"),
        ("generalized-rbf", {"n_frequencies": 10000}, "random map, m = 10,000"),
        ("my-map", {"tree_depth": 3, "scale": 0.5}, "my-map, tree depth = 3, scale = 0.5"),
    ],
)
def test_words_of_the_papers(method, params, label):
    row = Row(method, params)
    assert short_labels([row])[0][row.identity] == label


def row(method, solver="", size=None, learner=None, **params):
    return Row(method, params, solver, learner or {}, size)


def test_rows_that_no_word_tells_apart_have_all_parameters():
    rows = [
        Row("anchor", {"n_anchors": 40, "n_neighbors": 1}),
        Row("anchor", {"n_anchors": 40}),
    ]
    labels, _ = short_labels(rows)
    assert list(labels.values()) == ["anchor n_anchors=40 n_neighbors=1", "anchor n_anchors=40"]


def check_labels(name):
    rows = {row.identity: row for row in map(Row.of, records()[name])}
    for brief in (False, True):
        labels, _ = short_labels(rows.values(), brief=brief)
        assert len(set(labels.values())) == len(rows)
        for label in labels.values():
            assert not {"_", "="} & {*label.replace(" = ", " ")}


def test_rows_of_a_published_run_have_different_labels_without_falling_back():
    assert failures(check_labels, records()) == []


def test_figures_leave_out_parameters_without_words_that_distinguish_no_rows():
    name, chosen = "a.TreeClassifier", {"search": ["depth", "rate"]}
    trees = [row(name), *(row(name, learner=chosen, rounds=n, leaf=4 * n) for n in (8, 9))]
    of_2, of_3 = ([*short_labels(trees[:n], brief=True)[0].values()] for n in (2, 3))
    assert of_2 == ["Tree", "Tree, 2 settings chosen"]
    assert of_3[1:] == [f"Tree, rounds = {n}, 2 settings chosen" for n in (8, 9)]
    maps = [row("random-fourier", n_frequencies=m, structure=f"fastfood{m}") for m in (4, 5)]
    assert short_labels(maps, brief=True) == short_labels(maps)  # whose parameters have words


def test_estimators_of_others_go_by_the_names_of_their_classes():
    svc = Row("sklearn.svm.SVC", {"kernel": "rbf", "gamma": 1}, solver="own")
    other = Row("sklearn.svm.SVC", {"kernel": "rbf", "gamma": 2}, solver="own")
    labels, said_once = short_labels([svc, other])
    assert list(labels.values()) == ["SVC, gamma = 1", "SVC, gamma = 2"]
    assert said_once == ["SVC: sklearn.svm.SVC, kernel = rbf"]
    # Two classes of one name go by their places.
    labels, _ = short_labels([svc, Row("mine.SVC", {}, solver="own")])
    assert list(labels.values()) == ["sklearn.svm.SVC", "mine.SVC"]
