"""Gram matrices: exact ones, and those of a map from codes.

Of 2,000 rows of 784 values, none of them zero, and of 1,000 sparse rows of 20,000.
"""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import additive_chi2_kernel, rbf_kernel

from benchmarks.measure import Pair
from kmaps import HomogeneousMap, gram
from kmaps.gram_matrix import quick_gram
from kmaps.svm import code_gram, code_rows


def pairs() -> list[Pair]:
    rng = np.random.default_rng(0)
    X, Y = rng.random((2, 2000, 784), dtype=np.float32)
    words = _sparse_rows(rng)
    return [
        Pair(
            "Gram matrix, chi2",
            lambda: gram(X, Y, kernel="chi2"),
            "additive_chi2_kernel",
            lambda: additive_chi2_kernel(X, Y),
            at_least=15,
            runs=3,
            headline="chi2 Gram matrix, 2,000 × 2,000 rows of 784 values",
            rival="scikit-learn's `additive_chi2_kernel`",
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
        Pair(
            "Gram matrix, rbf, 8 % not zero",
            lambda: gram(words, kernel="rbf"),
            "rbf_kernel",
            lambda: rbf_kernel(words),
            at_least=1.2,
            runs=3,
        ),
        *_by_products(X, Y),
        _of_map("none zero", X, at_least=0.3),
        _of_map("8 % not zero", words, at_least=3),
    ]


def _sparse_rows(rng: np.random.Generator) -> sparse.csr_array:
    """Return rows in which some features are frequent, as visual words are."""
    often = np.minimum(1, 0.08 * rng.gamma(0.5, 2, size=20_000))
    dense = (rng.random((1000, 20_000)) < often) * rng.gamma(1, 1e-3, (1000, 20_000))
    return sparse.csr_array(dense.astype(np.float32))


def _by_products(X: np.ndarray, Y: np.ndarray) -> list[Pair]:
    """Return kernel values of models, and exp-chi2 as the rbf kernel of a map's outputs."""
    outputs = HomogeneousMap("chi2", order=1).fit(X)
    encoded = outputs.transform(Y)
    exact = "Gram matrix, exp-chi2"
    whole = np.rint(255 * X), np.rint(255 * Y)
    return [
        Pair(
            "kernel values, rbf",
            lambda: _values(X, Y, "rbf"),
            "rbf_kernel",
            lambda: rbf_kernel(X, Y, gamma=0.005),
            runs=3,
        ),
        *(
            Pair(ours, values, exact, lambda: gram(X, Y, kernel="exp-chi2", sigma=10.0), runs=3)
            for ours, values in (
                ("kernel values, exp-hellinger", lambda: _values(X, Y, "exp-hellinger")),
                (
                    "the same, exp-intersection of bytes",
                    lambda: _values(*whole, "exp-intersection"),
                ),
                ("of three outputs", lambda: _values(outputs.transform(X), encoded, "rbf")),
            )
        ),
    ]


def _values(X: np.ndarray, Y: np.ndarray, kernel: str) -> np.ndarray:
    return quick_gram(X, Y, kernel=kernel, sigma=10.0)


def _of_map(what: str, X: np.ndarray | sparse.csr_array, at_least: float) -> Pair:
    feature_map = HomogeneousMap("chi2", order=1).fit(X)

    def from_codes() -> np.ndarray:
        return code_gram(code_rows(feature_map, lambda: [X], form="low-rank"))

    def from_outputs() -> np.ndarray | sparse.csr_array:
        encoded = feature_map.transform(X)
        return encoded @ encoded.T

    ours = f"Gram matrix of a map, {what}"
    return Pair(ours, from_codes, "product of its outputs", from_outputs, at_least=at_least, runs=3)
