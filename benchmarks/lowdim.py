"""Low-dimensional maps on 20,000 × 784 values against the homogeneous map of as many outputs."""

import numpy as np

from benchmarks.measure import Pair
from kmaps import HomogeneousMap, LowDimMap


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 784), dtype=np.float32)
    X[rng.random(X.shape) < 0.5] = 0
    found = []
    for order in (1, 2, 3):
        ours = LowDimMap(dim=2 * order + 1).fit(X)
        homogeneous = HomogeneousMap(order=order, period=None).fit(X)
        found.append(
            Pair(
                f"transform, chi2, {2 * order + 1} outputs",
                lambda ours=ours: ours.transform(X),
                f"HomogeneousMap(order={order})",
                lambda homogeneous=homogeneous: homogeneous.transform(X),
                at_least=0.95,
            )
        )
    return found
