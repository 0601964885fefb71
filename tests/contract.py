"""scikit-learn's contract: the checks that it has for estimators, of several settings."""

from collections.abc import Sequence

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

LEAST = 40  # checks of an estimator; fewer would mean that scikit-learn no longer tries it


def contract(estimators: Sequence[BaseEstimator]) -> pytest.MarkDecorator:
    """Parametrize ``estimator, check``: the first setting of a class in every run, others if slow.

    A further setting takes another way through the code, which the tests of its results take too.
    """
    checked = parametrize_with_checks(list(estimators))
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
