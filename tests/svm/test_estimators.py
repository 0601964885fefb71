"""The learners follow scikit-learn's contract: each class that has its own `fit`."""

from contract import TO_A_TOLERANCE, contract

from kmaps import HomogeneousMap
from kmaps.svm import CodedSVC, CodedSVR, GroupLassoSVC, KernelSVC, LiblinearSVC

CHECKED = [
    LiblinearSVC(),
    GroupLassoSVC(),
    KernelSVC(),  # its kernel refuses negative values
    KernelSVC("precomputed"),
    CodedSVC(),  # its map refuses negative values
    CodedSVR(HomogeneousMap()),
]


@contract(CHECKED, lambda estimator: TO_A_TOLERANCE)
def test_follows_scikit_learn(estimator, check):
    check(estimator)
