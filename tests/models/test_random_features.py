"""RandomFeatureSVC: a linear model on a random map, and near the exact model."""

from types import SimpleNamespace

import numpy as np
import pytest
from contract import TO_A_TOLERANCE, contract
from scipy.sparse import csr_array, csr_matrix

from kmaps import GeneralizedRBFMap, KernelSVC, LiblinearSVC, RandomFeatureSVC, gram
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import mean_squared_distance
from kmaps.kernels import WIDTH_KERNELS
from kmaps.maps import RandomFourierMap
from tests.commands import python
from tests.models.test_landmarks import assert_same_bits_on_any_threads
from tests.samples import in_blocks

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(150, 6)).astype(np.float32)
X[X < 0.3] = 0
Y = np.digitize(X[:, 0] * X[:, 1] + RNG.normal(0, 0.05, 150), [0.3, 1])
WORDS = np.array(["low", "middle", "high"])[Y]


@contract(
    [
        RandomFeatureSVC(),
        RandomFeatureSVC("exp-js", 200, multiclass="ovo", order=2, loss="squared_hinge"),
        RandomFeatureSVC("exp-hellinger", 300, bias=0.0, structure="orthogonal"),
        RandomFeatureSVC("rbf", 300, C=10.0, sigma=2.0, structure="fastfood"),
    ],
    lambda estimator: TO_A_TOLERANCE,
)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


OF_MAP = {
    "exp-chi2": {},
    "exp-js": {"order": 2, "structure": "orthogonal"},
    "exp-intersection": {"order": 3, "sigma": 0.8},
    "exp-hellinger": {"structure": "fastfood"},
    "rbf": {"sigma": None, "random_state": 4},
}


