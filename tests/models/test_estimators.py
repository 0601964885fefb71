"""The estimators of kmaps.models follow scikit-learn's contract."""

from contract import TO_A_TOLERANCE, contract

from kmaps import RandomFeatureSVC

CHECKED = [
    RandomFeatureSVC(),
    RandomFeatureSVC("exp-js", 200, multiclass="ovo", order=2, loss="squared_hinge"),
    RandomFeatureSVC("exp-hellinger", 300, bias=0.0, structure="orthogonal", loss="logistic"),
    RandomFeatureSVC("rbf", 300, C=10.0, sigma=2.0, structure="fastfood"),
]


@contract(CHECKED, lambda estimator: TO_A_TOLERANCE)
def test_follows_scikit_learn(estimator, check):
    check(estimator)
