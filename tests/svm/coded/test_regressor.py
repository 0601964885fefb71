"""Regression on codes against scikit-learn's machines on the exact Gram matrix."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge

from kmaps import CodedRidge, CodedSVR, HomogeneousMap, SplineMap, gram, load_model
from kmaps.errors import InputError
from kmaps.svm import code_rows

RNG = np.random.default_rng(0)
X = RNG.random((150, 5)).round(2)  # at most 101 values, which are levels
Y = np.sqrt(X[:, 0]) - 2 * X[:, 1] ** 2 + RNG.normal(0, 0.1, 150) + 5


@pytest.mark.parametrize("kernel", ["chi2", "js"])
@pytest.mark.parametrize(("alpha", "bias"), [(10, 1.0), (0.1, 3.0), (1, 0.0)])
def test_ridge_is_that_of_the_gram_matrix(kernel, alpha, bias):
    model = CodedRidge(kernel, alpha, bias=bias, tol=1e-6, max_iter=20_000).fit(X, Y)
    matrix = gram(X, kernel=kernel) + bias**2
    other = KernelRidge(alpha=alpha, kernel="precomputed").fit(matrix, Y - Y.mean())
    errors = Y - Y.mean() - other.predict(matrix)
    best = errors @ errors + alpha * other.dual_coef_ @ matrix @ other.dual_coef_
    # Measured: 3.8e-6, the rounding of float32.
    assert model.objective_[0] == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(model.predict(X) - Y.mean(), other.predict(matrix), atol=2e-3)


MACHINES = {
    "svr": CodedSVR("chi2", 0.3, tol=1e-6, max_iter=20_000),
    "squared": CodedSVR(SplineMap(8), loss="squared_epsilon_insensitive", epsilon=0.05, tol=1e-7),
    "ridge": CodedRidge(HomogeneousMap(), tol=1e-7),
}


@pytest.mark.parametrize("name", MACHINES)
def test_files_sparse_rows_and_rows_made_beforehand(name, tmp_path):
    machine = MACHINES[name]
    zeros = np.where(X < 0.4, 0, X)
    found = machine.fit(zeros, Y).predict(zeros)
    machine.save(tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert type(loaded) is type(machine)
    np.testing.assert_array_equal(loaded.predict(zeros), found)
    np.testing.assert_allclose(machine.predict(sparse.csr_array(zeros)), found, atol=1e-6)
    rows = code_rows(machine.map, lambda: iter([zeros]))
    np.testing.assert_allclose(machine.fit(rows, Y).predict(rows), found, atol=2e-3)
    part = np.arange(0, 150, 2)
    again = machine.fit(rows.take(part), Y[part]).predict(rows.take(part))
    weights = (np.arange(150) % 2 == 0).astype(float)
    np.testing.assert_allclose(machine.fit(rows, Y, weights).predict(rows)[part], again, atol=2e-3)


def test_targets_all_the_same_are_predicted():
    with pytest.warns(UserWarning, match="y is constant: .* 5"):
        model = CodedSVR().fit(X, np.full(150, 5.0))
    np.testing.assert_array_equal(model.predict(X), 5)
    assert model.duality_gap_[0] == 0


def test_bad_targets_are_refused():
    rows = code_rows("chi2", lambda: iter([X]))
    for samples in (X, rows):
        with pytest.raises(InputError, match="Input y contains NaN"):
            CodedSVR().fit(samples, np.where(Y < 5, np.nan, Y))
        with pytest.raises(InputError, match="sample_weight: all weights are zero"):
            CodedSVR().fit(samples, Y, np.zeros(150))
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        CodedSVR().fit(X, Y[:-1])
    with pytest.raises(InputError, match=r"\(149,\) for 150 rows"):
        CodedSVR().fit(rows, Y[:-1])
    with pytest.raises(InputError, match="y: expected numbers"):
        CodedSVR().fit(rows, ["high"] * 150)
