"""Evaluations against counts by hand: classes, unknown labels, ranks, what is refused."""

import numpy as np
import pytest

from kmaps.errors import InputError
from kmaps.models import evaluate

RNG = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])


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


def test_one_label_alone_has_no_rank():
    found = evaluate([1, 1], [0.5, -0.5], [0, 1])
    assert found.ranking(found.roc_auc) is None
    assert found.accuracy == 0.5
    assert np.isnan(found.recall[0])


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        ([], [0, 1], "0 labels and 2 rows of scores: expected as many"),
        ([1, 0, 1], [0, 1], "3 labels and 2 rows of scores: expected as many"),
        (
            ["1", "0"],
            [0, 1],
            "the labels are text (0, 1), those of the model are numbers (0, 1); use the labels "
            "that it was trained with",
        ),
        (
            [1, 0],
            ["0", "1"],
            "the labels are numbers (0, 1), those of the model are text (0, 1); use the labels "
            "that it was trained with",
        ),
        (
            [7, 8],
            [0, 1],
            "no row has a label of the model's (0, 1), they are 7, 8; check the labels and the "
            "model",
        ),
    ],
)
def test_what_cannot_be_compared(y, classes, message):
    with pytest.raises(InputError) as caught:
        evaluate(y, [0.5, -0.5], classes)
    assert str(caught.value) == message
