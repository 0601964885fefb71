"""Anchor maps on 20,000 × 784 values: transform against as many outputs, codes against a copy."""

import numpy as np

from benchmarks.measure import Pair
from kmaps import AnchorMap, HomogeneousMap

CASES = {
    "shared": {"n_anchors": 40},
    "own": {"n_anchors": 40, "shared": False},
    "shared k-means": {"n_anchors": 40, "anchors": "kmeans", "shared": True},
    "own k-means": {"n_anchors": 40, "anchors": "kmeans"},
    "own cover": {"anchors": "cover", "epsilon": 0.0125},  # 40 anchors too
}


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 784), dtype=np.float32)
    X[rng.random(X.shape) < 0.5] = 0
    X[0], X[1] = 0, 1  # all features have one range
    homogeneous = HomogeneousMap(order=1).fit(X)
    found = []
    for name, choice in CASES.items():
        ours = AnchorMap(rank=3, **choice).fit(X[:500])
        found.append(
            Pair(
                f"transform, 3 outputs, {name} anchors",
                lambda ours=ours: ours.transform(X),
                "HomogeneousMap(order=1)",
                lambda: homogeneous.transform(X),
                at_least=1,
            )
        )
        found.append(
            Pair(
                f"to_codes, {name} anchors",
                lambda ours=ours: ours.to_codes(X),
                "copy of the input",
                X.copy,
                at_most=2,
            )
        )
    return found
