"""Tables made small, and the four forms: the same kernel and the same functions, by NumPy."""

import itertools

import numpy as np
import pytest

from kmaps import CodedSVC, HomogeneousMap, IntersectionMap, SplineMap
from kmaps._loops.train import Task
from kmaps.svm.coded.forms import FORMS, choose, cost
from kmaps.svm.coded.model import ScoreTables
from kmaps.svm.coded.problem import CodedProblem
from kmaps.svm.coded.tables import Tables, shared, tabulate
from kmaps.svm.coded.training import Coder, coded, rows_of

NOTHING = np.empty(0, np.intp)


def kernels(tables, n_features):
    """Return the kernel matrix of the levels of each feature, (d, L, L)."""
    values = np.broadcast_to(tables.values, (n_features, *tables.values.shape[1:]))
    if tables.cells is not None:
        cells = np.broadcast_to(tables.cells, (n_features, tables.cells.shape[1]))
        values = np.take_along_axis(values, cells[:, :, None].astype(int), axis=1)
    scale = np.ones(n_features) if tables.scale is None else tables.scale
    return scale[:, None, None] * (values @ values.swapaxes(1, 2))


def own_kernels(values, n_features):
    return np.broadcast_to(values @ values.swapaxes(1, 2), (n_features, *[values.shape[1]] * 2))


def test_proportional_kernels_share_a_table():
    rng = np.random.default_rng(1)
    one, factor = rng.normal(size=(30, 4)), np.array([1.0, 0.0, 3.0, 0.25])
    turns = np.linalg.qr(rng.normal(size=(4, 4, 4)))[0]
    values = factor[:, None, None] * (one @ turns)
    tables = shared(Tables(values))
    assert tables.values.shape == (1, 30, 4)
    np.testing.assert_allclose(tables.scale, factor**2 / 9, rtol=1e-12)
    np.testing.assert_allclose(kernels(tables, 4), own_kernels(values, 4), atol=1e-12)
    values[3, 7, 2] *= 1.001
    assert len(shared(Tables(values)).values) == 4
    assert shared(Tables(np.zeros((3, 5, 2)))).values.shape == (1, 5, 2)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("penalty", [0, 1, 2])
def test_local_tables_are_those_of_the_map(degree, penalty):
    X = np.random.default_rng(3).random((50, 4)) * [1, 2, 3, 0.5]
    X[:, 1] = 0.3  # no range, so no function
    feature_map = SplineMap(7, degree, penalty).fit(X)
    # With 64 levels some lie on the ends of bins, where constant pieces depend on rounding.
    levels = np.linspace(feature_map.low_, feature_map.high_, 64 if degree else 63, axis=1)
    first, basis, kernel = feature_map.tabulate_local(levels)
    tables = tabulate(feature_map, levels)
    expected = own_kernels(feature_map.tabulate(levels), 4)
    assert tables.local is not None
    np.testing.assert_allclose(kernels(tables, 4), expected, atol=2e-6 * expected.max())
    splines = np.zeros((4, levels.shape[1], 7 + degree))
    columns = first[:, :, None] + np.arange(degree + 1)
    np.put_along_axis(splines, columns, basis, axis=2)
    np.testing.assert_allclose(splines @ kernel @ splines.swapaxes(1, 2), expected, atol=1e-9)


@pytest.mark.parametrize("high", [np.ones(3), np.array([1.0, 2.0, 0.3])])
def test_tables_of_sparse_bins_have_their_regularizer(high):
    """Two hats a level, with the kernel of the unary form; with levels elsewhere no local form."""
    X = np.random.default_rng(3).random((50, 3)) * high
    X[0] = high
    sparse, unary = (IntersectionMap(8, sparse=given).fit(X) for given in (True, False))
    levels = np.linspace(np.zeros(3), high, 65, axis=1)  # the ends of bins are among them
    tables = tabulate(sparse, levels)
    expected = own_kernels(unary.tabulate(levels), 3)
    assert tables.local.basis.shape == (65, 2)
    np.testing.assert_allclose(kernels(tables, 3), expected, atol=2e-6 * expected.max())
    elsewhere = tabulate(sparse, np.linspace(0, 2, 65)[None])
    assert (elsewhere.local is None) == (np.ptp(high) > 0)
    expected = own_kernels(unary.tabulate(np.linspace(0, 2, 65)), 3)
    np.testing.assert_allclose(kernels(elsewhere, 3), expected, atol=2e-6 * expected.max())


def spline_tables(n_bins, degree, penalty, n_levels=100):
    X = np.random.default_rng(4).random((60, 9)) * np.linspace(0.5, 2, 9)
    feature_map = SplineMap(n_bins, degree, penalty).fit(X)
    return tabulate(feature_map, np.linspace(feature_map.low_, feature_map.high_, n_levels, axis=1))


def own_tables(r):
    return Tables(np.random.default_rng(5).normal(size=(9, 30, r)))


CASES = {
    "chi2": lambda: tabulate("chi2", np.linspace(0, 1, 100)[None]),
    "hellinger": lambda: tabulate("hellinger", np.linspace(0, 1, 100)[None]),
    "intersection": lambda: tabulate("intersection", np.linspace(0, 1, 100)[None]),
    "few levels": lambda: tabulate("intersection", np.linspace(0, 1, 40)[None] ** 2),
    "own 3": lambda: own_tables(3),
    "own 7": lambda: own_tables(7),
    "own 20": lambda: own_tables(20),
    "spline 5 1 1": lambda: spline_tables(5, 1, 1),
    "spline 40 2 0": lambda: spline_tables(40, 2, 0),
    "spline 40 3 1": lambda: spline_tables(40, 3, 1),
}


