"""Landmarks: the map against dense algebra, the model against exact ones, and its files."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from contract import TO_A_TOLERANCE, contract
from scipy.sparse import csr_array, csr_matrix, issparse
from scipy.special import xlogy
from sklearn.kernel_approximation import Nystroem
from threadpoolctl import threadpool_limits

from kmaps import KernelSVC, LandmarkMap, LandmarkSVC, gram, load_model, threads
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import mean_squared_distance, squared_distance
from kmaps.kernels import WIDTH_KERNELS
from kmaps.models import describe_model, mapped_rows
from kmaps.models.landmarks import jittered_inverse_root
from tests.models.test_files import assert_damaged, change
from tests.samples import in_blocks

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(150, 6)).astype(np.float32)
X[X < 0.3] = 0
Y = np.digitize(X[:, 0] * X[:, 1] + RNG.normal(0, 0.05, 150), [0.3, 1])


@contract(
    [
        LandmarkMap(n_landmarks=20),
        LandmarkMap("rbf", 20, "rpcholesky", sigma=2.0),
        LandmarkSVC(n_landmarks=20, sigma=None),
        LandmarkSVC("rbf", 20, landmarks="uniform"),
    ],
    lambda estimator: TO_A_TOLERANCE,
)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


CHOICES = ("kmeans", "uniform", "rpcholesky")
METRICS = {
    "exp-chi2": lambda x, y: (x - y) ** 2 / np.maximum(x + y, 1e-300),
    "exp-intersection": lambda x, y: abs(x - y),
    "exp-js": lambda x, y: (xlogy(x, x) + xlogy(y, y) - xlogy(x + y, (x + y) / 2)) / np.log(2),
    "exp-hellinger": lambda x, y: (np.sqrt(x) - np.sqrt(y)) ** 2,
    "rbf": lambda x, y: (x - y) ** 2,
}
SMALL = {"n_landmarks": 30, "sigma": 1.0, "tol": 1e-6, "max_iter": 2000}


def kernel_of(name, rows, others, sigma):
    """Return the kernel by the formula of its metric, in double precision."""
    x, y = rows.astype(float)[:, None], others.astype(float)[None]
    return np.exp(-METRICS[name](x, y).sum(axis=2) / (2 * sigma**2))


def nystroem(of_rows, of_landmarks, jitter=0.0):
    """Return K_nm (K_mm + jitter I)^+ K_mn by an eigendecomposition."""
    values, vectors = np.linalg.eigh(of_landmarks)
    values += jitter
    kept = values > 1e-9 * values[-1]
    outputs = of_rows @ (vectors[:, kept] / np.sqrt(values[kept]))
    return outputs @ outputs.T


@pytest.mark.parametrize("name", WIDTH_KERNELS)
@pytest.mark.parametrize("landmarks", CHOICES)
def test_inner_products_are_those_of_dense_algebra(name, landmarks):
    feature_map = LandmarkMap(name, 25, landmarks).fit(X)
    sigma, found = feature_map.sigma_, feature_map.landmarks_
    assert sigma**2 == pytest.approx(mean_squared_distance(X, kernel=name), rel=1e-6)
    values, own = (kernel_of(name, rows, found, sigma) for rows in (X, found))
    Z = feature_map.transform(X)
    assert (Z.shape, Z.dtype) == ((150, 25), np.float32)
    expected = nystroem(values, own)
    np.testing.assert_allclose(Z @ Z.T, nystroem(values, own, feature_map.jitter_), atol=1e-5)
    np.testing.assert_allclose(Z @ Z.T, expected, atol=2e-4)  # measured: 5e-5, the jitter's
    # What it would be without a root, with another width, or by the transposed factor.
    inverse = feature_map.whitening_
    for wrong in (
        Z @ inverse,
        LandmarkMap(name, 25, landmarks, sigma=sigma**2 + 1).fit(X).transform(X),
        values @ inverse.T,
    ):
        assert np.abs(wrong @ wrong.T - expected).max() > 0.05


def test_it_is_nystroem_of_scikit_learn():
    expected = Nystroem(kernel="rbf", gamma=0.5 / 1.3**2, n_components=20, random_state=0).fit(X)
    found = LandmarkMap("rbf").with_landmarks(expected.components_, 1.3)
    Z, W = found.transform(X), expected.transform(X)
    np.testing.assert_allclose(Z @ Z.T, W @ W.T, atol=1e-5)


@pytest.mark.parametrize("landmarks", CHOICES)
def test_all_samples_are_exact(landmarks):
    with pytest.warns(UserWarning, match="n_landmarks=999: all of the 150 samples are"):
        Z = LandmarkMap("exp-chi2", 999, landmarks).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, gram(X, kernel="exp-chi2"), atol=1e-5)


@pytest.mark.parametrize("name", WIDTH_KERNELS)
def test_the_model_of_all_samples_is_the_exact_one(name):
    """But for the intercept, which is regularised here: little with a large bias."""
    exact = KernelSVC(name, C=3.0, multiclass="ovr", tol=1e-5).fit(X, Y == 2)
    options = {"sigma": None, "bias": 5.0, "tol": 1e-5, "max_iter": 3000}
    model = LandmarkSVC(name, 150, 3.0, **options).fit(X, Y == 2)
    assert model.sigma_ == pytest.approx(exact.sigma_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=0.05)
    assert (model.predict(X) == exact.predict(X)).mean() > 0.99


def assert_same_bits_on_any_threads(function, samples, n):
    with threadpool_limits(1, user_api="blas"):
        expected = function(samples).tobytes()
    # This thread has the say over BLAS, so that the limits of the others do nothing.
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: function(samples).tobytes(), range(n)))
    assert found == [expected] * n


def test_outputs_are_the_same_bits_on_any_number_of_threads():
    samples = np.random.default_rng(1).gamma(1.0, size=(400, 8)).astype(np.float32)
    feature_map = LandmarkMap(n_landmarks=301, landmarks="uniform").fit(samples)
    assert_same_bits_on_any_threads(feature_map.transform, samples, 60)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("landmarks", CHOICES)
def test_threads_seeds_and_forms(landmarks, form):
    samples = np.tile(X, (8, 1)) * np.linspace(0.5, 1.5, 1200, dtype=np.float32)[:, None]
    outputs = []
    for n_threads in (1, 2):
        with threads(n_threads):
            outputs.append(LandmarkMap("exp-js", 40, landmarks).fit_transform(form(samples)))
    np.testing.assert_array_equal(*outputs)
    dense = LandmarkMap("exp-js", 40, landmarks).fit_transform(samples)
    np.testing.assert_allclose(outputs[0], dense, atol=2e-3)
    other = LandmarkMap("exp-js", 40, landmarks, random_state=1)
    assert np.abs(other.fit_transform(samples) - dense).max() > 0.01


def test_pivots_find_every_cluster():
    """Uniform landmarks miss the small ones; pivots, one of which is enough, do not."""
    sizes = [400, 300, 200, 2, 2, 2, 2, 2]
    places = np.repeat(np.eye(8, dtype=np.float32), sizes, axis=0)
    samples = places + RNG.uniform(0, 1e-7, places.shape).astype(np.float32)
    for seed in range(5):
        found = LandmarkMap("exp-chi2", 8, "rpcholesky", 0.3, seed).fit(samples).landmarks_
        assert len(set(found.argmax(axis=1).tolist())) == 8
    uniform = LandmarkMap("exp-chi2", 8, "uniform", 0.3).fit(samples).landmarks_
    assert len(set(uniform.argmax(axis=1).tolist())) < 8


@pytest.mark.parametrize("landmarks", CHOICES)
def test_identical_rows_and_repeated_landmarks(landmarks):
    repeated = np.repeat(X[:10], 15, axis=0)
    feature_map = LandmarkMap("exp-chi2", 40, landmarks).fit(repeated)
    Z = feature_map.transform(repeated)
    exact = gram(repeated, kernel="exp-chi2", sigma=feature_map.sigma_)
    assert np.isfinite(Z).all()
    if landmarks == "rpcholesky":  # which has all ten
        np.testing.assert_allclose(Z @ Z.T, exact, atol=1e-4)
    assert (exact + 1e-3 >= Z @ Z.T).mean() > 0.3
    same = LandmarkMap("exp-chi2", 5, landmarks, sigma=1.0).fit_transform(np.ones((20, 3)))
    np.testing.assert_allclose(same @ same.T, 1, atol=1e-5)


def test_the_jitter_is_the_least_that_does():
    root, jitter = jittered_inverse_root(np.eye(3))
    assert jitter == 1e-6
    np.testing.assert_allclose(root, np.eye(3), atol=1e-6)
    negative = np.diag([1.0, 1.0, -3e-6])
    root, jitter = jittered_inverse_root(negative)
    assert jitter == pytest.approx(1e-5)
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(negative + 1e-5 * np.eye(3)), rtol=1e-5)
    with pytest.raises(InputError, match="not positive definite on the landmarks"):
        jittered_inverse_root(np.diag([1.0, -0.1]))


BAD = [
    ({"kernel": "chi2"}, "unknown kernel 'chi2', did you mean 'exp-chi2'? (kernels: exp-chi2,"),
    ({"n_landmarks": 0}, "n_landmarks=0: expected a whole number of at least 1"),
    ({"landmarks": "kmean"}, "landmarks='kmean': expected 'uniform', 'kmeans' or 'rpcholesky',"),
    ({"sigma": 0.0}, "sigma=0.0: expected a positive number, or None to take it from the data"),
    ({"sigma": np.inf}, "sigma=inf: expected a positive number, or None to take it from the data"),
    ({"C": 0}, "C=0: expected a positive number"),
    ({"loss": "logistic"}, "loss='logistic': expected 'hinge' or 'squared_hinge'"),
    ({"tol": 0}, "tol=0: expected a positive number"),
    ({"max_iter": 0}, "max_iter=0: expected a whole number of at least 1"),
    ({"bias": -1}, "bias=-1: expected a number of at least 0"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ConfigError) as caught:
        LandmarkSVC(**{"sigma": None, **parameters}).fit(X, Y)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_bad_samples():
    for model in (LandmarkMap(), LandmarkSVC(sigma=None), LandmarkSVC(C="auto")):
        with pytest.raises(InputError, match="sigma cannot be estimated from equal rows"):
            model.fit(np.ones((9, 2)), [0, 1, 2] * 3)
    wide = csr_array(([1.0], ([0], [1 << 22])), shape=(9, 1 << 23))
    with pytest.raises(InputError, match="the centres of k-means are dense, and 64 with 8,388,60"):
        LandmarkMap(n_landmarks=64, sigma=1.0).fit(csr_array((100, 1 << 23)))
    with pytest.raises(InputError, match="8,388,608 features, and exponential kernels take"):
        LandmarkSVC(sigma=1.0).fit(wide, [0, 1, 2] * 3)


def test_kernel_values_and_outputs_have_the_same_scores(monkeypatch):
    model = LandmarkSVC(**SMALL).fit(X, Y)
    rows = model.prepare_rows(in_blocks(X, 40))
    np.testing.assert_allclose(model.decision_function(rows), model.decision_function(X), atol=1e-4)
    monkeypatch.setattr(mapped_rows, "MOST_VALUES", 100)  # in a file
    again = LandmarkSVC(**SMALL).fit(X, Y)
    assert (again.encoded_bytes_, model.encoded_bytes_) == (0, 4 * 150 * 30)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=0.02)


def test_a_warm_start_ends_at_the_same_model_sooner():
    cold = LandmarkSVC(C=10.0, **SMALL).fit(X, Y)
    warm = LandmarkSVC(C=8.0, warm_start=True, **SMALL).fit(X, Y).set_params(C=10.0).fit(X, Y)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=0.01)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize(
    "options", [{}, {"C": "auto", "sigma": "auto"}, {"probability": "sigmoid"}]
)
def test_a_file_has_the_very_scores(options, form, tmp_path):
    samples, path = form(X.astype(np.float64)), tmp_path / "m.npz"
    model = LandmarkSVC(landmarks="uniform", **SMALL | options).fit(samples, Y > 0)
    model.save(path)
    loaded, found = load_model(path), describe_model(path)
    for rows in (X, samples):
        np.testing.assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))
    if "probability" in options:
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert (loaded.sigma, loaded.model_bytes_) == (model.sigma_, model.model_bytes_)
    expected = ["LandmarkSVC", None, model.sigma_, 30]
    assert [found[k] for k in ("estimator", "levels", "sigma", "n_landmarks")] == expected
    assert found["C"] == (model.C_ if options.get("C") else 1.0)


BROKEN = {
    "a row too many": ({"parameters": {"n_landmarks": 29}}, "landmarks has 30 rows, more than 29"),
    "another width": ({"fitted": {"sigma": 2.0}}, "sigma is 2.0, expected the width that was"),
    "no width": ({"fitted": {"sigma": None}, "parameters": {"sigma": None}}, "sigma is None, expe"),
    "a negative width": ({"fitted": {"sigma": -1.0}, "parameters": {"sigma": -1.0}}, "sigma is -1"),
    "a kernel": ({"parameters": {"kernel": "chi2"}}, "unknown kernel 'chi2'"),
    "a choice": ({"parameters": {"landmarks": "all"}}, "landmarks='all': expected"),
    "other features": ({"fitted": {"n_features": 5}}, "landmarks is float32 of shape (30, 6), exp"),
    "fewer weights": (
        {"landmark_coef": lambda a: a[:, 1:]},
        "landmark_coef is float64 of shape (3",
    ),
    "landmarks twice": ({"landmarks_data": lambda a: np.ones(3)}, "it has no landmarks_indices"),
    "another array": ({"basis": lambda a: np.ones(3)}, "LandmarkSVC has no basis"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_damaged_file_is_refused(kind, tmp_path):
    LandmarkSVC(**SMALL).fit(X, Y).save(tmp_path / "m.npz")
    changes, message = BROKEN[kind]
    change(tmp_path / "m.npz", **changes)
    assert_damaged(tmp_path / "m.npz", message)


@pytest.mark.parametrize("wrong", [lambda a: a + 100, lambda a: a[::-1]], ids=["outside", "order"])
@pytest.mark.parametrize("name", ["indices", "indptr"])
def test_sparse_landmarks_are_checked(name, wrong, tmp_path):
    LandmarkSVC(landmarks="uniform", **SMALL).fit(csr_array(X), Y).save(tmp_path / "m.npz")
    change(tmp_path / "m.npz", **{f"landmarks_{name}": wrong})
    if (name, wrong(np.arange(3))[0]) == ("indices", 2):
        load_model(tmp_path / "m.npz").predict(X)  # other landmarks, but landmarks
        return
    assert_damaged(tmp_path / "m.npz", "landmarks")


def test_distances_are_outputs():
    feature_map = LandmarkMap("exp-chi2", 20).fit(X)
    squared = squared_distance(X, feature_map.landmarks_, kernel="exp-chi2")
    narrow = feature_map.with_sigma(0.7)
    fitted = LandmarkMap("exp-chi2", 20, sigma=0.7).fit(X)
    np.testing.assert_allclose(narrow.of_distances(squared), fitted.transform(X), atol=1e-3)
    assert feature_map.sigma_ != 0.7


@pytest.mark.parametrize("landmarks", ["kmeans", "uniform", "rpcholesky"])
@pytest.mark.parametrize("kernel", ["exp-chi2", "rbf"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_have_the_landmarks_of_dense_ones(landmarks, kernel, index):
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((150, 12)) < 0.3, rng.gamma(1.0, size=(150, 12)), 0)
    dense = dense.astype(np.float32)
    sparse = csr_matrix(dense)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    both = [LandmarkMap(kernel, 20, landmarks).fit(rows).landmarks_ for rows in (dense, sparse)]
    found = [rows.toarray() if issparse(rows) else rows for rows in both]
    np.testing.assert_array_equal(*found)
