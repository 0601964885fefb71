"""scikit-learn's contract: its checks for estimators, of each class that fits itself."""

from collections import Counter
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


def contract(
    estimators: Sequence[BaseEstimator],
    expected_failures: Callable[[BaseEstimator], dict[str, str]] = lambda estimator: {},
) -> pytest.MarkDecorator:
    """Parametrize ``estimator, check`` by all checks of some estimators.

    One of each class that has its own ``fit`` is enough: other settings take other ways through
    the code, which the tests of their values take too.
    """
    checked = parametrize_with_checks(list(estimators), expected_failed_checks=expected_failures)
    _, cases = checked.args
    cases = list(cases)
    values = [case.values if hasattr(case, "values") else case for case in cases]
    counts = Counter(id(estimator) for estimator, _ in values)
    for estimator in estimators:
        assert counts[id(estimator)] >= LEAST, f"{estimator}: {counts[id(estimator)]} checks"
    return pytest.mark.parametrize(checked.args[0], cases, **checked.kwargs)
