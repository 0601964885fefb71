"""Both learners follow scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kmaps.svm import KernelSVC, LiblinearSVC

CHECKED = [
    LiblinearSVC(),
    LiblinearSVC(loss="hinge", multiclass="ovo"),
    LiblinearSVC(loss="logistic", bias=10.0),
    LiblinearSVC(penalty="l1"),
    LiblinearSVC(penalty="l1", loss="logistic", multiclass="ovo"),
    KernelSVC(),
    KernelSVC("exp-chi2", multiclass="ovr"),
    KernelSVC("rbf", C=10.0, sigma=1.0),
    KernelSVC("precomputed"),
]


@parametrize_with_checks(CHECKED)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


def test_scikit_learn_runs_its_checks():
    checks = [mark for mark in test_follows_scikit_learn.pytestmark if mark.name == "parametrize"]
    assert len(list(checks[0].args[1])) >= 50 * len(CHECKED)
