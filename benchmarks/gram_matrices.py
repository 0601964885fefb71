"""Exact Gram matrices of 2,000 × 2,000 rows of 784 values, none of them zero."""

import numpy as np
from sklearn.metrics.pairwise import additive_chi2_kernel

from benchmarks.measure import Pair
from kmaps import gram


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X, Y = rng.random((2, 2000, 784), dtype=np.float32)
    return [
        Pair(
            "Gram matrix, chi2",
            lambda: gram(X, Y, kernel="chi2"),
            "additive_chi2_kernel",
            lambda: additive_chi2_kernel(X, Y),
            at_least=15,
            runs=3,
        ),
        *(
            Pair(
                f"Gram matrix, {kernel}",
                lambda kernel=kernel: gram(X, Y, kernel=kernel),
                "Gram matrix, chi2",
                lambda: gram(X, Y, kernel="chi2"),
                runs=3,
            )
            for kernel in ("intersection", "js", "exp-chi2")
        ),
    ]
