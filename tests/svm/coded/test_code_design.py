"""Newton's method on codes, against general solvers of the same problems on explicit columns."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from kmaps import (
    CodedRidge,
    CodedSVC,
    CodedSVR,
    HomogeneousMap,
    IntersectionMap,
    SplineMap,
    threads,
)
from kmaps.errors import KmapsError
from kmaps.svm.coded import descent
from kmaps.svm.coded.code_design import CodeDesign, design_of, laid_out
from kmaps.svm.coded.problem import CodedProblem, make_task
from kmaps.svm.coded.training import code_samples, rows_of
from kmaps.svm.losses import INSENSITIVE, LOSSES
from kmaps.svm.newton import NewtonBlock, OwnRows, _Newton
from tests.oracles import machines
from tests.svm.coded import problems


@pytest.fixture
def by_newton(monkeypatch):
    """Let Newton's method begin at once, whatever the sizes."""
    monkeypatch.setattr(descent, "expected_passes", lambda problem: 0.0)


def counts(n, d, seed=0):
    """Counts whose rates differ a little between two classes, so that these overlap."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.5
    rates = rng.uniform(0.3, 4, d) * (1 + 0.1 * np.where(y[:, None], 1, -1) * rng.random(d))
    return np.minimum(rng.poisson(rates), 17).astype(np.float32), y


def columns_of(model, X):
    """Columns with the model's kernel on its levels, and the constant one."""
    levels = model.levels_[0]
    total = levels[:, None] + levels[None, :]
    kernel = np.divide(
        2 * np.outer(levels, levels), total, out=np.zeros_like(total), where=total > 0
    )
    values, vectors = np.linalg.eigh(kernel)
    table = vectors * np.sqrt(np.maximum(values, 0))
    places = np.searchsorted(levels, X)
    return np.hstack([*(table[place] for place in places.T), np.ones((len(X), 1))])


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_objective_is_that_of_other_primal_solvers(by_newton, loss, C):
    X, y = counts(3000, 6)
    weights = np.random.default_rng(1).random(3000) + 0.5
    model = CodedSVC("chi2", C, loss=loss, tol=1e-7).fit(X, y, weights)
    columns = columns_of(model, X)
    if loss == "logistic":
        other = LogisticRegression(C=C, solver="newton-cholesky", fit_intercept=False, tol=1e-10)
    else:
        other = LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-10, max_iter=10_000)
    w = other.fit(columns, y, weights).coef_[0]
    margins = np.where(y, 1, -1) * (columns @ w)
    expected = machines.primal(w @ w, margins, C * weights, loss)
    assert model.objective_[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_objective_is_that_of_the_quadratic_programme(by_newton, loss, factor):
    codes, signs, tables, gram = problems.drawn(60, 4)
    costs = factor * np.where(signs > 0, 0.9, 0.4)
    solution = descent.solve(
        problems.stated(codes, signs, tables, loss, costs), tol=1e-6, max_iter=1000, seed=(0,)
    )
    assert solution.gap <= 1e-6
    _, best = machines.solve_dual(gram, signs, costs, loss)
    # The programme itself is solved to 1e-5.
    assert solution.dual == pytest.approx(best, rel=2e-5)
    margins = signs * (gram @ (solution.alpha * signs))
    assert (solution.alpha >= 0).all()
    if loss == "hinge":
        assert (solution.alpha <= costs).all()
    np.testing.assert_allclose(margins, solution.margins, atol=2e-2 * max(1, np.abs(margins).max()))


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_regression_is_that_of_the_quadratic_programme(by_newton, epsilon):
    codes, _, tables, gram = problems.drawn(50, 4)
    y = np.random.default_rng(2).normal(size=50)
    costs = np.full(50, 0.7)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        posed = problems.stated(codes, y, tables, INSENSITIVE[loss](epsilon), costs)
        solution = descent.solve(posed, tol=1e-6, max_iter=1000, seed=(0,))
        plain = "hinge" if loss == "epsilon_insensitive" else "squared_hinge"
        best = machines.solve_two_sided(gram, y, costs, plain, epsilon)
        assert solution.gap <= 1e-6
        assert solution.dual == pytest.approx(best, rel=2e-5)


@pytest.mark.parametrize(
    ("feature_map", "form", "sparse"),
    [
        ("chi2", "low-rank", False),
        ("chi2", "low-rank", True),
        ("chi2", "full", False),
        ("intersection", "two-level", False),
        (HomogeneousMap("js", 2), "low-rank", False),
        (SplineMap(8), "local", False),
        (IntersectionMap(8, sparse=True), "local", True),
        *(
            pytest.param(*case, marks=pytest.mark.slow)  # they compile loops for types of their own
            for case in (
                ("chi2", "full", True),
                ("intersection", "two-level", True),
                (SplineMap(8, penalty=0), "local", False),
                (IntersectionMap(8, sparse=True), "local", False),
            )
        ),
    ],
)
def test_every_form_gets_the_weights(feature_map, form, sparse):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 40, (300, 5)) / 39, rng.random(300) < 0.5
    X[:, 2] = X[:, 2].round()  # a column of two levels
    X[:2] = [[0] * 5, [1] * 5]
    rows = code_samples(feature_map, csr_matrix(X) if sparse else X, form=form)
    members = np.arange(0, 300, 2)
    posed = posed_on(rows, members, y)
    design, rotations = design_of(posed)
    weights = np.random.default_rng(0).normal(size=design.n_weights)
    own = laid_out(posed.layout, rotations, weights)
    scores = posed.task.signs * posed.margins(own, 0.0)
    np.testing.assert_allclose(scores, design.scores(weights), atol=1e-4)
    # Features with the rows' kernel: Σ a φ(x) has the scores that the form gives.
    alpha = np.random.default_rng(1).random(len(members))
    posed.rebuild(alpha, own)
    scores = posed.task.signs * posed.margins(own, 0.0)
    block = NewtonBlock(design, posed.task)
    expected = design.scores(block.weights_of_duals(alpha)[:-1])
    np.testing.assert_allclose(scores, expected, atol=1e-4 * np.abs(expected).max())


