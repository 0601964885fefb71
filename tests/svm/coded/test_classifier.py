"""CodedSVC against LIBLINEAR on the same features, a quadratic programme, and its contract."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import kmaps
from kmaps.maps import MAPS
from tests.oracles import machines

# Each with a C for which LIBLINEAR can reach the optimum.
ADDITIVE = [
    (kmaps.HomogeneousMap(order=1), 1.0),
    (kmaps.HomogeneousMap("js", order=3), 1.0),
    (kmaps.AnchorMap(n_anchors=12, energy=1.0), 1.0),
    (kmaps.AnchorMap("js", n_anchors=20, anchors="kmeans", n_neighbors=2), 1.0),
    (kmaps.NystroemMap("chi2", dim=4), 1.0),
    (kmaps.IntersectionMap(n_bins=15), 1.0),
    (kmaps.IntersectionMap(n_bins=9, piece="constant"), 1.0),
    (kmaps.ExactMap("intersection"), 0.1),
    (kmaps.SplineMap(n_bins=6, degree=0, penalty=1), 0.1),
    (kmaps.SplineMap(n_bins=6, degree=1, penalty=0), 1.0),
    (kmaps.SplineMap(n_bins=40, degree=2, penalty=0), 1.0),
    (kmaps.SplineMap(n_bins=8, degree=1, penalty=1), 0.1),
    (kmaps.SplineMap(n_bins=40, degree=3, penalty=1), 0.01),
    (kmaps.SplineMap(n_bins=6, degree=2, penalty=2), 0.001),
    (kmaps.FourierMap(degree=4), 1.0),
    (kmaps.HermiteMap(degree=4), 0.1),
    (kmaps.LowDimMap(dim=5), 0.1),
    (kmaps.SameSignMap(order=1), 1.0),
]
LOSSES = ("hinge", "squared_hinge")


def long_to_compile(feature_map):
    """Mark as slow what has loops of its own beside a map that shares those of others."""
    own = getattr(feature_map, "degree", 0) >= 2 or getattr(feature_map, "n_neighbors", 1) == 2
    return [pytest.mark.slow] if own else []


def nearest(X, levels):
    """Return the number of the level nearest to each value, by looking at all of them."""
    levels = np.broadcast_to(levels, (X.shape[1], levels.shape[1]))
    distances = np.abs(X[:, :, None].astype(float) - levels[None])
    # The last of the nearest, which may be two, or repeated.
    return (levels.shape[1] - 1 - distances[:, :, ::-1].argmin(axis=2)).astype(np.uint8)


def features(model, X):
    return kmaps.LookupTable(model.map_.tabulate(model.levels_)).take(nearest(X, model.levels_))


def best_linear(E, signs, C, loss, bias=1.0, class_weight=None):
    """Return scikit-learn's weights, the bias feature's last, to a tight tolerance."""
    fixed = {"dual": True, "tol": 1e-7, "max_iter": 2_000_000, "random_state": 0}
    given = {"intercept_scaling": bias, "class_weight": class_weight}
    other = LinearSVC(C=C, loss=loss, **given, **fixed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        other.fit(E, signs)
    return np.append(other.coef_, other.intercept_ / bias)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("feature_map", "C"),
    [pytest.param(*given, id=str(given[0]), marks=long_to_compile(given[0])) for given in ADDITIVE],
)
def test_objective_is_liblinears(histograms, feature_map, C, loss):
    X, y = histograms
    C = C if loss == "hinge" else C / 4
    model = kmaps.CodedSVC(feature_map, C, loss=loss, bias=2.0).fit(X, y)
    E = np.hstack([features(model, X), np.full((len(X), 1), 2.0)])
    signs = np.where(y == 1, 1.0, -1.0)
    w = best_linear(E[:, :-1], signs, C, loss, bias=2.0)
    costs = np.full(len(y), C)
    best = machines.primal(w @ w, signs * (E @ w), costs, loss)
    assert model.duality_gap_[0] <= 1e-4
    assert -1e-5 < model.objective_[0] / best - 1 <= 1e-4
    scores = model.decision_function(X)
    assert np.abs(scores - E @ w).max() < 0.02  # measured: 0.011
    # The scores belong to the objective.
    loss_of_scores = machines.primal(0, signs * scores, costs, loss)
    assert loss_of_scores < model.objective_[0]
    assert (model.predict(X) == (scores > 0)).all()


def test_every_additive_map_was_tried():
    additive = {map_class for map_class in MAPS.values() if hasattr(map_class, "tabulate")}
    assert {type(feature_map) for feature_map, _ in ADDITIVE} == additive


@pytest.mark.parametrize("kernel", ["chi2", "js", "intersection", "hellinger"])
@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_are_exact(histograms, kernel, loss):
    X, y = histograms
    model = kmaps.CodedSVC(kernel, C=1.0, loss=loss).fit(X, y)
    assert model.levels_.shape == (1, 256)
    rounded = model.levels_[0][nearest(X, model.levels_)]
    kernel_matrix = kmaps.gram(rounded, kernel=kernel) + 1
    signs = np.where(y == 1, 1.0, -1.0)
    alpha, dual = machines.solve_dual(kernel_matrix, signs, np.ones(len(y)), loss)
    assert model.objective_[0] * (1 - model.duality_gap_[0]) == pytest.approx(dual, rel=1e-3)
    assert model.objective_[0] == pytest.approx(dual, rel=1e-3)
    scores = kernel_matrix @ (alpha * signs)
    assert np.abs(model.decision_function(X) - scores).max() < 0.015  # measured: 0.011
    # The levels are fine enough for new samples.
    new = (X[:50] + X[50:100]) / 2
    expected = kmaps.gram(new, rounded, kernel=kernel) @ (alpha * signs) + (alpha * signs).sum()
    assert np.abs(model.decision_function(new) - expected).max() < 0.03  # measured: 0.011


def test_sparse_bins_are_trained_with_their_regularizer(histograms):
    """The machine of two hats a value, with wᵀHw, is that of LIBLINEAR on the unary form."""
    X, y = histograms
    bins = kmaps.IntersectionMap(8, sparse=True, upper=1.0)
    model = kmaps.CodedSVC(bins, C=0.3, tol=1e-5).fit(X, y)
    assert model.map_.transform(X[:1]).nnz <= 2 * X.shape[1]
    unary = make_pipeline(
        kmaps.IntersectionMap(8, upper=1.0), kmaps.LiblinearSVC(0.3, loss="hinge", tol=1e-6)
    )
    scores = unary.fit(X, y).decision_function(X)
    # Measured: 0.01, by the levels.
    assert np.abs(model.decision_function(X) - scores).max() < 0.03
    plain = make_pipeline(bins, kmaps.LiblinearSVC(0.3, loss="hinge"))
    assert np.abs(plain.fit(X, y).decision_function(X) - scores).max() > 0.1


def test_listed_and_dense_codes_give_the_same_machine(digits):
    X, y = digits
    thin = X * (X > 0.7)
    listed = kmaps.CodedSVC("chi2", 0.1, tol=1e-5).fit(thin, y)
    sparse_in = kmaps.CodedSVC("chi2", 0.1, tol=1e-5).fit(sparse.csr_array(thin), y)
    # A kernel of which nothing is zero: no code can be left out.
    shifted = kmaps.CodedSVC(
        kmaps.ExactMap(lambda x, y: 2 * x * y / np.maximum(x + y, 1e-9)), 0.1, tol=1e-5
    )
    dense = shifted.fit(thin + 0, y)
    stored = int((thin > 0).sum())
    for model in (listed, sparse_in, dense):
        assert model.codes_bytes_ == 3 * stored + 8 * (len(y) + 1)
    full = kmaps.CodedSVC("chi2", 0.1, tol=1e-5).fit(X, y)
    assert full.codes_bytes_ == X.size + 8 * (len(y) + 1)
    np.testing.assert_array_equal(listed.model_.weights, sparse_in.model_.weights)
    for form in (np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        scores = sparse_in.decision_function(form(thin))
        np.testing.assert_allclose(scores, listed.decision_function(thin), atol=1e-5)
    # Rows listed during training, dense at prediction, and the other way round.
    np.testing.assert_allclose(listed.decision_function(X[:9]), _by_hand(listed, X[:9]), atol=1e-4)
    np.testing.assert_allclose(full.decision_function(thin), _by_hand(full, thin), atol=1e-4)


def _by_hand(model, X):
    codes = nearest(X, model.levels_)
    values = model.model_.tables.values()
    return values[np.arange(X.shape[1]), codes].sum(axis=1) + model.model_.intercept


def test_csr_whose_zeros_do_not_map_to_zero(digits):
    X, y = digits
    feature_map = kmaps.SplineMap(n_bins=5, degree=1, penalty=1)
    dense = kmaps.CodedSVC(feature_map, 0.1, tol=1e-5).fit(X, y)
    thin = kmaps.CodedSVC(feature_map, 0.1, tol=1e-5).fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.model_.weights, thin.model_.weights)
    np.testing.assert_array_equal(
        dense.decision_function(X), thin.decision_function(sparse.csr_array(X))
    )


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_same_model_on_any_number_of_threads(digits, n_blocks):
    models = []
    for n in (1, 2, 3):
        with kmaps.threads(n):
            models.append(kmaps.CodedSVC("chi2", 0.1, n_blocks=n_blocks).fit(*digits))
        assert (models[-1].n_blocks_ == n_blocks).all()
    for model in models[1:]:
        assert model.model_.weights.tobytes() == models[0].model_.weights.tobytes()
        np.testing.assert_array_equal(model.model_.intercept, models[0].model_.intercept)


def test_the_seed_is_the_order(digits):
    first, same, other = (
        kmaps.CodedSVC("chi2", 0.1, random_state=s).fit(*digits) for s in (3, 3, 4)
    )
    assert first.model_.weights.tobytes() == same.model_.weights.tobytes()
    assert first.model_.weights.tobytes() != other.model_.weights.tobytes()
    np.testing.assert_allclose(first.objective_, other.objective_, rtol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_from_warm_starts_is_cheap(digits, loss):
    grid = (0.01, 0.02, 0.05, 0.1, 0.2)
    model = kmaps.CodedSVC("chi2", loss=loss, warm_start=True)
    passes, cold_passes = 0, 0
    for C in grid:
        model.set_params(C=C).fit(*digits)
        cold = kmaps.CodedSVC("chi2", C, loss=loss).fit(*digits)
        np.testing.assert_allclose(model.objective_, cold.objective_, rtol=1e-3)
        assert (model.duality_gap_ <= 1e-3).all()
        passes, cold_passes = passes + model.n_iter_.sum(), cold_passes + cold.n_iter_.sum()
    assert passes < 0.97 * cold_passes
    # The same problem again: one pass to see that nothing is left to do.
    assert (model.fit(*digits).n_iter_ == 1).all()
    # Other data: nothing to start from.
    fewer = clone(model).fit(digits[0][:99], digits[1][:99])
    again = model.fit(digits[0][:99], digits[1][:99])
    assert again.model_.weights.tobytes() == fewer.model_.weights.tobytes()
