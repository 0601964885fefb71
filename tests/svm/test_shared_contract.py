"""What every classifier does alike: labels of any name, rows in blocks, silence, refusals."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kmaps import CodedRidge, CodedSVC, CodedSVR, GroupLassoSVC, KernelSVC, LiblinearSVC
from kmaps.errors import ConfigError, InputError

LEARNERS = [
    LiblinearSVC(0.1, loss="hinge"),
    LiblinearSVC(0.1),
    LiblinearSVC(0.1, loss="logistic"),
    LiblinearSVC(0.1, penalty="l1"),
    LiblinearSVC(0.1, penalty="l1", loss="logistic"),
    KernelSVC(C=0.05, solver="libsvm"),
    KernelSVC(C=0.05),
    CodedSVC("chi2", 0.1, tol=1e-5),
]
ONE_EACH = [LEARNERS[1], *LEARNERS[5:]]
NAMES = np.array(["walrus", "bee", "otter", "ant"])


@pytest.mark.parametrize("reduction", ["ovr", "ovo"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_renaming_classes_moves_their_scores(digits, learner, reduction):
    X, y = digits
    tight = {"tol": 1e-8} if isinstance(learner, LiblinearSVC) and reduction == "ovo" else {}
    learner = clone(learner).set_params(multiclass=reduction, **tight)
    plain, named = clone(learner).fit(X, y), learner.fit(X, NAMES[y])
    assert named.classes_.tolist() == sorted(NAMES)
    np.testing.assert_array_equal(named.predict(X), NAMES[plain.predict(X)])
    if reduction == "ovr":
        columns = [named.classes_.tolist().index(name) for name in NAMES]
        scores = named.decision_function(X)[:, columns]
        np.testing.assert_allclose(scores, plain.decision_function(X), atol=0.02)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("learner", ONE_EACH, ids=str)
def test_sparse_is_dense(digits, learner, form):
    X, y = digits
    weights = np.arange(len(y)) % 3
    dense = clone(learner).fit(X, y, weights).decision_function(X)
    listed = clone(learner).fit(form(X), y, weights).decision_function(form(X))
    # Measured: 1.3e-5 on codes, 1.2e-6 by LIBSVM.
    np.testing.assert_allclose(listed, dense, atol=3e-5)


@pytest.mark.parametrize("learner", ONE_EACH, ids=str)
def test_bad_data_are_refused(digits, learner):
    (X, y), model = digits, clone(learner)
    with pytest.raises(NotFittedError):
        model.predict(X)
    hurt = np.where(X == 1, np.nan, X)
    for message, bad in {
        r"^y has one class only \(a\): a classifier needs": (X[:3], ["a", "a", "a"]),
        r"^Input X contains NaN\.$": (hurt, y),
        r"^Input X contains infinity": (np.where(X == 1, np.inf, X), y),
        r"inconsistent numbers of samples: \[400, 399\]$": (X, y[1:]),
    }.items():
        with pytest.raises(InputError, match=message):
            model.fit(*bad)
    model.fit(X, y)
    with pytest.raises(InputError, match=r"63 features, .* expecting 64"):
        model.predict(X[:, 1:])
    with pytest.raises(InputError, match=r"^Input X contains NaN\.$"):
        model.predict(hurt)


@pytest.mark.parametrize("learner", ONE_EACH, ids=str)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0: expected a positive number"),
        ({"C": -1.0}, "C=-1.0: expected a positive"),
        ({"C": "1"}, "C='1': expected a positive"),
        ({"tol": 0.0}, "tol=0.0: expected a positive"),
        ({"max_iter": 0}, "max_iter=0: expected a whole number of at least 1"),
        ({"multiclass": "ovrr"}, "multiclass='ovrr': expected 'ovr' or 'ovo', did you mean"),
        ({"class_weight": {0: 0.0}}, "class_weight={0: 0.0}: expected positive, finite"),
    ],
)
def test_bad_parameters_are_refused(digits, learner, parameters, message):
    with pytest.raises(ConfigError) as caught:
        clone(learner).set_params(**parameters).fit(*digits)
    assert str(caught.value).startswith(message)


BAD = [
    (LiblinearSVC(bias=-1), "bias=-1: expected"),
    (LiblinearSVC(penalty="l3"), "penalty='l3': expected"),
    (LiblinearSVC(loss="logit"), "loss='logit': expected"),
    (
        LiblinearSVC(penalty="l1", loss="hinge"),
        "penalty='l1' with loss='hinge': ",
    ),
    (GroupLassoSVC(C=0), "C=0: expected"),
    (GroupLassoSVC(tol=-1), "tol=-1: expected"),
    (GroupLassoSVC(loss="hinges"), "loss='hinges': expected"),
    (GroupLassoSVC(bias="1"), "bias='1': expected"),
    (GroupLassoSVC(group_size=0), "group_size=0: expected"),
    (GroupLassoSVC(max_iter=1.5), "max_iter=1.5: expected"),
    (KernelSVC(cache_mb=0), "cache_mb=0: expected"),
    (KernelSVC(solver="svm"), "solver='svm': expected"),
    (KernelSVC("chi3"), "unknown kernel 'chi3', did you mean 'chi2'"),
    (CodedSVC("chi"), "unknown kernel 'chi', did you mean 'chi2'?"),
    (CodedSVC(loss="squared-hinge"), "loss='squared-hinge': expected"),
    (CodedSVC(bias=-1), "bias=-1: expected"),
    (CodedSVC(n_levels=257), "n_levels=257: expected"),
    (CodedSVC(n_levels=1), "n_levels=1: expected"),
    (CodedSVC(form="low"), "form='low': expected"),
    (CodedSVC(calibrate=True, multiclass="ovo"), "calibrate=True: one-vs-one has no class scores"),
    (CodedSVC(smooth=-1), "smooth=-1: expected"),
    (CodedSVC(smooth=0.1, form="two-level"), "form='two-level': smooth=0.1 changes the kernel, wh"),
    (CodedSVC(penalty="l3"), "penalty='l3': expected"),
    (CodedSVC(penalty="l1", loss="logistic"), "penalty='l1' with loss='logistic': "),
    (CodedSVC(penalty="l1", form="full"), "form='full': penalty='l1' needs the columns of a tab"),
    (CodedSVC(penalty="l1", n_blocks=2), "n_blocks=2: penalty='l1' has one block; leave n_bloc"),
    *(
        (
            learner(probability="platt"),
            "probability='platt': expected",
        )
        for learner in (LiblinearSVC, GroupLassoSVC, KernelSVC, CodedSVC)
    ),
    *(
        (CodedSVC(n_blocks=n), f"n_blocks={n!r}: expected")
        for n in (0, -1, 1.5, "many", None, True)
    ),
    *(
        (learner(n_jobs=n), f"n_jobs={n!r}: expected")
        for n in (0, -2, 1.5, "all")
        for learner in (KernelSVC, GroupLassoSVC, CodedSVC)
    ),
    (CodedSVR(epsilon=-1), "epsilon=-1: expected"),
    (CodedSVR(epsilon=np.inf), "epsilon=inf: expected"),
    (CodedSVR(C=0), "C=0: expected"),
    (CodedSVR(loss="hinge"), "loss='hinge': expected"),
    (CodedRidge(alpha=0), "alpha=0: expected"),
    (CodedRidge(bias=-1), "bias=-1: expected"),
    (CodedRidge(max_iter=0), "max_iter=0: expected"),
    (CodedRidge("chi"), "unknown kernel 'chi', did you mean 'chi2'?"),
]


@pytest.mark.parametrize(("learner", "message"), BAD)
def test_parameters_out_of_range(digits, learner, message):
    with pytest.raises(ConfigError) as caught:
        learner.fit(*digits)
    assert str(caught.value).startswith(message)
