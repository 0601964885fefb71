"""Linear programs of many rows against all rows at once, and the sets of atoms that are tried."""

import numpy as np
import pytest
from scipy.optimize import linprog

from kmaps.maps.lowdim import lp_signature
from kmaps.maps.lowdim.box import product_starts
from kmaps.maps.lowdim.cosines import CosineSum, atom_dims
from kmaps.maps.lowdim.lp import minimise


@pytest.mark.parametrize("price", [None, np.ones(14)])
def test_exchange_of_rows_finds_the_optimum_over_all(price):
    lam = np.linspace(0, np.pi, 1500)
    A, b = np.cos(np.outer(lam, np.arange(14) * 0.9)), np.exp(-(lam**2) / 0.2)
    fit = minimise(A, b, price=price, gamma=40.0)
    ones = np.ones((len(b), 1))
    whole = linprog(
        np.r_[np.zeros(14) if price is None else price, 40.0],
        A_ub=np.block([[A, -ones], [-A, -ones]]),
        b_ub=np.r_[b, -b],
    )
    assert fit.error == pytest.approx(np.abs(A @ fit.x - b).max(), rel=1e-12)
    found = 40.0 * fit.error + (0 if price is None else fit.x.sum())
    assert whole.fun * (1 - 1e-6) <= found <= whole.fun * (1 + 5e-4)  # measured: 1 + 1e-4
    # Dual weights: of total one, and zero but where the error is the largest.
    assert np.abs(fit.dual).sum() == pytest.approx(1, abs=1e-6)
    held = fit.dual != 0
    np.testing.assert_allclose(np.abs(fit.residual[held]), fit.error, rtol=1e-3)
    assert (fit.residual[held] * fit.dual[held] < 0).all()


def test_exchange_from_a_solution_near_by():
    lam = np.linspace(0, np.pi, 1500)
    A, b = np.cos(np.outer(lam, np.arange(9))), np.exp(-(lam**2) / 0.2)
    first = minimise(A, b)
    again = minimise(A[:, :8], b, near=first)
    assert again.error == pytest.approx(minimise(A[:, :8], b).error, rel=5e-4)
    assert again.error > first.error


@pytest.mark.parametrize("form", ["projection", "modulation"])
def test_starts_are_sets_of_products_that_fit(form):
    axis = CosineSum(np.array([[0.0], [2.0], [4.0]]), np.array([0.5, 0.4, 0.1]))
    starts = product_starts([[axis, axis]], form, dim=9, count=40)
    assert len(starts) == len({start.tobytes() for start in starts}) > 5
    for start in starts:
        assert 6 <= atom_dims(start, form).sum() <= 9
        assert np.isin(np.abs(start), [0, 1, 2, 3, 4]).all()
        # Along the first axis a line is shifted as a whole, along the second all of them.
        assert len(np.unique(start[:, 1] % 2)) == 1
    assert any((start[:, 0] % 2 == 1).any() and (start[:, 0] % 2 == 0).any() for start in starts)


@pytest.mark.slow
def test_eleven_outputs_of_rbf_end_in_an_optimum():
    """ldefm Sect. 7.1 prints 3.3e-3. With 11 numbers to choose the error alternates 12 times."""
    found = lp_signature("rbf", 11, low=0.0, high=np.pi, sigma=0.1**0.5)
    lam = np.linspace(0, np.pi, 20_001)
    residual = found.cosines(lam) - np.exp(-(lam**2) / 0.2)
    assert found.error == pytest.approx(np.abs(residual).max(), rel=1e-4)
    assert 3.355e-3 < found.error < 3.362e-3  # measured 3.3596e-3
    signs = np.sign(residual[np.abs(residual) > 0.999 * found.error])
    assert np.count_nonzero(np.diff(signs)) + 1 == 12
