"""Landmarks: the map against dense algebra, the model against exact ones, and its files."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from contract import TO_A_TOLERANCE, contract
from scipy.sparse import csr_array, csr_matrix, issparse
from scipy.special import xlogy
from threadpoolctl import threadpool_limits

from kmaps import KernelSVC, LandmarkMap, LandmarkSVC, load_model, threads
from kmaps.errors import ConfigError
from kmaps.gram_matrix import mean_squared_distance
from kmaps.kernels import WIDTH_KERNELS
from kmaps.models import describe_model
from tests.models.test_files import assert_damaged, change
from tests.samples import in_blocks

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(150, 6)).astype(np.float32)
X[X < 0.3] = 0
Y = np.digitize(X[:, 0] * X[:, 1] + RNG.normal(0, 0.05, 150), [0.3, 1])


# Its kernel refuses negative values; RandomFeatureSVC has the same `fit`.
@contract(
    [LandmarkMap(n_landmarks=20), LandmarkSVC(n_landmarks=20, sigma=None)],
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


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({}, csr_array),
        ({"C": "auto", "sigma": 1.0}, np.asarray),
        ({"probability": "sigmoid"}, np.asarray),
    ],
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


def test_rows_in_blocks_have_the_landmarks_of_a_sample_of_all():
    rows = LandmarkSVC(**SMALL).prepare_rows(in_blocks(X))
    whole = LandmarkMap(n_landmarks=30, sigma=1.0).fit(X)
    np.testing.assert_array_equal(rows.map.landmarks_, whole.landmarks_)


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


@pytest.mark.parametrize(
    ("landmarks", "kernel", "index"),
    [
        ("kmeans", "exp-chi2", np.int32),
        ("kmeans", "rbf", np.int64),
        ("uniform", "exp-chi2", np.int64),
        ("rpcholesky", "exp-chi2", np.int32),
        ("rpcholesky", "rbf", np.int64),
    ],
)
def test_sparse_rows_have_the_landmarks_of_dense_ones(landmarks, kernel, index):
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((150, 12)) < 0.3, rng.gamma(1.0, size=(150, 12)), 0)
    dense = dense.astype(np.float32)
    sparse = csr_matrix(dense)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    both = [LandmarkMap(kernel, 20, landmarks).fit(rows).landmarks_ for rows in (dense, sparse)]
    found = [rows.toarray() if issparse(rows) else rows for rows in both]
    np.testing.assert_array_equal(*found)
