"""The estimators of kmaps.models follow scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kmaps import RandomFeatureSVC

CHECKED = [
    RandomFeatureSVC(),
    RandomFeatureSVC("exp-js", 200, multiclass="ovo", order=2, loss="squared_hinge"),
    RandomFeatureSVC("exp-hellinger", 300, bias=0.0, structure="orthogonal", loss="logistic"),
    RandomFeatureSVC("rbf", 300, C=10.0, sigma=2.0, structure="fastfood"),
]


@parametrize_with_checks(CHECKED)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


def test_scikit_learn_runs_its_checks():
    checks = [mark for mark in test_follows_scikit_learn.pytestmark if mark.name == "parametrize"]
    assert len(list(checks[0].args[1])) >= 50 * len(CHECKED)
