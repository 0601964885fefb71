"""All learners follow scikit-learn's contract."""

from contract import NOT_THE_MOST_PROBABLE, TO_A_TOLERANCE, contract

from kmaps import HomogeneousMap, SplineMap
from kmaps.svm import CodedRidge, CodedSVC, CodedSVR, GroupLassoSVC, KernelSVC, LiblinearSVC

CHECKED = [
    LiblinearSVC(),
    LiblinearSVC(loss="hinge", multiclass="ovo"),
    LiblinearSVC(loss="logistic", bias=10.0),
    LiblinearSVC(penalty="l1", probability="isotonic"),
    LiblinearSVC(penalty="l1", loss="logistic", multiclass="ovo"),
    GroupLassoSVC(),
    GroupLassoSVC(loss="hinge", multiclass="ovo", tol=1e-2, probability="sigmoid"),
    KernelSVC(),
    KernelSVC("exp-chi2", solver="libsvm", multiclass="ovr"),
    KernelSVC("exp-chi2", multiclass="ovr", cache_mb=1e-4),
    KernelSVC("rbf", C=10.0, sigma=1.0, probability="isotonic"),
    KernelSVC("precomputed"),
    KernelSVC("precomputed", solver="libsvm"),
    CodedSVC(),
    CodedSVC(loss="squared_hinge", multiclass="ovo", form="full", n_levels=64),
    CodedSVC(HomogeneousMap(), calibrate=True, bias=0.0, smooth=0.01),
    CodedSVC(SplineMap(degree=2, penalty=0), C=0.1, form="local", warm_start=True),
    CodedSVC(penalty="l1", loss="squared_hinge", C=0.1),
    CodedSVC(loss="logistic", probability="sigmoid"),
    CodedSVR(),
    CodedRidge(HomogeneousMap(), bias=0.0),
]


def expected_failures(estimator):
    if getattr(estimator, "probability", None):
        return TO_A_TOLERANCE | NOT_THE_MOST_PROBABLE
    if isinstance(estimator, LiblinearSVC) and (estimator.penalty, estimator.loss) == (
        "l1",
        "logistic",
    ):
        return TO_A_TOLERANCE | {"check_sample_weights_not_overwritten": "takes no such weights"}
    return TO_A_TOLERANCE


@contract(CHECKED, expected_failures)
def test_follows_scikit_learn(estimator, check):
    check(estimator)
