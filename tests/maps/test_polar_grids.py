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


def test_of_the_levels_map_and_the_boxs_the_better_is_kept():
    """Programs end in local optima: measured on the levels 0.171 alone, and 0.160 from the box."""
    box_alone = {"dim": 9, "method": "proj", **BOX, "sigma": 0.2, "levels": None}
    levels = {**box_alone, "levels": 5}
    axis = np.linspace(-1, 1, 9)
    lam = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    exact = np.exp(-(lam**2).sum(axis=1) / (2 * 0.2**2))

    def error(**parameters):
        fitted = MultiLowDimMap(**parameters).fit(POINTS)
        largest = np.abs(np.cos(lam @ fitted.frequencies_.T) @ fitted.weights_ - exact).max()
        if parameters["levels"]:
            assert abs(largest - fitted.error_) < 1e-9
        return largest

    assert error(**levels, also_box=True) == min(error(**levels), error(**box_alone))
