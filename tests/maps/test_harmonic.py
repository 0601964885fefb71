"""The harmonic projection, against integrals and the paper's figure."""

import numpy as np
import pytest
from scipy.integrate import quad

from kmaps.maps.lowdim.joint import HarmonicMap

BOX = np.array([[0.0, 0.0], [np.pi, np.pi]])


def test_coefficients_are_the_integrals():
    feature_map = HarmonicMap(dim=11, sigma=0.3).fit(BOX[:, :1] / 2)
    for omega, weight in zip(feature_map.frequencies_[:, 0], feature_map.weights_, strict=True):
        integral, _ = quad(lambda t, w=omega: np.exp(-(t**2) / 0.18) * np.cos(w * t), 0, np.pi / 2)
        assert weight == pytest.approx((2 if omega else 1) * integral / (np.pi / 2), abs=1e-6)
    assert sorted(feature_map.frequencies_[:, 0]) == [0, 2, 4, 6, 8, 10]


def test_figure_4():
    # ldefm Sect. 7.1: 17 outputs are about as good as 11 of the linear programs, 6.7e-3.
    feature_map = HarmonicMap(dim=17, sigma=0.1**0.5).fit(BOX[:, :1])
    lam = np.linspace(0, np.pi, 2001)[:, None]
    approximate = feature_map.transform(lam) @ feature_map.transform([[0.0]]).T
    error = np.abs(approximate[:, 0] - np.exp(-(lam[:, 0] ** 2) / 0.2)).max()
    assert 0.006 < error < 0.007  # measured 0.00695


def test_two_inputs_are_products_within_the_outputs():
    feature_map = HarmonicMap(dim=31, sigma=0.1**0.5).fit(BOX)
    one = HarmonicMap(dim=31, sigma=0.1**0.5).fit(BOX[:, :1])
    weight = dict(zip(one.frequencies_[:, 0].round(6), one.weights_, strict=True))
    for (u, v), alpha in zip(feature_map.frequencies_.round(6), feature_map.weights_, strict=True):
        assert alpha == pytest.approx(weight[u] * weight[v], rel=1e-3)
    assert feature_map.transform(BOX).shape == (2, feature_map.n_outputs_)
    assert feature_map.n_outputs_ <= 31
