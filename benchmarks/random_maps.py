"""Random Fourier features of 10,000 × 1,000 values at m = 4,096, against what they cannot avoid."""

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from benchmarks.measure import Pair
from kmaps import GeneralizedRBFMap, RandomFourierMap

M = 4096


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X = rng.gamma(0.5, size=(10_000, 1_000)).astype(np.float32)
    X /= X.sum(axis=1, keepdims=True)
    W = rng.standard_normal((M, 3_000), dtype=np.float32)
    Psi = rng.random((10_000, 3_000), dtype=np.float32)
    ours = RandomFourierMap(M, sigma=None).fit(X)
    exponential = GeneralizedRBFMap("chi2", 1, M).fit(X)
    dense, fastfood = (
        RandomFourierMap(M // 2, sigma=None, structure=s).fit(X) for s in ("dense", "fastfood")
    )
    X64 = X.astype(np.float64)
    sampler, sampler64 = (RBFSampler(n_components=M).fit(rows) for rows in (X, X64))
    return [
        Pair(
            "encode rbf, dense, d = 1,000",
            lambda: ours.transform(X),
            "float32 product X @ W.T",
            lambda: product(X, W[:, :1_000]),
            at_most=1.3,
            runs=5,
        ),
        Pair(
            "encode rbf, dense, m outputs",
            lambda: dense.transform(X),
            "RBFSampler, as many outputs",
            lambda: sampler.transform(X),
            runs=5,
        ),
        Pair(
            "the same, float64",
            lambda: dense.transform(X64),
            "RBFSampler, as many outputs",
            lambda: sampler64.transform(X64),
            runs=5,
        ),
        Pair(
            "encode rbf, fastfood, m outputs",
            lambda: fastfood.transform(X),
            "RBFSampler, as many outputs",
            lambda: sampler.transform(X),
            at_least=3,
            runs=5,
            headline=f"random features of rbf, 10,000 rows, {M:,} outputs",
            rival="scikit-learn's `RBFSampler`",
        ),
        Pair(
            "encode exp-chi2, d·r = 3,000",
            lambda: exponential.transform(X),
            "float32 product of d·r",
            lambda: product(Psi, W),
            at_most=1.3,
            runs=5,
        ),
        *(_against_dense(d, rng) for d in (1024, 2048, 4096)),
    ]


def product(rows: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the product in memory as large as the encoded rows: what new pages cost, both pay."""
    pairs = np.empty((len(rows), 2 * len(W)), np.float32)
    return np.matmul(rows, W.T, out=pairs[:, : len(W)])


def _against_dense(d: int, rng: np.random.Generator) -> Pair:
    X = rng.random((2_000, d), dtype=np.float32)
    dense, fastfood = (RandomFourierMap(M, structure=s).fit(X) for s in ("dense", "fastfood"))
    return Pair(
        f"encode fastfood, d = {d:,}",
        lambda: fastfood.transform(X),
        "encode dense",
        lambda: dense.transform(X),
        at_least=1 if d >= 2048 else None,
        runs=5,
    )
