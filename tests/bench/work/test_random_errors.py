"""Errors of random maps: their parts, against sums over all pairs."""

import numpy as np
import pytest

from kmaps.bench.work.random_errors import random_errors
from kmaps.errors import ConfigError
from kmaps.maps import GeneralizedRBFMap, HomogeneousMap


def test_parts_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 20, 6))
    found = random_errors(GeneralizedRBFMap("chi2", 1, 50, sigma=0.8), "exp-chi2", x, y, range(2))
    exact = np.exp(-((y[:, None] - x) ** 2 / (y[:, None] + x)).sum(-1) / (2 * 0.8**2))
    Psi_x, Psi_y = (HomogeneousMap().fit_transform(part) for part in (x, y))
    limit = np.exp(-((Psi_y[:, None] - Psi_x) ** 2).sum(-1) / (2 * 0.8**2))
    products = []
    for seed in range(2):
        fitted = GeneralizedRBFMap("chi2", 1, 50, sigma=0.8, random_state=seed).fit(x)
        products.append(fitted.transform(y) @ fitted.transform(x).T)
    products = np.array(products)
    for name, errors in (
        ("rms", products - exact),
        ("random_rms", products - limit),
        ("additive_rms", limit - exact),
    ):
        assert found[name] == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-4)
    assert found["linf"] == pytest.approx(np.abs(products - exact).max(), rel=1e-4)
    assert found["dim"] == 100


@pytest.mark.parametrize(
    ("made", "kernel", "message"),
    [
        (GeneralizedRBFMap(), "chi2", "kernel 'chi2': expected rbf or an exp- kernel"),
        (HomogeneousMap(), "exp-chi2", "map HomogeneousMap: expected a random map"),
    ],
)
def test_what_has_no_random_errors_is_refused(made, kernel, message):
    with pytest.raises(ConfigError, match=message):
        random_errors(made, kernel, np.eye(3), np.eye(3), range(1))
