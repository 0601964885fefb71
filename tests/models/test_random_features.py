"""RandomFeatureSVC: a linear model on a random map, and near the exact model."""

import itertools

import numpy as np
import pytest

from kmaps import GeneralizedRBFMap, LiblinearSVC, RandomFeatureSVC
from kmaps.errors import ConfigError
from kmaps.kernels import WIDTH_KERNELS
from kmaps.maps import RandomFourierMap
from tests.models.test_landmarks import assert_same_bits_on_any_threads

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(150, 6)).astype(np.float32)
X[X < 0.3] = 0
Y = np.digitize(X[:, 0] * X[:, 1] + RNG.normal(0, 0.05, 150), [0.3, 1])
WORDS = np.array(["low", "middle", "high"])[Y]


OF_MAP = {
    "exp-chi2": {},
    "exp-js": {"order": 2, "structure": "orthogonal"},
    "exp-intersection": {"order": 3, "sigma": 0.8},
    "exp-hellinger": {"structure": "fastfood"},
    "rbf": {"sigma": None, "random_state": 4},
}


@pytest.mark.parametrize(
    ("kernel", "dtype"), [*zip(WIDTH_KERNELS, itertools.cycle([np.float32, np.float64]))]
)
def test_it_is_as_liblinear_on_the_map(kernel, dtype):
    samples, of_map = X.astype(dtype), OF_MAP[kernel]
    settings = {"C": 3.0, "loss": "squared_hinge", "bias": 2.0, "class_weight": "balanced"}
    settings |= {"random_state": of_map.get("random_state", 0), "multiclass": "ovo"}
    model = RandomFeatureSVC(kernel, 90, tol=1e-7, **{"sigma": None} | settings | of_map).fit(
        samples, WORDS
    )
    if kernel == "rbf":
        random_map = RandomFourierMap(90, **of_map)
    else:
        random_map = GeneralizedRBFMap(kernel.removeprefix("exp-"), n_frequencies=90, **of_map)
    Z = random_map.fit_transform(samples)
    expected = LiblinearSVC(tol=1e-7, max_iter=10**5, **settings).fit(Z, WORDS)
    np.testing.assert_allclose(model.map_coef_, expected.coef_, atol=2e-3)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=2e-3)
    assert model.map_coef_.dtype == model.intercept_.dtype == np.float32
    assert model.predict(samples).tolist() == expected.predict(Z).tolist()
    assert model.sigma_ == model.map_.sigma_ == random_map.sigma_
    assert model.model_bytes_ == 4 * 3 * 181
    assert sorted(model.timings_) == ["encode_s", "train_s"]
    assert all(seconds > 0 for seconds in model.timings_.values())


BAD = [
    ({"kernel": "chi2"}, "unknown kernel 'chi2', did you mean 'exp-chi2'? (kernels: exp-chi2,"),
    ({"n_frequencies": 0}, "n_frequencies=0: expected a whole number of at least 1"),
    ({"order": 101}, "order=101: expected a whole number from 0 to 100"),
    ({"sigma": 0.0}, "sigma=0.0: expected a positive number, or None to take it from the data"),
    ({"structure": "dens"}, "structure='dens': expected 'dense', 'orthogonal' or 'fastfood', did"),
    ({"C": 0}, "C=0: expected a positive number"),
    ({"loss": "hing"}, "loss='hing': expected 'hinge' or 'squared_hinge', did"),
    ({"class_weight": {0: -1.0}}, "class_weight={0: -1.0}: expected positive, finite factors"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ConfigError) as caught:
        RandomFeatureSVC(**parameters).fit(X, Y)
    assert str(caught.value).startswith(message)
    if not {"sigma", "structure", "class_weight"} & parameters.keys():
        with pytest.raises(ConfigError):  # before a block is read
            RandomFeatureSVC(**parameters).prepare_rows(None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [50, 300])
def test_scores_are_the_same_bits_on_any_number_of_threads(d, dtype):
    samples = np.random.default_rng(1).random((400, d)).astype(dtype)
    model = RandomFeatureSVC(n_frequencies=602, sigma=None).fit(samples, np.arange(400) % 6)
    assert_same_bits_on_any_threads(model.decision_function, samples, 20)
