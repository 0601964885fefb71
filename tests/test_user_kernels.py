"""Scalar kernels that users define, as functions and tables: models, maps and Gram matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import kmaps
from kmaps.errors import ConfigError

RNG = np.random.default_rng(0)
X = RNG.integers(0, 5, (80, 4)).astype(np.float32)
Y = X[:, 0] + X[:, 1] - X[:, 2] + RNG.normal(0, 0.5, 80) > 2
GRADES = np.arange(5.0)


def bump(x, y):
    """Positive definite, and not homogeneous: no signature of it is known here."""
    return np.exp(-((x - y) ** 2) / 2) + 0.1 * x * y


TABLE = kmaps.TableKernel(GRADES, bump(GRADES[:, None], GRADES))


@pytest.mark.parametrize("kernel", [bump, TABLE])
def test_machine_map_and_matrix_are_the_sum_over_the_features(kernel):
    K = sum(bump(X[:, None, j], X[None, :, j].astype(float)) for j in range(4))
    np.testing.assert_allclose(kmaps.gram(X, kernel=kernel), K, rtol=1e-6)
    np.testing.assert_allclose(kmaps.gram(csr_matrix(X), X[:7], kernel=kernel), K[:, :7], rtol=1e-6)
    Z = kmaps.ExactMap(kernel).fit_transform(X.astype(float))
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-8)
    model = kmaps.CodedSVC(kernel, bias=0.0, tol=1e-6).fit(X, Y)
    by_map = kmaps.CodedSVC(kmaps.ExactMap(kernel), bias=0.0, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), by_map.decision_function(X), atol=5e-3)
    # LIBSVM's bias is free: compare the objective of a dual that has none.
    alone = model.objective_[0]
    signs, f = np.where(Y, 1.0, -1.0), model.decision_function(X)
    weights = np.linalg.lstsq(K, f, rcond=None)[0]
    expected = f @ weights / 2 + np.maximum(0, 1 - signs * f).sum()
    assert alone == pytest.approx(expected, rel=1e-4)


def not_psd(x, y):
    return -np.abs(x - y)


def one_sided(x, y):
    return x * y**2 + x


def scalar_only(x, y):
    return x if x < y else y


def infinite(x, y):
    return 1 / (x * y)


def summed(x, y):
    return (x * y).sum()


USES = {
    "AnchorMap": lambda kernel: kmaps.AnchorMap(kernel, n_anchors=2, shared=False).fit(TWO),
    "ExactMap": lambda kernel: kmaps.ExactMap(kernel).fit(TWO),
    "NystroemMap": lambda kernel: kmaps.NystroemMap(kernel, dim=1).fit(TWO),
    "CodedSVC": lambda kernel: kmaps.CodedSVC(kernel).fit(TWO, [0, 1]),
    "gram": lambda kernel: kmaps.gram(TWO, kernel=kernel),
}
TWO = np.array([[0.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (not_psd, "kernel not_psd: it is not positive semi-definite: its matrix on 2 points"),
        (one_sided, "kernel one_sided: it is not symmetric, k.x, y. and k.y, x. differ"),
        (scalar_only, "kernel scalar_only: it failed on arrays .*: write k.x, y. elementwise"),
        (infinite, "kernel infinite: it gave a value that is not finite"),
        (summed, r"kernel summed: it gave shape \(\) for arrays of shape .*: write k.x, y. elem"),
        (
            kmaps.TableKernel([0, 1], [[0, -1], [-1, 0]]),
            "kernel TableKernel: it is not positive semi-definite: .* the eigenvalue -1, and the",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_no_kernel_is_refused_with_the_reason(use, kernel, message):
    with pytest.raises(ConfigError, match=message):
        USES[use](kernel)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([0, 1], np.eye(3)),
            r"points of shape \(2,\) and values of shape \(3, 3\): expected \(L,",
        ),
        (([1, 0], np.eye(2)), "points must be finite and ascending"),
        (([0, 1], [[1, 2], [0, 1]]), "values must be finite and symmetric"),
        ((["a"], [[1]]), "points and values must be numbers"),
    ],
)
def test_bad_tables(arguments, message):
    with pytest.raises(ConfigError, match=message):
        kmaps.TableKernel(*arguments)
