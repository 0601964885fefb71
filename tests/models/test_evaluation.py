"""Evaluations against counts by hand, calibration against scikit-learn's metrics."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from kmaps.errors import InputError
from kmaps.models import evaluate
from kmaps.models.evaluation import calibration

RNG = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
GIVEN = RNG.dirichlet([1, 1, 1], 200)  # probabilities of rows of the classes TRUE
TRUE = RNG.integers(0, 3, 200)


def rank_statistic(own, scores):
    """The part of all pairs of one own and one other row that are in order, ties a half."""
    pairs = scores[own][:, None] - scores[~own][None, :]
    return np.mean((pairs > 0) + 0.5 * (pairs == 0))


def average_precision(own, scores):
    """The mean, over the own rows, of the precision among the rows that score as much or more."""
    return np.mean([own[scores >= score].mean() for score in scores[own]])


def test_metrics_of_each_class_are_counts():
    y = CLASSES[RNG.integers(0, 3, 200)]
    scores = RNG.normal(size=(200, 3)).round(1) + 0.8 * (y[:, None] == CLASSES)
    given = CLASSES[scores.argmax(axis=1)]
    found = evaluate(y, scores, CLASSES)
    assert found.accuracy == np.mean(given == y)
    for place, label in enumerate(CLASSES):
        own = y == label
        assert found.recall[place] == pytest.approx(np.mean(given[own] == label))
        assert found.precision[place] == pytest.approx(np.mean(y[given == label] == label))
        expected = rank_statistic(own, scores[:, place])
        assert found.roc_auc[place] == pytest.approx(expected)
        expected = average_precision(own, scores[:, place])
        assert found.average_precision[place] == pytest.approx(expected)
        for column, other in enumerate(CLASSES):
            assert found.confusion[place, column] == np.sum((y == label) & (given == other))
    assert found.ranking(found.roc_auc) == pytest.approx(found.roc_auc.mean())
    assert found.n_unknown == 0


def test_two_classes_are_ranked_by_the_second():
    y = RNG.integers(0, 2, 60)
    scores = RNG.normal(size=60) + y
    found = evaluate(y, scores, [0, 1])
    assert found.ranking(found.roc_auc) == pytest.approx(rank_statistic(y == 1, scores))
    # Not the first, nor the mean of the two: average precision has another value for each.
    assert found.ranking(found.average_precision) == found.average_precision[1]
    assert found.average_precision[0] == pytest.approx(average_precision(y == 0, -scores))
    assert found.average_precision[0] != found.average_precision[1]
    np.testing.assert_array_equal(
        found.confusion[1], [np.sum(scores[y == 1] <= 0), np.sum(scores[y == 1] > 0)]
    )


def test_rows_of_unknown_labels_count():
    scores = np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]])
    # 'aa' comes between the classes in the order of labels.
    found = evaluate(["a", "b", "aa", "z"], scores, CLASSES)
    assert found.accuracy == 0.5
    assert found.unknown.tolist() == ["aa", "z"]
    assert found.labels.tolist() == ["a", "b", "c", "aa", "z"]
    assert found.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert found.n_unknown == 2
    assert found.precision.tolist() == [0.5, 1.0, 0.0]
    assert np.isnan(found.recall[2])
    assert np.isnan(found.roc_auc[2])
    # The row of 'aa' scores as high for 'a' as the row of 'a', a pair of three.
    assert found.roc_auc[0] == pytest.approx(2.5 / 3)
    assert found.ranking(found.roc_auc) == pytest.approx((2.5 / 3 + 1) / 2)


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([], [0, 1], "0 labels and 2 rows of scores: need one per row"),
        ([1, 0, 1], [0, 1], "3 labels and 2 rows of scores: need one per row"),
        (["1", "0"], [0, 1], "the labels are text (0, 1), the model's labels are numbers (0, 1);"),
        ([7, 8], [0, 1], "no row has a label that the model knows (0, 1): the labels are 7"),
    ],
)
def test_what_cannot_be_compared(y, classes, message):
    with pytest.raises(InputError) as caught:
        evaluate(y, [0.5, -0.5], classes)
    assert str(caught.value).startswith(message)


def test_bins_are_scikit_learns():
    largest, right = GIVEN.max(axis=1), GIVEN.argmax(axis=1) == TRUE
    accuracy, confidence = calibration_curve(right, largest, n_bins=10)
    found = calibration(TRUE, GIVEN)
    some = found.rows > 0
    assert some.tolist() == [False] * 3 + [True] * 7
    np.testing.assert_allclose(found.accuracy[some], accuracy, rtol=1e-12)
    np.testing.assert_allclose(found.confidence[some], confidence, rtol=1e-12)
    assert np.isnan(found.accuracy[~some]).all()
    assert found.rows.tolist() == np.histogram(largest, found.bounds)[0].tolist()
    error = np.abs(accuracy - confidence) @ found.rows[some] / 200
    assert found.error == pytest.approx(error, rel=1e-12)


def test_rows_whose_most_probable_class_is_another_are_counted():
    """Sigmoids of each class cross; a softmax of the scores has their order."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 3))
    sigmoids = 1 / (1 + np.exp(-(scores * [0.5, 2, 4] + [0, 1, -1])))
    sigmoids /= sigmoids.sum(axis=1, keepdims=True)
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    y = np.arange(300) % 3
    found = evaluate(y, scores, [0, 1, 2], sigmoids)
    assert found.n_contradicted == (sigmoids.argmax(axis=1) != scores.argmax(axis=1)).sum() > 0
    assert evaluate(y, scores, [0, 1, 2], softmax).n_contradicted == 0
    assert evaluate(y, scores, [0, 1, 2]).n_contradicted is None
    tie = np.full((1, 2), 0.5)
    assert evaluate([1], [0.5], [0, 1], tie).n_contradicted == 0
