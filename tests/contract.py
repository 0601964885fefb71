"""scikit-learn's contract: the checks that it has for estimators, of several settings."""

from collections.abc import Callable, Sequence

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

LEAST = 40  # checks of an estimator; fewer would mean that scikit-learn no longer tries it


# They ask for equal scores, to seven digits; what tolerances leave open is in svm/test_weights.py.
TO_A_TOLERANCE = {
    f"check_sample_weight_equivalence_on_{kind}_data": "solved to a tolerance"
    for kind in ("dense", "sparse")
}
NOT_THE_MOST_PROBABLE = {"check_classifiers_train": "the most probable class may be another"}


def contract(
    estimators: Sequence[BaseEstimator],
    expected_failures: Callable[[BaseEstimator], dict[str, str]] = lambda estimator: {},
) -> pytest.MarkDecorator:
    """Parametrize ``estimator, check``: the first setting of a class in every run, others if slow.

    A further setting takes another way through the code, which the tests of its results take too.
    """
    checked = parametrize_with_checks(list(estimators), expected_failed_checks=expected_failures)
    names, checks = checked.args
    cases, kinds = [], set()
    for estimator in estimators:
        further = [pytest.mark.slow] if type(estimator) in kinds else []
        kinds.add(type(estimator))
        cases.append((estimator, further, []))
    for case in checks:
        values, marks = (case.values, case.marks) if hasattr(case, "marks") else (case, ())
        own = next(own for own in cases if own[0] is values[0])
        own[2].append(pytest.param(*values, marks=[*marks, *own[1]]))
    for estimator, _, own in cases:
        assert len(own) >= LEAST, f"{estimator}: {len(own)} checks"
    return pytest.mark.parametrize(
        names, [case for _, _, own in cases for case in own], **checked.kwargs
    )
