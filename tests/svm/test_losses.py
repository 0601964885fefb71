"""A loss is one class and its name: what it states fits together, and solvers take or refuse it."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kmaps import CodedSVC
from kmaps.kernels import get_kernel
from kmaps.svm import code_rows
from kmaps.svm.losses import INSENSITIVE, LOSSES, Loss


class HuberHinge(Loss):
    """The hinge whose corner is a parabola of width 1/2."""

    name = "huber_hinge"

    def ridge(self, costs):
        return 0.5 / costs


@pytest.fixture
def huber(monkeypatch):
    monkeypatch.setitem(LOSSES, HuberHinge.name, HuberHinge)
    return HuberHinge()


EVERY = [
    HuberHinge(),
    *(one() for one in LOSSES.values()),
    *(one(0.2) for one in INSENSITIVE.values()),
]


@pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)
def test_slope_and_conjugate_are_those_of_the_cost(loss):
    excess, step = np.linspace(-3, 3.1, 996), 1e-6
    costs = np.full(len(excess), 1.7)
    differences = (loss.cost(excess + step, costs) - loss.cost(excess - step, costs)) / (2 * step)
    slope = loss.slope(excess, costs)
    np.testing.assert_allclose(slope, differences, atol=1e-5)
    # Young's inequality is an equality at the variable that belongs to an excess, and only there.
    for shift in (0, 40):
        gap = loss.cost(np.roll(excess, shift), costs) + np.roll(excess, shift) * -slope
        gap += loss.conjugate(-slope, costs)
        assert (gap >= -1e-9).all()
        assert (np.abs(gap).max() < 1e-9) == (shift == 0)


def test_a_new_loss_is_trained_on_codes(histograms, huber):
    X, y = histograms
    model = CodedSVC("chi2", C=2.0, loss="huber_hinge", tol=1e-5).fit(X, y)
    assert model.duality_gap_[0] <= 1e-5
    rows = code_rows("chi2", lambda: [X])
    levels = rows.levels[0][rows.rows.codes.reshape(X.shape)]
    gram = 1 + sum(get_kernel("chi2")(x[:, None], x[None, :]) for x in levels.T)
    signs, costs = np.where(y == 1, 1.0, -1.0), np.full(len(y), 2.0)
    squares, vectors = np.linalg.eigh(gram)
    Z = vectors * np.sqrt(squares.clip(0))  # Z Zᵀ is the kernel matrix

    def objective(w):
        short = 1 - signs * (Z @ w)
        losses = np.where(short > 0.5, short - 0.25, np.maximum(short, 0) ** 2)
        slopes = -signs * np.clip(2 * short, 0, 1)
        return w @ w / 2 + costs @ losses, w + Z.T @ (costs * slopes)

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 0, "gtol": 1e-9}
    best = minimize(objective, np.zeros(len(y)), jac=True, method="L-BFGS-B", options=options)
    assert model.objective_[0] == pytest.approx(best.fun, rel=2e-5)
    assert model.objective_[0] < CodedSVC("chi2", C=2.0).fit(X, y).objective_[0] * 0.99
