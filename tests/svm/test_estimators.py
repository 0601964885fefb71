"""All learners follow scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from kmaps import HomogeneousMap, SplineMap
from kmaps.svm import CodedSVC, GroupLassoSVC, KernelSVC, LiblinearSVC

CHECKED = [
    LiblinearSVC(),
    LiblinearSVC(loss="hinge", multiclass="ovo"),
    LiblinearSVC(loss="logistic", bias=10.0),
    LiblinearSVC(penalty="l1"),
    LiblinearSVC(penalty="l1", loss="logistic", multiclass="ovo"),
    GroupLassoSVC(),
    GroupLassoSVC(loss="hinge", multiclass="ovo", tol=1e-2),
    KernelSVC(),
    KernelSVC("exp-chi2", multiclass="ovr"),
    KernelSVC("rbf", C=10.0, sigma=1.0),
    KernelSVC("precomputed"),
    CodedSVC(),
    CodedSVC(loss="squared_hinge", multiclass="ovo", form="full", n_levels=64),
    CodedSVC(HomogeneousMap(), calibrate=True, bias=0.0),
    CodedSVC(SplineMap(degree=2, penalty=0), C=0.1, form="local", warm_start=True),
]


@parametrize_with_checks(CHECKED)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


def test_scikit_learn_runs_its_checks():
    checks = [mark for mark in test_follows_scikit_learn.pytestmark if mark.name == "parametrize"]
    assert len(list(checks[0].args[1])) >= 50 * len(CHECKED)
