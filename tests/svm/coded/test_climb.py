"""Conjugate gradients on the free variables, against the parabola that they climb."""

import numpy as np
import pytest

from kmaps._loops.vectors import aligned_zeros
from kmaps.svm.coded import descent
from kmaps.svm.coded.tables import tabulate
from kmaps.svm.losses import INSENSITIVE
from tests.svm.coded.problems import BIAS, stated

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 64, (80, 6)).astype(np.uint8)
TABLES = tabulate("chi2", np.linspace(0, 1, 64)[None])
MATRIX = (TABLES.values @ TABLES.values.swapaxes(1, 2))[0]
GRAM = sum(MATRIX[CODES[:, [j]], CODES[:, j]] for j in range(6)) + BIAS**2
SIGNS = np.where(np.sin(CODES[:, :3] / 12).sum(axis=1) + RNG.normal(0, 0.4, 80) > 0.7, 1.0, -1.0)
STRAIGHT, SQUARED = INSENSITIVE["epsilon_insensitive"], INSENSITIVE["squared_epsilon_insensitive"]
KINDS = {"hinge": "hinge", "squared": "squared_hinge", "svr": STRAIGHT(0.1), "ridge": SQUARED(0.0)}


def dual(task, alpha):
    signed = task.signs * alpha
    cost = task.epsilon * np.abs(alpha) + task.ridge * alpha**2 / 2
    return task.targets @ alpha - cost.sum() - signed @ GRAM @ signed / 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_climb_gains_what_it_says_within_the_bounds(kind):
    rng = np.random.default_rng(1)
    costs, targets = rng.random(80) + 0.5, rng.normal(size=80)
    y = targets if kind in ("svr", "ridge") else SIGNS
    problem = stated(CODES, y, TABLES, KINDS[kind], costs)
    task = problem.task
    alpha = rng.uniform(0, 0.4, 80) * (rng.random(80) < 0.8)
    if task.two_sided:
        alpha *= rng.choice([-1, 1], 80)
    alpha[:5] = np.minimum(task.upper, 0.5)[:5]
    weights = aligned_zeros(problem.n_weights)
    constant = problem.rebuild(alpha, weights)
    climbed = descent.Face(problem, alpha)
    at_bound = (alpha == 0) | (np.abs(alpha) == task.upper)
    np.testing.assert_array_equal(climbed.free, np.flatnonzero(~at_bound))
    constant, gain = climbed.climb(weights, constant)
    after = alpha.copy()
    after[climbed.free] = climbed.alpha
    assert gain > 0
    assert dual(task, after) - dual(task, alpha) == pytest.approx(gain, rel=1e-4)
    assert (np.abs(after) <= task.upper).all()
    assert (after * np.sign(alpha) >= 0).all()
    built = aligned_zeros(len(weights))
    assert problem.rebuild(after, built) == pytest.approx(constant)
    np.testing.assert_allclose(weights, built, atol=1e-4)
    assert climbed.evaluations % len(climbed.free) == 0
