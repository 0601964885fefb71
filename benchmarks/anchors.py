"""Anchor maps on 20,000 × 784 values: transform against as many outputs, codes against a copy."""

import numpy as np

from benchmarks.measure import Pair
from kmaps import AnchorMap, HomogeneousMap


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 784), dtype=np.float32)
    X[rng.random(X.shape) < 0.5] = 0
    X[0], X[1] = 0, 1  # all features have one range
    anchors = AnchorMap(n_anchors=40, rank=3).fit(X)
    own = AnchorMap(n_anchors=40, rank=3, shared=False).fit(X)
    clusters = AnchorMap(n_anchors=40, rank=3, anchors="kmeans", shared=True).fit(X[:500])
    homogeneous = HomogeneousMap(order=1).fit(X)
    found = []
    for name, ours in (("shared", anchors), ("own", own), ("clustered", clusters)):
        found.append(
            Pair(
                f"transform, 3 outputs, {name} anchors",
                lambda ours=ours: ours.transform(X),
                "HomogeneousMap(order=1)",
                lambda: homogeneous.transform(X),
                at_least=1 if name == "shared" else None,
            )
        )
        found.append(
            Pair(
                f"to_codes, {name} anchors",
                lambda ours=ours: ours.to_codes(X),
                "copy of the input",
                X.copy,
                at_most=None if name == "clustered" else 2,
            )
        )
    return found
