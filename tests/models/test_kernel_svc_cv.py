"""KernelSVCCV: the model that choose_width and KernelSVC give by hand."""

import numpy as np
import pytest
from contract import TO_A_TOLERANCE, contract

from kmaps import KernelSVC, KernelSVCCV, load_model
from kmaps.errors import ConfigError, InputError
from kmaps.models import choose_width

RNG = np.random.default_rng(0)
X = RNG.random((150, 3)).astype(np.float32)
Y = np.array(["even", "odd"])[(np.floor(3 * X[:, 0]) + np.floor(2 * X[:, 1])).astype(int) % 2]
WEIGHTS = RNG.integers(0, 3, 150).astype(float)


@pytest.mark.parametrize("given", [{}, {"C": 10.0}, {"sigma": 0.3}, {"kernel": "rbf"}], ids=str)
def test_it_is_the_choice_and_the_model_with_it(given, tmp_path):
    model = KernelSVCCV(**given, probability="temperature").fit(X, Y, WEIGHTS)
    given = {"kernel": "exp-chi2", "sigma": "auto", "C": "auto"} | given
    kept = WEIGHTS > 0
    found = choose_width(KernelSVC(**given), X[kept], Y[kept], sample_weight=WEIGHTS[kept])
    assert model.width_choice_ == found
    assert (model.sigma_, model.C_) == (found.sigma, found.C)
    chosen = given | {"sigma": found.sigma, "C": found.C}
    expected = KernelSVC(**chosen, probability="temperature").fit(X, Y, WEIGHTS)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(model.support_, expected.support_)
    np.testing.assert_array_equal(model.duality_gap_, expected.duality_gap_)
    assert {*model.timings_} == {*expected.timings_, "choose_s"}
    assert model.get_params()["sigma"] == given["sigma"]
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert (type(loaded), loaded.C, loaded.sigma) == (KernelSVC, found.C, found.sigma)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_more_samples_than_memory_holds_are_refused_before_the_choice(monkeypatch):
    monkeypatch.setattr("kmaps.models.kernel_svc_cv.choose_width", None)
    many = np.zeros((5_000_000, 1), np.float32)
    with pytest.raises(InputError, match=r"5,000,000 samples takes"):
        KernelSVCCV().fit(many, np.arange(len(many)) % 2)


def test_a_kernel_without_a_width_is_refused():
    with pytest.raises(ConfigError, match="kernel 'chi2' has no width"):
        KernelSVCCV("chi2").fit(X, Y)
    with pytest.raises(ConfigError, match=r"^sigma='auto': .*KernelSVCCV"):
        KernelSVC("exp-chi2", sigma="auto").fit(X, Y)


# One width: what is chosen with more of them is compared above, and takes many machines.
@contract([KernelSVCCV("rbf", [1.0, 10.0], sigma=1.0)], lambda estimator: TO_A_TOLERANCE)
def test_follows_scikit_learn(estimator, check):
    check(estimator)
