"""KernelSVC(solver="smo") against LIBSVM: objectives, intercepts, data that are not nice."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from kmaps import KernelSVC, load_model, threads
from kmaps.svm import smo
from tests.models.test_files import assert_damaged, change

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(400, 5)).astype(np.float32)
Y = np.digitize(X[:, 0] - X[:, 1] + RNG.normal(0, 0.7, 400), [-0.4, 0.4])
# By NumPy: what is compiled here is compiled by each worker at the same time.
K = np.exp(-((X[:, None] - X) ** 2 / (X[:, None] + X)).sum(axis=2) / 2)  # exp-chi2


def objectives(model, matrix, y, weights=None):
    """Return the dual objective of each problem, summed plainly, and check that it is feasible."""
    weights = np.ones(len(y)) if weights is None else weights
    dual = np.zeros((len(y), len(model.intercept_)))
    dual[model.support_] = model.dual_coef_.toarray()
    # Measured: up to 1e-13, as LIBSVM's.
    np.testing.assert_allclose(dual.sum(axis=0), 0, atol=1e-9 * model.C)
    assert (np.abs(dual) <= model.C * weights[:, None]).all()
    return np.abs(dual).sum(axis=0) - np.einsum("ip,ij,jp->p", dual, matrix.astype(float), dual) / 2


def both(matrix, y, weights=None, **given):
    """Return the models of both solvers, and the objectives of both."""
    ours, theirs = (
        KernelSVC("precomputed", solver=solver, **given).fit(matrix, y, weights)
        for solver in ("smo", "libsvm")
    )
    found = [objectives(model, matrix, y, weights) for model in (ours, theirs)]
    return ours, theirs, *found


@pytest.mark.parametrize("reduction", ["ovo", "ovr"])
@pytest.mark.parametrize("C", [0.03, 1.0, 100.0, 1e4])
def test_objectives_are_libsvms(C, reduction):
    ours, _, found, expected = both(K, Y, C=C, multiclass=reduction)
    # Measured: 3e-5.
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    # The tolerance leaves 0.001 of the loss of each sample open.
    assert (ours.duality_gap_ * found / (1 - ours.duality_gap_) < 1e-3 * C * len(Y)).all()
    tight = both(K, Y, C=C, multiclass=reduction, tol=1e-7)
    np.testing.assert_allclose(tight[2], tight[3], rtol=1e-8)
    assert (tight[0].duality_gap_ >= 0).all()
    assert (tight[0].duality_gap_ < 1e-5).all()
    scores = (model.decision_function(K) for model in tight[:2])
    np.testing.assert_allclose(*scores, atol=1e-4)


def test_the_gap_is_between_primal_and_dual():
    model = KernelSVC("precomputed", C=3.0, tol=0.1).fit(K, Y > 0)
    dual = objectives(model, K, Y)
    signs, scores = np.where(Y > 0, 1, -1), model.decision_function(K)
    vector = model.dual_coef_.toarray()[:, 0]
    square = vector @ K[np.ix_(model.support_, model.support_)].astype(float) @ vector
    primal = square / 2 + 3 * np.maximum(0, 1 - signs * scores).sum()
    assert model.duality_gap_[0] > 1e-3
    assert model.duality_gap_ == pytest.approx((primal - dual) / primal, rel=1e-4)


@pytest.mark.parametrize("cache_mb", [1e-6, 0.02, 200])
@pytest.mark.parametrize("period", [7, 1000])
def test_shrinking_and_room_change_nothing_but_time(monkeypatch, cache_mb, period):
    """Two rows at once, some and all; variables that leave early, and must come back."""
    expected = KernelSVC("precomputed", C=10.0, tol=1e-6).fit(K, Y)
    shrunk = []
    activate = smo._PairDescent._activate

    def watched(self, active):
        shrunk.append(len(active) < len(self._dual))
        activate(self, active)

    monkeypatch.setattr(smo._PairDescent, "_activate", watched)
    monkeypatch.setattr(smo, "_PERIOD", period)
    found = KernelSVC("precomputed", C=10.0, tol=1e-6, cache_mb=cache_mb).fit(K, Y)
    assert any(shrunk)
    np.testing.assert_allclose(objectives(found, K, Y), objectives(expected, K, Y), rtol=1e-7)
    np.testing.assert_allclose(found.decision_function(K), expected.decision_function(K), atol=1e-4)


@pytest.mark.parametrize("reduction", ["ovo", "ovr"])
def test_the_same_bits_on_any_number_of_threads(reduction):
    model = KernelSVC("exp-chi2", C=3.0, multiclass=reduction, probability="sigmoid")
    found = []
    for n in (1, 2, 5):
        with threads(n):
            fitted = clone(model).fit(X, Y)
            found.append((fitted.decision_function(X), fitted.predict_proba(X)))
    for scores, probabilities in found[1:]:
        np.testing.assert_array_equal(scores, found[0][0])
        np.testing.assert_array_equal(probabilities, found[0][1])


DEGENERATE = {
    "one class nearly absent": (K, np.arange(400) == 17),
    "identical rows": (np.ones((40, 40), np.float32), np.arange(40) % 3),
    "rows of both classes twice": (np.kron(K[:20, :20], np.ones((4, 4))), np.arange(80) % 2),
    "a kernel of zero": (np.zeros((30, 30), np.float32), np.arange(30) % 2),
    "two rows": (np.eye(2, dtype=np.float32), np.array([0, 1])),
    "large values": (K * np.float32(1e30), Y),
    "small values": (K * np.float32(1e-30), Y),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_problems_have_libsvms_objective(name):
    matrix, y = DEGENERATE[name]
    ours, theirs, found, expected = both(matrix, y, C=1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert np.isfinite(ours.decision_function(matrix)).all()
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("solver", ["smo", "libsvm"])
def test_a_model_in_a_file(tmp_path, form, solver):
    model = KernelSVC("exp-js", C=3.0, solver=solver, probability=True).fit(form(X), Y)
    model.save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert type(loaded) is KernelSVC
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for name in ("sigma_", "n_features_in_", "model_bytes_"):
        assert getattr(loaded, name) == getattr(model, name)
    np.testing.assert_array_equal(loaded.support_, model.support_)
    loaded.save(tmp_path / "again.npz")
    again = load_model(tmp_path / "again.npz")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dual_coef_data": lambda a: a[:-1]}, "dual_coef_indices is int32 of shape ("),
        ({"dual_coef_indptr": lambda a: a[::-1]}, "dual_coef: "),
        ({"dual_coef_indices": lambda a: a + 400}, "dual_coef_indices has values that are not fr"),
        ({"support_vectors": lambda a: a[:, :4]}, "support_vectors is float32 of shape (8"),
        ({"support": lambda a: a[:-1]}, "support is int64 of shape ("),
        ({"intercept": lambda a: a[:2]}, "intercept is float64 of shape (2,), expected float64"),
        ({"coef": lambda a: np.ones(3)}, "KernelSVC has no coef"),
        ({"parameters": {"kernel": "chi2"}}, "kernel 'chi2' has no sigma, only rbf"),
        ({"parameters": {"kernel": "precomputed"}}, "unknown kernel 'precomputed'"),
        ({"parameters": {"solver": "svm"}}, "solver='svm': expected 'smo' or 'libsvm'"),
        ({"parameters": {"multiclass": ["ovr"]}}, "multiclass=['ovr']: expected 'ovr' or 'ovo'"),
        ({"parameters": {"gamma": 0}}, "gamma=0: expected a positive number"),
        ({"fitted": {"sigma": float("nan")}}, "sigma=nan: expected a positive number"),
        ({"fitted": {"sigma": None}}, "sigma=None: expected a positive number"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, changes, message):
    path = tmp_path / "m.npz"
    KernelSVC("exp-chi2", sigma=None).fit(X[:100], Y[:100]).save(path)
    change(path, **changes)
    assert_damaged(path, message)