def posed_on(rows, members, y):
    norms = rows.layout.square_norms(rows.rows)
    signs = np.where(y[members], 1.0, -1.0)
    task = make_task(members, signs, norms, np.ones(len(members)), LOSSES["logistic"](), 1.0)
    return CodedProblem(rows.rows, rows.layout, task, rows.n_features * rows.layout.form.size)


def test_all_ways_to_a_direction_agree(monkeypatch):
    X, y = counts(200, 5)
    posed = posed_on(code_samples("chi2", X), np.arange(200), y)
    design, _ = design_of(posed)
    features = np.hstack([design.expanded(np.arange(200)), np.ones((200, 1))])
    block = NewtonBlock(design, posed.task)
    block.start(np.zeros(design.n_weights + 1))
    block.objectives()
    vector = np.random.default_rng(0).normal(size=design.n_weights + 1)
    hessian = np.eye(len(vector)) + (features.T * block.curvature) @ features
    expected = np.linalg.solve(hessian, vector)
    nothing = np.zeros(design.n_weights + 1)
    newton = _Newton(OwnRows(block), nothing, "logistic", 1e-4, 100, lambda passes, gap: None)
    newton.n_rows = 200
    settings = {
        "counts": {"_multiplying_ns": np.inf, "_by_rows_ns": np.inf},
        "products": {"_counting_ns": np.inf, "_by_rows_ns": np.inf},
        "rows": {"_by_matrix_ns": np.inf},
        "conjugate gradients": {"_by_rows_ns": np.inf, "MOST_WEIGHTS": 0},
    }
    for way, changes in settings.items():
        with monkeypatch.context() as patch:
            for name, value in changes.items():
                of = f"kmaps.svm.{'coded.code_design' if name[1:4] in ('mul', 'cou') else 'newton'}"
                new = value if name.isupper() else (lambda *given, value=value: value)
                patch.setattr(f"{of}.{name}", new)
            direction = newton._direction(vector, 200)
        tolerance = 0.1 if way == "conjugate gradients" else 1e-8
        error = direction - expected
        assert np.linalg.norm(error) <= tolerance * np.linalg.norm(expected), way


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_overlapping_classes_are_certified_in_any_order_on_any_number_of_threads(loss):
    X, y = counts(30_000, 12)
    order = np.argsort(y, kind="stable")
    models = []
    for n_threads in (1, 2):
        with threads(n_threads):
            models.append(CodedSVC("chi2", 10.0, loss=loss).fit(X, y))
    in_order = CodedSVC("chi2", 10.0, loss=loss).fit(X[order], y[order])
    assert (models[0].model_.weights == models[1].model_.weights).all()
    assert max(models[0].duality_gap_[0], in_order.duality_gap_[0]) <= 1e-4
    assert in_order.objective_[0] == pytest.approx(models[0].objective_[0], rel=2e-4)
    assert in_order.n_iter_[0] <= 1.3 * models[0].n_iter_[0] + 20


def test_ridge_takes_one_step_in_any_order():
    X, _ = counts(20_000, 10)
    y = X[:, 0] + np.random.default_rng(0).normal(0, 5, len(X))
    order = np.argsort(y)
    models = [CodedRidge("chi2").fit(X, y), CodedRidge("chi2").fit(X[order], y[order])]
    for model in models:
        assert model.duality_gap_[0] <= 1e-6
        assert model.n_iter_[0] <= 10
    assert models[0].score(X, y) == pytest.approx(models[1].score(X, y), abs=1e-6)


