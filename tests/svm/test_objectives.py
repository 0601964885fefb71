"""Objectives of every learner on random problems, against general solvers of the same problems."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone

import kmaps
from tests.oracles import machines
from tests.oracles.groups import best_objective

# Each with how far above the optimum its tolerance lets it end, relatively.
LEARNERS = [
    (kmaps.LiblinearSVC(loss="hinge", tol=1e-5, max_iter=10**6), 1e-3),
    (kmaps.CodedSVC(tol=1e-5, max_iter=20_000), 2e-5),
    (kmaps.GroupLassoSVC(tol=1e-5, max_iter=2000), 2e-5),
    (kmaps.KernelSVC(solver="libsvm", tol=1e-6), 1e-4),
    (kmaps.CodedSVR(tol=1e-5, max_iter=20_000), 2e-5),
    (kmaps.LiblinearSVC(loss="squared_hinge", tol=1e-6), 1e-4),
    (kmaps.LiblinearSVC(loss="logistic", tol=1e-6), 1e-4),
    (kmaps.LiblinearSVC(penalty="l1", loss="squared_hinge", tol=1e-6), 1e-4),
    (kmaps.LiblinearSVC(penalty="l1", loss="logistic", tol=1e-6), 1e-4),
    (kmaps.CodedSVC(loss="squared_hinge", tol=1e-5, max_iter=20_000), 2e-5),
    (kmaps.CodedSVC(loss="logistic", tol=1e-5, max_iter=20_000), 2e-5),
    (kmaps.CodedSVC(penalty="l1", tol=1e-5, max_iter=2000), 2e-5),
    (kmaps.CodedSVC(penalty="l1", loss="squared_hinge", tol=1e-5, max_iter=2000), 2e-5),
    (kmaps.GroupLassoSVC(loss="hinge", tol=1e-5, max_iter=2000), 2e-5),
    (kmaps.CodedSVR(loss="squared_epsilon_insensitive", tol=1e-5, max_iter=20_000), 2e-5),
    (kmaps.CodedRidge(tol=1e-5, max_iter=20_000), 2e-5),
    (kmaps.RandomFeatureSVC(n_frequencies=10, sigma=1.0, tol=1e-6, max_iter=10**6), 1e-3),
    (kmaps.RandomFeatureSVC(n_frequencies=10, sigma=1.0, loss="squared_hinge", tol=1e-6), 1e-4),
    (kmaps.LandmarkSVC(n_landmarks=10, sigma=1.0, tol=1e-5, max_iter=20_000), 2e-5),
    (
        kmaps.LandmarkSVC("rbf", 10, sigma=1.0, loss="squared_hinge", tol=1e-5, max_iter=20_000),
        2e-5,
    ),
    (kmaps.KernelSVC(tol=1e-6), 2e-5),
]
REGRESSORS = kmaps.CodedSVR, kmaps.CodedRidge
CODED = kmaps.CodedSVC, *REGRESSORS


def drawn(seed):
    """Return a learner with parameters of any kind, samples, labels or targets, weights, a gap."""
    rng = np.random.default_rng(seed)
    model, gap = LEARNERS[seed % len(LEARNERS)]
    n, d = rng.integers(15, 31), rng.integers(1, 5)
    # Four values have four columns at most, so that no table leaves anything out.
    X = rng.integers(0, 4, (n, d)) / rng.choice([1, 5])
    chosen = {"bias": rng.choice([0.0, 0.5, 1.0, 3.0]), "C": 10 ** rng.uniform(-1.5, 1)}
    if isinstance(model, kmaps.CodedRidge):
        chosen["alpha"] = chosen.pop("C")
    elif not isinstance(model, kmaps.CodedSVR):
        k = rng.integers(2, 4)
        chosen["multiclass"] = rng.choice(["ovr", "ovo"])
        balance = [None, "balanced", dict(enumerate(10 ** rng.uniform(-0.5, 0.5, k)))]
        chosen["class_weight"] = balance[rng.integers(3)]
    if isinstance(model, kmaps.CodedSVR):
        chosen["epsilon"] = rng.choice([0.0, 0.1, 0.5])
    if isinstance(model, (kmaps.CodedSVC, *REGRESSORS)):
        maps = ["chi2", "intersection", "js", kmaps.HomogeneousMap("chi2")]
        chosen["map"] = maps[rng.integers(len(maps))]
        if getattr(model, "penalty", "l2") == "l2":
            chosen["form"] = rng.choice(["auto", "low-rank", "full"])
    if isinstance(model, kmaps.CodedSVC) and model.penalty == "l2":
        chosen["n_blocks"] = int(rng.integers(1, 4))
    if isinstance(model, kmaps.KernelSVC):
        chosen["kernel"], chosen["sigma"] = [("chi2", None), ("exp-js", 1.0)][rng.integers(2)]
    if isinstance(model, kmaps.LiblinearSVC) and model.loss != "hinge":
        chosen["max_iter"] = [None, 10**6][rng.integers(2)]  # by either build of LIBLINEAR
    chosen["group_size"] = int(rng.integers(1, 4))
    known = model.get_params()
    chosen = {name: value for name, value in chosen.items() if name in known}
    signal = np.sin(3 * X).sum(axis=1) + rng.normal(0, 0.5, n)
    y = signal
    if not isinstance(model, REGRESSORS):
        y = np.argsort(np.argsort(signal)) * k // n
    kinds = np.ones(n), rng.integers(0, 4, n).astype(float), rng.random(n)
    weights = kinds[rng.integers(3)]
    weights[np.unique(y, return_index=True)[1]] = 1  # some sample of each class counts
    if isinstance(model, kmaps.LiblinearSVC) and (model.penalty, model.loss) == ("l1", "logistic"):
        weights[:] = 2  # it takes no others
    return clone(model).set_params(**chosen), X, y, weights, gap


def stated(model, y, weights):
    """Yield the rows, the signs or targets, and the costs of each problem."""
    if isinstance(model, REGRESSORS):
        C = 1 / (2 * model.alpha) if isinstance(model, kmaps.CodedRidge) else model.C
        yield np.arange(len(y)), y - np.average(y, weights=weights), C * weights
        return
    classes = np.unique(y)
    factors = model.class_weight or dict.fromkeys(classes, 1.0)
    if model.class_weight == "balanced":
        factors = {k: weights.sum() / len(classes) / weights[y == k].sum() for k in classes}
    if model.multiclass == "ovr" and len(classes) > 2:
        for k in classes:
            signs = np.where(y == k, 1.0, -1.0)
            yield np.arange(len(y)), signs, model.C * weights * np.where(y == k, factors[k], 1)
        return
    for first, second in combinations(classes, 2):
        rows = np.flatnonzero((y == first) | (y == second))
        costs = [model.C * weights[i] * factors[y[i]] for i in rows]
        yield rows, np.where(y[rows] == second, 1.0, -1.0), np.array(costs)


def features(model, X):
    """Return the features (n, D) that the model is linear in, and their kernel matrix."""
    Z = X
    if isinstance(model, kmaps.KernelSVC):
        return Z, kmaps.gram(X, kernel=model.kernel, sigma=model.sigma_)
    if isinstance(model, CODED) and isinstance(model.map_, str):
        Z = kmaps.ExactMap(model.map_).fit_transform(X)
    elif isinstance(model, (kmaps.RandomFeatureSVC, kmaps.LandmarkSVC, *CODED)):
        Z = model.map_.transform(X).astype(float)
    return Z, Z @ Z.T + model.bias**2


def optimum(model, Z, kernel, signs, costs, n_features):
    squared = model.loss.startswith("squared") if hasattr(model, "loss") else False
    if isinstance(model, REGRESSORS):
        loss, epsilon = "hinge", getattr(model, "epsilon", 0.0)
        if isinstance(model, kmaps.CodedRidge) or squared:
            loss = "squared_hinge"
        return machines.solve_two_sided(kernel, signs, costs, loss, epsilon)
    if isinstance(model, kmaps.KernelSVC):
        return machines.solve_with_intercept(kernel, signs, costs)
    if getattr(model, "penalty", "l2") == "l2":
        if model.loss == "logistic":
            return machines.solve_logistic(kernel, signs, costs)[1]
        return machines.solve_dual(kernel, signs, costs, model.loss)[1]
    n = Z.shape[1]
    groups = [slice(n, n + 1)] * int(model.bias > 0)
    Z = np.column_stack([Z, np.full((len(Z), len(groups)), model.bias)])
    if isinstance(model, kmaps.LiblinearSVC):
        return machines.solve_lasso(Z, signs, costs, model.loss)
    size = model.group_size if isinstance(model, kmaps.GroupLassoSVC) else n // n_features
    groups += [slice(start, min(start + size, n)) for start in range(0, n, size)]
    return best_objective(Z, signs, costs, groups, squared=squared)


def weighed(model, column, X, Z, kernel, shift):
    """Return the penalty of the weights of a problem, and its scores, less the mean of targets."""
    if isinstance(model, CODED):
        scores = model.model_.scores(X)[:, column] - shift
        # The weights are in the span of the samples' features.
        return scores @ np.linalg.pinv(kernel, 1e-7, hermitian=True) @ scores / 2, scores
    if isinstance(model, kmaps.KernelSVC):
        known, dual = model.support_vectors_, model.dual_coef_.toarray()[:, column]
        of_known = kmaps.gram(known, kernel=model.kernel, sigma=model.sigma_)
        scores = kmaps.gram(X, known, kernel=model.kernel, sigma=model.sigma_) @ dual
        return dual @ of_known @ dual / 2, scores + model.intercept_[column]
    of_outputs = isinstance(model, kmaps.LandmarkSVC | kmaps.RandomFeatureSVC)
    weights = (model.map_coef_ if of_outputs else model.coef_)[column]
    scores = Z @ weights + model.intercept_[column]
    constant = model.intercept_[column] / model.bias if model.bias else 0.0
    w = np.append(weights, constant)
    if isinstance(model, kmaps.GroupLassoSVC):
        starts = [*range(0, len(w) - 1, model.group_size), len(w) - 1]
        return np.sqrt(np.add.reduceat(w**2, starts)).sum(), scores
    return (np.abs(w).sum() if getattr(model, "penalty", "") == "l1" else w @ w / 2), scores


def loss_of(model, signs, scores, costs):
    if isinstance(model, REGRESSORS):
        beyond = np.maximum(0, np.abs(signs - scores) - getattr(model, "epsilon", 0.0))
        straight = getattr(model, "loss", "") == "epsilon_insensitive"
        return costs @ (beyond if straight else beyond**2)
    return machines.primal(0, signs * scores, costs, getattr(model, "loss", "hinge"))


# In `make test` one problem of every learner, in `make test-slow` three more, in `make soak` 500.
COUNT = len(LEARNERS)
SEEDS = [
    *range(COUNT),
    *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(COUNT, 4 * COUNT)),
    *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(4 * COUNT, 4 * COUNT + 500)),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_reaches_the_optimum(seed, record_property):
    model, X, y, weights, gap = drawn(seed)
    model.fit(X, y, sample_weight=weights)
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    shift = np.average(y, weights=weights) if isinstance(model, REGRESSORS) else 0.0
    for column, (rows, signs, costs) in enumerate(stated(model, y, weights)):
        Z, kernel = features(model, X[rows])
        best = optimum(model, Z, kernel, signs, costs, X.shape[1])
        penalty, scores = weighed(model, column, X[rows], Z, kernel, shift)
        loss = loss_of(model, signs, scores, costs)
        found = penalty + loss
        if isinstance(model, CODED):
            claimed = model.objective_[column]
            if isinstance(model, kmaps.CodedRidge):
                claimed /= 2 * model.alpha
            assert model.duality_gap_[column] <= model.tol
            if model.penalty == "l2":
                assert found == pytest.approx(claimed, rel=1e-3)
            assert loss <= claimed * (1 + 1e-6)
            found = claimed
        assert best * (1 - 2e-5) <= found <= best * (1 + gap)
    record_property("soak", ("learners against general solvers", 1))
