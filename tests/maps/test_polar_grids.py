"""Projections that start from several polar grids."""

import numpy as np

from kmaps import MultiLowDimMap
from kmaps.maps.lowdim import box
from kmaps.maps.lowdim.box import polar_pool
from kmaps.maps.lowdim.target import box_target

BOX = {"low": 0.0, "high": 1.0, "sigma": 0.4, "levels": 5}
POINTS = np.array([[0.0, 0.0], [1.0, 1.0]])


def test_a_grid_is_turned_and_scaled():
    shape = {"n_points": 9, "band": 8.0, "discrete": False}
    target = box_target(
        lambda lam: np.exp(-(lam**2).sum(axis=1)), np.ones(2), "projection", **shape
    )
    pools = polar_pool(target), polar_pool(target, 0.5, 0.4)
    plain, turned = (np.unique(np.round(np.arctan2(*pool[1:].T[::-1]), 9)) for pool in pools)
    np.testing.assert_allclose(turned - plain, np.pi / 48)
    plain, turned = (np.unique(np.linalg.norm(one / target.step, axis=1).round(9)) for one in pools)
    assert (plain[:3].tolist(), turned[:3].tolist()) == ([0, 0.5, 1.0], [0, 0.4, 0.8])


def test_each_grid_is_another_and_the_first_is_the_papers(monkeypatch):
    tried = []
    monkeypatch.setattr(box, "polar_pool", lambda t, *how: tried.append(how) or polar_pool(t, *how))
    MultiLowDimMap(dim=5, method="proj", n_grids=3, **BOX).fit(POINTS)
    assert tried[0] == (0.0, box.POLAR_RADIUS)
    assert len(tried) == len(set(tried)) == 3
