"""Scalar kernels that users define, as functions and tables: models, maps and Gram matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import kmaps
from kmaps.errors import ConfigError
from kmaps.kernels import get_kernel
from kmaps.mercer import eigensystems

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


def test_a_named_kernel_as_a_function_is_the_named_machine():
    chi2 = get_kernel("chi2")
    named, own = kmaps.CodedSVC("chi2").fit(X, Y), kmaps.CodedSVC(chi2).fit(X, Y)
    np.testing.assert_array_equal(named.decision_function(X), own.decision_function(X))
    np.testing.assert_allclose(kmaps.gram(X, kernel=chi2), kmaps.gram(X, kernel="chi2"), rtol=1e-5)
    np.testing.assert_allclose(
        kmaps.gram(X, X[:9], kernel=chi2, sigma=3.0),
        kmaps.gram(X, X[:9], kernel="exp-chi2", sigma=3.0),
        1e-4,
    )


def test_every_estimator_on_codes_takes_one(tmp_path):
    assert kmaps.CodedSVCCV(bump, [0.1, 1.0]).fit(X, Y).score(X, Y) > 0.8
    assert kmaps.CodedSVR(bump, C=10.0).fit(X, X[:, 0] ** 2).score(X, X[:, 0] ** 2) > 0.9
    model = kmaps.CodedSVC(bump, penalty="l1").fit(X, Y)
    model.save(tmp_path / "m.npz")
    loaded = kmaps.CodedSVC.load(tmp_path / "m.npz")
    assert loaded.map == "bump"
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    given = kmaps.CodedSVC(TABLE, levels=GRADES).fit(X.astype(np.uint8), Y)
    expected = kmaps.CodedSVC(bump).fit(X, Y)
    np.testing.assert_allclose(
        given.decision_function(X.astype(np.uint8)), expected.decision_function(X), atol=1e-5
    )


def test_the_exponential_form_has_a_map_of_random_frequencies():
    """Measured: 0.04 at most."""
    feature_map = kmaps.GeneralizedRBFMap(
        additive=kmaps.ExactMap(bump), n_frequencies=2000, sigma=2.0
    )
    Z = feature_map.fit_transform(X)
    K = kmaps.gram(X, kernel=bump, sigma=2.0)
    assert K.min() < 0.7
    assert np.abs(Z @ Z.T - K).max() < 0.1


def test_a_table_takes_the_nearest_point():
    values = np.diag([1.0, 2.0, 3.0])
    kernel = kmaps.TableKernel([0, 1, 4], values)
    x = np.array([-9, 0.5, 0.6, 2.5, 2.6, 99])
    np.testing.assert_array_equal(kernel(x, x), [1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(kernel(x[:, None], np.array([4.0])).shape, (6, 1))


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


def test_the_offending_feature_and_eigenvalue_are_named():
    z = np.linspace(0, 1, 7)
    smallest = np.linalg.eigvalsh(not_psd(z[:, None], z))[0]
    message = rf"1 \(feature 1\) has the eigenvalue {smallest:.4g}, and the largest"
    with pytest.raises(ConfigError, match=message):
        kmaps.AnchorMap(not_psd, 7, shared=False).fit(TWO)


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


def test_bad_arguments():
    with pytest.raises(ConfigError, match="gamma=2: a user's kernel has no gamma"):
        kmaps.gram(X, kernel=bump, gamma=2)
    with pytest.raises(ConfigError, match="sigma=0: expected a positive number"):
        kmaps.gram(X, kernel=bump, sigma=0)
    with pytest.raises(ConfigError, match="map=3: expected the name of a kernel, a scalar"):
        kmaps.CodedSVC(3).fit(X, Y)


# Eigenvectors of kernel matrices.
POINTS = 1e-200 * np.sort(np.random.default_rng(0).random((70, 40)), axis=1)  # squares underflow


def test_decomposes_every_feature_alike():
    counts = np.arange(70) % 40 + 1
    values, vectors = eigensystems("chi2", POINTS, counts, lambda x: np.full(len(x), x.shape[1]))
    for j, count in enumerate(counts):
        z = POINTS[j, :count]
        matrix = 2 * z[:, None] * (z / (z[:, None] + z))
        rebuilt = vectors[j] * values[j] @ vectors[j].T
        np.testing.assert_allclose(rebuilt[:count, :count], matrix, atol=1e-214)
        assert not rebuilt[count:].any()


def test_multiples_of_points_have_the_same_eigenvectors():
    points = np.arange(4)[:, None] * POINTS[0]
    values, vectors = eigensystems("js", points, np.full(4, 40), lambda v: np.full(len(v), 40))
    matrices = kmaps.get_kernel("js")(points[:, :, None], points[:, None, :])
    np.testing.assert_allclose(vectors * values[:, None] @ vectors.mT, matrices, atol=1e-214)


def test_many_points_go_in_blocks():
    points = np.sort(np.random.default_rng(1).random((40, 256)), axis=1)
    values, vectors = eigensystems("js", points, np.full(40, 256), lambda v: np.full(len(v), 3))
    assert vectors.shape == (40, 256, 3)
    alone = eigensystems("js", points[37:38], np.array([256]), lambda v: np.full(len(v), 3))
    np.testing.assert_allclose(values[37:38], alone[0], rtol=1e-12)
    np.testing.assert_allclose(vectors[37:38], alone[1], atol=1e-8)
