"""Low-dimensional maps of two and three variables against ldefm Table 2 and brute force."""

import numpy as np
import pytest

from kmaps import MultiLowDimMap
from kmaps.errors import ConfigError
from kmaps.maps.lowdim.cosines import CosineSum, atom_slopes, atom_values

# The paper's kernel exp(-|λ|²/0.2) on [0, π]²; with 32 values an axis its greedy cells come out to
# the last digit.
TABLE_2 = {"low": 0.0, "high": np.pi, "sigma": 0.1**0.5, "levels": 32}
POINTS = np.array([[0.0, 0.0], [1.0, 3.0]])


@pytest.mark.parametrize(
    ("method", "dim", "printed"),
    [
        pytest.param("modulation", 31, 0.1061, marks=pytest.mark.slow),  # measured 0.1008
        ("modulation_no_lp", 31, 0.2370),  # 0.2203
        ("modulation_no_lp", 73, 0.0439),
        ("modulation_no_lp", 101, 0.0122),
    ],
)
def test_meets_table_2_of_the_paper(method, dim, printed):
    feature_map = MultiLowDimMap(dim=dim, method=method, **TABLE_2).fit(POINTS)
    assert round(feature_map.error_, 4) <= printed
    assert feature_map.n_outputs_ <= dim


@pytest.mark.parametrize(
    "method",
    [
        pytest.param("proj", marks=pytest.mark.slow),
        pytest.param("proj_product", marks=pytest.mark.slow),
        pytest.param("modulation", marks=pytest.mark.slow),
        "modulation_no_lp",
    ],
)
def test_reported_error_is_the_true_one(method):
    """On all differences of a lattice ten times finer than that of the programs."""
    feature_map = MultiLowDimMap(dim=9, method=method, low=-1.0, high=1.0, sigma=0.8)
    feature_map.fit(POINTS[:, :2] / 10)
    axis = np.linspace(-2, 2, 481)
    grid = np.stack(np.meshgrid(axis, axis[axis >= 0], indexing="ij"), axis=-1).reshape(-1, 2)
    # Written out from ldefm eq. 19 and 20.
    if method.startswith("proj"):
        atoms = np.cos(grid @ feature_map.frequencies_.T)
    else:
        waves = zip(grid.T, feature_map.frequencies_.T, strict=True)
        atoms = np.prod([np.cos(np.outer(x, omega)) for x, omega in waves], axis=0)
    exact = np.exp(-(grid**2).sum(axis=1) / (2 * 0.8**2))
    true = np.abs(atoms @ feature_map.weights_ - exact).max()
    assert true == pytest.approx(feature_map.error_, rel=2e-3)
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    Z = feature_map.transform(X)
    assert Z.shape == (60, feature_map.n_outputs_)
    difference = ((X[:, None] - X) ** 2).sum(-1)
    assert np.abs(Z @ Z.T - np.exp(-difference / (2 * 0.8**2))).max() <= 1.002 * feature_map.error_


@pytest.mark.slow
def test_programs_beat_the_greedy_choice():
    parameters = {"dim": 9, "low": -1.0, "high": 1.0, "sigma": 0.8}
    errors = [
        MultiLowDimMap(method=method, **parameters).fit(POINTS / 10).error_
        for method in ("modulation", "modulation_no_lp")
    ]
    assert errors[0] < 0.5 * errors[1]


def test_three_inputs_and_dtype():
    X = np.random.default_rng(0).uniform(0, 1, (40, 3)).astype(np.float32)
    feature_map = MultiLowDimMap(dim=27, method="modulation_no_lp", low=0, high=1).fit(X)
    Z = feature_map.transform(X)
    assert Z.dtype == np.float32
    assert feature_map.get_feature_names_out()[0] == "multilowdimmap0"
    exact = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2)
    assert np.abs(Z @ Z.T - exact).max() <= feature_map.error_ + 1e-5


@pytest.mark.parametrize("form", ["projection", "modulation"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_features_grid_and_slopes_agree_with_the_sum(form, n):
    rng = np.random.default_rng(n)
    omega = rng.uniform(0, 3, (5, n)) * (rng.random((5, n)) < 0.7)
    cosines = CosineSum(omega, rng.random(5), form)
    x, y = rng.random((2, 4, n))
    Zx, Zy = cosines.features(x), cosines.features(y)
    assert Zx.shape == (4, cosines.dim)
    difference = x[:, None] - y
    expected = cosines(difference[..., 0] if n == 1 else difference)
    np.testing.assert_allclose(Zx @ Zy.T, expected, atol=1e-12)
    axes = [np.linspace(0, 1 + i, 3 + i) for i in range(n)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    np.testing.assert_allclose(
        cosines.on_grid(axes), cosines(grid[..., 0] if n == 1 else grid), atol=1e-12
    )
    step = 1e-6
    for i in range(n):
        ahead, behind = omega.copy(), omega.copy()
        ahead[:, i] += step
        behind[:, i] -= step
        slope = (atom_values(ahead, x, form) - atom_values(behind, x, form)) / (2 * step)
        np.testing.assert_allclose(atom_slopes(omega, x, form)[:, :, i], slope, atol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "modulate"}, "did you mean 'modulation'"),
        ({"levels": 1}, "levels=1: expected a whole number of at least 2"),
        (
            {"kernel": lambda lam: np.exp(-((lam[:, 0] + lam[:, 1]) ** 2)), "method": "modulation"},
            "not even",
        ),
        ({"kernel": lambda lam: np.exp(-lam[:, 0])}, "not even"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ConfigError, match=message):
        MultiLowDimMap(**parameters).fit(POINTS)
