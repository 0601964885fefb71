"""The reduction to binary problems, against plain loops and scikit-learn's voting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.utils.multiclass import _ovr_decision_function
from threadpoolctl import threadpool_limits

from kmaps.svm.reduction import class_pairs, combine_scores


def vote(scores, n_classes):
    decisions = []
    for row in scores:
        votes, sums = [0] * n_classes, [0.0] * n_classes
        column = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                votes[j if row[column] > 0 else i] += 1
                sums[j] += row[column]
                sums[i] -= row[column]
                column += 1
        decisions.append([v + s / (3 * (abs(s) + 1)) for v, s in zip(votes, sums, strict=True)])
    return np.array(decisions)


@pytest.mark.parametrize("n_classes", [3, 4, 7])
@given(data=st.data())
def test_votes_and_ties(n_classes, data):
    n_pairs = n_classes * (n_classes - 1) // 2
    # Small integers: ties and exact zeros are the rule.
    scores = data.draw(arrays(np.float64, (5, n_pairs), elements=st.integers(-2, 2)))
    decision = combine_scores(scores, n_classes, "ovo")
    np.testing.assert_allclose(decision, vote(scores, n_classes), atol=1e-12)
    theirs = _ovr_decision_function(scores > 0, scores, n_classes)
    np.testing.assert_allclose(decision, theirs, atol=1e-12)


def test_a_vote_outweighs_any_score():
    # Class 0 beats both others by a hair and loses on the sum of scores.
    scores = np.array([[-1e-9, -1e-9, 1e6]])
    assert combine_scores(scores, 3, "ovo").argmax() == 0


def test_float32_scores_are_summed_in_float64():
    scores = np.array([[1e8, 1.0, 1e8, -1e8, 3.0, 1e8]], np.float32)
    np.testing.assert_array_equal(
        combine_scores(scores, 4, "ovo"), combine_scores(scores.astype(float), 4, "ovo")
    )


@pytest.mark.parametrize("reduction", ["ovr", "ovo"])
def test_two_classes_are_one_problem_positive_for_the_second(reduction):
    assert class_pairs(2, reduction) == [(1, 0)]
    assert combine_scores(np.array([[3.0], [-1.0]]), 2, reduction).tolist() == [3.0, -1.0]


def test_pairs_come_in_libsvm_order():
    assert class_pairs(4, "ovo") == [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (3, 2)]
    assert class_pairs(4, "ovr") == [(0, None), (1, None), (2, None), (3, None)]


def test_votes_are_the_same_bits_on_any_number_of_threads_of_blas():
    scores = np.random.default_rng(0).standard_normal((1200, 31 * 15))
    found = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(combine_scores(scores, 31, "ovo").tobytes())
    assert found[1:] == found[:1] * 2
