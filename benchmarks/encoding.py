"""Encoding of 20,000 × 784 values, half of them zero, as in MNIST."""

import numpy as np
from sklearn.kernel_approximation import AdditiveChi2Sampler

from benchmarks.measure import Pair
from kmaps import HomogeneousMap, threads


def _on_threads(n_threads: int, feature_map: HomogeneousMap, X: np.ndarray) -> np.ndarray:
    with threads(n_threads):
        return feature_map.transform(X)


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 784), dtype=np.float32)
    X[rng.random(X.shape) < 0.5] = 0
    codes = (255 * X).astype(np.uint8)
    found = []
    for order in (1, 2, 3):
        ours = HomogeneousMap(order=order, period=None).fit(X)
        encoded = ours.transform(X)
        name = f"encode float32, chi2, order {order}"
        encode = lambda ours=ours: ours.transform(X)  # noqa: E731
        found.append(Pair(name, encode, "copy of the output", encoded.copy, at_most=1.8))
        found.append(
            Pair(
                f"encode uint8, chi2, order {order}",
                lambda ours=ours: ours.transform(codes),
                "encode float32",
                encode,
                at_least=1,
            )
        )
    few = HomogeneousMap(order=1).fit(X[:5000])
    for n_threads in (1, 2):
        found.append(
            Pair(
                f"encode 5,000 rows, threads: {n_threads}",
                lambda n_threads=n_threads: _on_threads(n_threads, few, X[:5000]),
                "copy of the output",
                few.transform(X[:5000]).copy,
                at_most=1.3,
                runs=15,
            )
        )
    theirs = AdditiveChi2Sampler(sample_steps=2).fit(X)
    first = HomogeneousMap(order=1).fit(X)
    found.append(
        Pair(
            "encode float32, chi2, order 1",
            lambda: first.transform(X),
            "AdditiveChi2Sampler",
            lambda: theirs.transform(X),
            at_least=12,
            headline="chi2 map of 20,000 × 784 values, 3 outputs each",
            rival="scikit-learn's `AdditiveChi2Sampler`",
        )
    )
    return found