def sample(n_levels, listed):
    """Return dense codes and the rows made of them; most are zero if they are to be listed."""
    rng = np.random.default_rng(6)
    codes = rng.integers(0, n_levels, (40, 9)).astype(np.uint8)
    if listed:
        codes[rng.random(codes.shape) < 0.8] = 0
    rows = rows_of(codes, np.zeros(1, np.intp) if listed else NOTHING)
    assert (rows.features is not None) == listed
    return codes, rows


@pytest.mark.parametrize("part", [0.1, 0.9])
def test_rows_coded_part_by_part_are_those_of_the_whole(part, monkeypatch):
    rng = np.random.default_rng(9)
    codes = (rng.integers(1, 30, (203, 9)) * (rng.random((203, 9)) < part)).astype(np.uint8)
    coder = Coder(None, 30, None)
    whole = coded(coder, codes, np.zeros(1, np.intp))
    monkeypatch.setattr("kmaps.svm.coded.training._TOGETHER", 9 * 20)
    parts = coded(coder, codes, np.zeros(1, np.intp))
    assert (parts.features is None) == (whole.features is None) == (part == 0.9)
    for ours, expected in zip(parts, whole, strict=True):
        np.testing.assert_array_equal(ours, expected)
    if whole.features is not None:
        assert whole.codes.tolist() == codes[codes > 0].tolist()
        assert whole.features.tolist() == np.nonzero(codes)[1].tolist()
        assert np.diff(whole.bounds).tolist() == (codes > 0).sum(axis=1).tolist()


def cases():
    """Yield every case, form and way to store rows; slow where loops are compiled for it alone."""
    own_types = {
        ("intersection", "low-rank"),
        ("spline 5 1 1", "full"),
        ("spline 40 2 0", "low-rank"),
        ("spline 40 2 0", "full"),
        ("spline 40 3 1", "low-rank"),
        ("spline 40 3 1", "full"),
        ("spline 40 3 1", "local"),
    }
    for case, name, listed in itertools.product(CASES, FORMS, (False, True)):
        again = (listed and case != "chi2") or (case, name) in own_types
        yield pytest.param(case, name, listed, marks=[pytest.mark.slow] if again else [])


@pytest.mark.parametrize(("case", "name", "listed"), list(cases()))
def test_every_form_is_the_same_function(case, name, listed):
    tables = CASES[case]()
    only = {"local": tables.local, "two-level": tables.two_level}
    if only.get(name, True) is None:
        pytest.skip("not of this form")
    if listed:  # what is left out has to be zero
        if name == "local":
            pytest.skip("no level of a spline is zero")
        values = tables.values.copy()
        values[:, 0] = 0
        tables = Tables(values, tables.scale)
    assert (tables.two_level is not None) == (case in ("intersection", "few levels"))
    codes, rows = sample(tables.values.shape[1], listed)
    layout = choose(tables, name)
    weights = np.zeros(9 * layout.form.size, np.float32)
    steps = np.random.default_rng(7).normal(size=len(codes))
    signs, zeros = np.sign(steps).astype(np.int8), [np.zeros(len(steps))] * 4
    task = Task(np.arange(len(steps)), signs, *zeros, 0.0, 0.0, False, False)
    problem = CodedProblem(rows, layout, task, len(weights))
    problem.rebuild(np.abs(steps), weights)
    features = np.arange(9)
    matrix = kernels(tables, 9)
    gram = sum(matrix[j][codes[:, j][:, None], codes[:, j][None, :]] for j in features)
    expected = gram @ steps
    got = problem.margins(weights, 0.0) * task.signs
    scale = np.sqrt(np.diagonal(gram).max() * (steps @ gram @ steps))
    # Measured: at most 1.0e-6.
    np.testing.assert_allclose(got, expected, atol=3e-6 * scale)
    np.testing.assert_allclose(layout.square_norms(rows), np.diagonal(gram), rtol=1e-6)
    scores = ScoreTables(layout.basis, layout.kept(weights)[None])
    np.testing.assert_allclose(scores.score(rows)[:, 0], expected, atol=3e-6 * scale)


def test_the_cheapest_form_is_chosen():
    levels = np.linspace(0, 1, 256)[None]
    chosen = {
        "chi2": choose(tabulate("chi2", levels)).name,
        "intersection": choose(tabulate("intersection", levels)).name,
        "homogeneous": choose(tabulate(HomogeneousMap().fit(levels), levels)).name,
        "few bins": choose(spline_tables(5, 1, 1)).name,
        "many bins": choose(spline_tables(90, 1, 1, 256)).name,
    }
    assert chosen == {
        "chi2": "low-rank",
        "intersection": "two-level",
        "homogeneous": "low-rank",
        "few bins": "low-rank",
        "many bins": "local",
    }
    # A kernel matrix for each of many features would not fit.
    many = Tables(np.zeros((2000, 256, 1)))
    assert cost(many, "full") == np.inf
    assert choose(many).name == "low-rank"


@pytest.mark.slow
def test_passes_hardly_grow_with_bins():
    """A pass touches two weights per feature, however many bins: training grows by passes alone."""
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(20), 500).astype(np.float32)
    y = np.sqrt(X[:, :10]).sum(1) > np.sqrt(X[:, 10:]).sum(1)
    passes = {}
    for n_bins in (10, 80):
        model = CodedSVC(SplineMap(n_bins=n_bins, penalty=0), C=10, form="local").fit(X, y)
        assert model.map_.tabulate_local(model.levels_)[1].shape[-1] == 2
        passes[n_bins] = model.n_iter_.max()
    assert passes[80] < 2 * passes[10]
