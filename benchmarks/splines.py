"""Spline encoding of 1,000 × 784 values into 10 bins, against scikit-learn's."""

import numpy as np
from sklearn.preprocessing import SplineTransformer

from benchmarks.measure import Pair
from kmaps import SplineMap


def pairs() -> list[Pair]:
    X = np.random.default_rng(0).random((1_000, 784), dtype=np.float32)
    found = []
    for degree in (1, 2, 3):
        theirs = SplineTransformer(n_knots=11, degree=degree).fit(X)
        for penalty in (1, 0):
            ours = SplineMap(n_bins=10, degree=degree, penalty=penalty).fit(X)
            kind = "dense" if penalty else "CSR"
            found.append(
                Pair(
                    f"encode {kind}, degree {degree}",
                    lambda ours=ours: ours.transform(X),
                    "SplineTransformer, dense",
                    lambda theirs=theirs: theirs.transform(X),
                    at_least=5,
                    runs=3,
                )
            )
    return found