def drawn(seed):
    """Return a model and the samples, targets and weights of a small problem of any kind."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 200)), int(rng.integers(1, 8))
    n_levels = int(rng.choice([1, 2, 3, 20, 256]))
    X = rng.integers(0, n_levels, (n, d)).astype(float) ** rng.choice([1, 2])
    X[:, rng.random(d) < 0.2] = rng.integers(0, 3)  # constant columns
    C = 10 ** rng.uniform(-6, 6)
    weights = None if rng.random() < 0.5 else rng.exponential(size=n)
    kernel = rng.choice(["chi2", "intersection", "js", "hellinger"])
    choice = {"max_iter": 3000, "bias": float(rng.choice([0.0, 1.0]))}
    kind = rng.integers(3)
    if kind == 0:
        loss = rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive"])
        model = CodedSVR(kernel, C, loss=loss, **choice)
        y = rng.normal(size=n) + X[:, 0]
    elif kind == 1:
        model = CodedRidge(kernel, alpha=1 / C, **choice)
        y = rng.normal(size=n) + X[:, 0]
    else:
        loss = rng.choice(["hinge", "squared_hinge", "logistic"])
        model = CodedSVC(kernel, C, loss=loss, multiclass=rng.choice(["ovr", "ovo"]), **choice)
        y = rng.integers(0, rng.integers(2, 4), n)
        if rng.random() < 0.2:
            y = (np.arange(n) == 0).astype(int)  # a class of one row
    return model, X, y, weights


def certified_or_refused(seed):
    """Train on a small problem of any kind; return what is wrong with it."""
    model, X, y, weights = drawn(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y, weights)
        except KmapsError as error:
            return "" if "\n" not in str(error) else f"{seed}: {error}"
    messages = [str(warning.message) for warning in caught]
    if any(issubclass(warning.category, RuntimeWarning) for warning in caught):
        return f"{seed}: {messages}"
    if (model.duality_gap_ <= model.tol).all():
        return ""
    # Scores are rounded to single precision: at a huge C that can cost more than ``tol``.
    missed = [m for m in messages if "single precision" in m and "\n" not in m]
    return "" if len(missed) == 1 else f"{seed}: {model.duality_gap_}, {messages}"


# The first ones have a huge C on few rows, where losses with a ridge are nearly as sharp as the
# hinge and a step takes longer than passes: their gaps stayed between 0.02 and 1. The last one has
# features of one level.
HARD = [30, 37, 165, 203, 267, 363]


def test_fits_are_certified_or_refused_in_one_line():
    assert [problem for problem in map(certified_or_refused, HARD) if problem] == []


@pytest.mark.slow
def test_dozens_of_fits_are_certified_or_refused_in_one_line():
    assert [problem for problem in map(certified_or_refused, range(60)) if problem] == []


@pytest.mark.soak
def test_hundreds_of_fits_are_certified_or_refused_in_one_line(record_property):
    assert [problem for problem in map(certified_or_refused, range(600)) if problem] == []
    record_property("soak", ("fits on codes: certified or refused", 600))


def test_rows_that_leave_codes_out_count_them_as_zero():
    codes = np.array([[0, 2], [1, 0], [0, 0], [2, 2]], np.uint8)
    X = codes.astype(float)
    posed = posed_on(code_samples("chi2", X), np.arange(4), np.array([True, False, True, False]))
    design, _ = design_of(posed)
    listed = rows_of(codes, np.zeros(1, np.intp), np.inf)
    sparse = CodeDesign(listed, design.members, design.columns, design.n_levels, design.usual)
    places, factors = np.array([0, 1, 3]), np.array([0.5, 2.0, 1.0])
    for name in ("second_moments", "block_moments"):
        dense = getattr(design, name)(factors, places)
        for one, other in zip(dense, getattr(sparse, name)(factors, places), strict=True):
            np.testing.assert_allclose(np.tril(one), np.tril(other), atol=1e-12)
    np.testing.assert_array_equal(design.expanded(places), sparse.expanded(places))


def test_block_moments_are_diagonal_blocks_of_the_second_moments():
    X = np.array([[0.0, 2, 1], [1, 0, 1], [3, 0, 1], [2, 2, 1]])
    posed = posed_on(code_samples("chi2", X), np.arange(4), np.array([True, False, True, False]))
    design, _ = design_of(posed)
    places, factors = np.array([0, 1, 3]), np.array([0.5, 2.0, 1.0])
    moments = design.second_moments(factors, places)
    block_places, blocks = design.block_places(), design.block_moments(factors, places)
    weights = np.concatenate([np.ravel(places_of_width) for places_of_width in block_places])
    assert sorted(weights) == list(range(design.n_weights))
    for places_of_width, matrices in zip(block_places, blocks, strict=True):
        for chosen, matrix in zip(places_of_width, matrices, strict=True):
            expected = np.tril(moments[np.ix_(chosen, chosen)])
            np.testing.assert_allclose(np.tril(matrix), expected, rtol=1e-12)


def test_the_threads_of_problems_have_one_thread_of_blas_each(monkeypatch):
    numbers = set()
    second_moments = CodeDesign.second_moments

    def watched(*arguments):
        numbers.update(
            library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
        )
        return second_moments(*arguments)

    monkeypatch.setattr(CodeDesign, "second_moments", watched)
    X, y = load_digits(return_X_y=True)
    with threadpool_limits(2, "blas"), threads(2):
        CodedSVC("js", loss="logistic").fit(X[:600], y[:600])
    assert numbers == {1}