@pytest.mark.parametrize("kernel", WIDTH_KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_as_liblinear_on_the_map(kernel, dtype):
    samples, of_map = X.astype(dtype), OF_MAP[kernel]
    settings = {"C": 3.0, "loss": "squared_hinge", "bias": 2.0, "class_weight": "balanced"}
    settings |= {"random_state": of_map.get("random_state", 0), "multiclass": "ovo"}
    model = RandomFeatureSVC(kernel, 90, tol=1e-7, **settings | of_map).fit(samples, WORDS)
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


@pytest.mark.parametrize(
    "kernel", ["exp-chi2", *(pytest.param(k, marks=pytest.mark.slow) for k in WIDTH_KERNELS[1:])]
)
def test_it_is_near_the_exact_model(kernel):
    """Near the Gram matrix of this kernel, not of another one, and near LIBSVM's scores on it."""
    exact = KernelSVC(kernel, C=1.0, multiclass="ovr").fit(X, Y == 2)
    model = RandomFeatureSVC(kernel, 8000, order=3, bias=10.0, tol=1e-4).fit(X, Y == 2)
    assert model.sigma_ == pytest.approx(exact.sigma_, rel=1e-6)
    assert model.sigma_**2 == pytest.approx(mean_squared_distance(X, kernel=kernel), rel=1e-6)
    Z = model.map_.transform(X)
    errors = {name: np.abs(Z @ Z.T - gram(X, kernel=name)).mean() for name in WIDTH_KERNELS}
    assert min(errors, key=errors.get) == kernel
    difference = np.abs(model.decision_function(X) - exact.decision_function(X)).max()
    assert difference < 0.3  # measured: 0.09 to 0.23; scores go from -2 to 2
    few = RandomFeatureSVC(kernel, 20, order=3, bias=10.0, tol=1e-4).fit(X, Y == 2)
    assert np.abs(few.decision_function(X) - exact.decision_function(X)).max() > 0.6


@pytest.mark.parametrize("form", [csr_matrix, csr_array])
def test_sparse_rows_are_as_good(form):
    dense, sparse = (
        RandomFeatureSVC(n_frequencies=200, loss="squared_hinge").fit(Z, Y).decision_function(Z)
        for Z in (X, form(X))
    )
    np.testing.assert_allclose(sparse, dense, atol=1e-3)


def test_seeds():
    def key(random_state):
        return RandomFeatureSVC(n_frequencies=3, random_state=random_state).fit(X, Y).map_.key_

    assert key(1) == key(1) == key(np.random.RandomState(1))
    assert len({key(1), key(2), key(None), key(None)}) == 4


def test_rows_prepared_in_blocks():
    model = RandomFeatureSVC("exp-js", 200, C=2.0)
    rows = model.prepare_rows(in_blocks(X))
    assert (len(rows), rows.n_features, rows.outputs.shape) == (150, 6, (150, 400))
    expected = RandomFeatureSVC("exp-js", 200, C=2.0).fit(X, Y)
    np.testing.assert_allclose(rows.outputs, expected.map_.transform(X), atol=1e-6)
    model.fit(rows, Y)
    np.testing.assert_allclose(model.map_coef_, expected.coef_, atol=1e-2)
    np.testing.assert_allclose(model.decision_function(rows), model.decision_function(X), atol=1e-5)
    with pytest.raises(InputError, match=r"labels of shape \(149,\) for 150 rows: need one"):
        model.fit(rows, Y[1:])
    model.fit(model.prepare_rows(in_blocks(X, 150)), Y)  # a single block makes the very model
    np.testing.assert_array_equal(model.map_coef_, expected.coef_)


def test_prepared_rows_are_single_and_taken_without_a_copy():
    samples = SimpleNamespace(blocks=lambda: [X.astype(np.float64)], sample=None)  # none is drawn
    rows = RandomFeatureSVC(n_frequencies=20, sigma=1.0).prepare_rows(samples)
    part = rows.take(np.array([5, 3, 100])).take(np.array([2, 0]))
    assert (part.outputs is rows.outputs, rows.outputs.dtype) == (True, np.float32)
    np.testing.assert_array_equal(part.in_single().outputs, rows.outputs[[100, 5]])
    assert rows.in_single().outputs is rows.outputs


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


def test_bad_samples():
    model = RandomFeatureSVC(n_frequencies=5)
    with pytest.raises(InputError, match="sigma cannot be estimated from equal rows"):
        model.fit(np.ones((9, 2)), [0, 1, 2] * 3)
    with pytest.raises(InputError, match="no samples: expected at least one row"):
        RandomFeatureSVC(sigma=1.0).prepare_rows(in_blocks(X[:0]))
    bad = X.copy()
    bad[60, 2] = np.nan
    with pytest.raises(InputError, match="Input contains NaN"):
        RandomFeatureSVC(sigma=1.0).prepare_rows(in_blocks(bad))
    wide = csr_matrix(([1.0], ([0], [1 << 22])), shape=(4, (1 << 22) + 1))
    message = "X has 4,194,305 features, and exponential kernels take at most 4,194,304: hash"
    with pytest.raises(InputError, match=message):
        RandomFeatureSVC(sigma=1.0).fit(wide, [0, 1, 0, 1])
    model.fit(X, Y)
    with pytest.raises(InputError, match="X has 5 features, but RandomFeatureSVC is expecting 6"):
        model.predict(X[:, :5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [50, 300])
def test_scores_are_the_same_bits_on_any_number_of_threads(d, dtype):
    samples = np.random.default_rng(1).random((400, d)).astype(dtype)
    model = RandomFeatureSVC(n_frequencies=602).fit(samples, np.arange(400) % 6)
    assert_same_bits_on_any_threads(model.decision_function, samples, 20)


def test_products_have_the_same_bits_where_processors_lack_avx512():
    lines = """
import numpy as np
from kmaps.matrix_product import product
from threadpoolctl import threadpool_limits
X = np.random.default_rng(1).random((599, 999), np.float32)
for n in 1, 2, 7: threadpool_limits(n); print(hash(product(X, X.T[:, :300]).tobytes()))"""
    assert len(set(python("-c", lines, OPENBLAS_CORETYPE="Haswell").split())) == 1
