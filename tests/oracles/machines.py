"""Two-class machines, solved slowly and plainly."""

import numpy as np
from scipy.optimize import minimize


def primal(square, margins, costs, loss, targets=1):
    """Return |w|²/2 plus the loss of each margin times its cost."""
    short = np.maximum(0, targets - margins)
    losses = {"hinge": short, "squared_hinge": short**2, "logistic": np.logaddexp(0, -margins)}
    return square / 2 + costs @ losses[loss]


def solve_dual(kernel, signs, costs, loss, targets=1):
    """Return the dual variables of a machine without intercept, and the dual objective.

    The box-constrained quadratic programme goes to a quasi-Newton method that knows nothing of
    coordinates.
    """
    Q = signs[:, None] * signs * kernel
    upper = costs if loss == "hinge" else np.full(len(signs), np.inf)
    if loss == "squared_hinge":
        Q = Q + np.diag(1 / (2 * costs))
    unit = np.sqrt(1 / np.trace(Q))  # so that the variables are of the order of one
    scaled, alpha = Q * unit**2, np.zeros(len(signs))
    slopes = unit * targets * np.ones(len(signs))
    for _ in range(100):
        alpha = minimize(
            lambda a: ((scaled @ a) @ a / 2 - a @ slopes, scaled @ a - slopes),
            alpha,
            jac=True,
            bounds=[(0, c / unit) for c in upper],
            method="L-BFGS-B",
            options={"maxiter": 10_000, "ftol": 0, "gtol": 1e-12, "maxcor": 100},
        ).x
        found = alpha * unit
        dual = found @ (targets * np.ones(len(signs))) - found @ Q @ found / 2
        margins = signs * (kernel @ (found * signs))
        if primal(found @ margins, margins, costs, loss, targets) < dual * (1 + 1e-5):
            return found, dual
    raise AssertionError("the quadratic programme was not solved")


def solve_two_sided(kernel, y, costs, loss, epsilon):
    """Return the optimum of a regression without intercept: every sample is short on either side.

    ``loss`` is the hinge, or its square, of what an error has beyond epsilon.
    """
    mirrored = np.block([[kernel, -kernel], [-kernel, kernel]])
    targets, costs = np.r_[y - epsilon, -y - epsilon], np.r_[costs, costs]
    return solve_dual(mirrored, np.ones(2 * len(y)), costs, loss, targets)[1]


def solve_with_intercept(kernel, signs, costs):
    """Return the optimum of a hinge with a free intercept: its variables times signs sum to 0."""
    Q = signs[:, None] * signs * kernel
    found = minimize(
        lambda a: a @ Q @ a / 2 - a.sum(),
        np.zeros(len(signs)),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, c) for c in costs],
        constraints=[{"type": "eq", "fun": lambda a: a @ signs, "jac": lambda a: signs}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return -found.fun


def solve_lasso(X, signs, costs, loss):
    """Return the least sum of the weights' sizes plus a smooth loss: weights as two parts >= 0."""
    both = signs[:, None] * np.hstack([X, -X])

    def objective(parts):
        margins = both @ parts
        slopes = -costs / (1 + np.exp(margins))
        if loss == "squared_hinge":
            slopes = -2 * costs * np.maximum(0, 1 - margins)
        return parts.sum() + primal(0, margins, costs, loss), 1 + both.T @ slopes

    start, least = np.zeros(both.shape[1]), np.inf
    while True:  # it may stop where its model of the curvature is stale
        found = minimize(
            objective,
            start,
            jac=True,
            bounds=[(0, None)] * both.shape[1],
            method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 0, "gtol": 1e-9},
        )
        if found.fun > least * (1 - 1e-9):
            return found.fun
        start, least = found.x, found.fun


def solve_logistic(kernel, signs, costs):
    """Return the margins of a logistic regression without intercept, and its objective.

    The primal, on features that have the kernel as their products, goes to a quasi-Newton method.
    """
    values, vectors = np.linalg.eigh(kernel)
    features = signs[:, None] * vectors * np.sqrt(np.maximum(values, 0))

    def objective(w):
        margins = features @ w
        slopes = -costs / (1 + np.exp(margins))
        return primal(w @ w, margins, costs, "logistic"), w + features.T @ slopes

    found = minimize(
        objective,
        np.zeros(len(signs)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 0, "gtol": 1e-10, "maxcor": 100},
    )
    return features @ found.x, found.fun


class XorShift:
    """The generator xorshift64* (Vigna, 2016), on Python's integers."""

    def __init__(self, state):
        self.state = int(state)

    def below(self, n):
        """Return a whole number from 0 to n - 1."""
        mask = 2**64 - 1
        s = self.state
        s ^= s >> 12
        s = (s ^ (s << 25)) & mask
        s ^= s >> 27
        self.state = s
        return ((s * 0x2545F4914F6CDD1D & mask) >> 32) * n >> 32


def descend(kernel, signs, upper, ridge, random, n_passes):
    """Return the dual variables after some passes of coordinate descent, from zero.

    Gradients come from the kernel matrix. LIBLINEAR's shrinking with half its thresholds; the order
    is that of a Fisher-Yates shuffle before each pass, from the end.
    """
    n = len(signs)
    alpha, order, active = np.zeros(n), list(range(n)), n
    rise, fall = np.inf, -np.inf
    for _ in range(n_passes):
        for k in range(active - 1, 0, -1):
            j = random.below(k + 1)
            order[k], order[j] = order[j], order[k]
        most, least, k = 0.0, 0.0, 0
        while k < active:
            i = order[k]
            gradient = signs[i] * (kernel[i] @ (alpha * signs)) - 1 + ridge[i] * alpha[i]
            low, high = alpha[i] == 0, alpha[i] == upper[i]
            if (low and gradient > rise / 2) or (high and gradient < fall / 2):
                active -= 1
                order[k], order[active] = order[active], i
                continue
            k += 1
            new = min(max(alpha[i] - gradient / (kernel[i, i] + ridge[i]), 0), upper[i])
            if new != alpha[i]:
                most, least = max(most, gradient), min(least, gradient)
                alpha[i] = new
        rise, fall = most or np.inf, least or -np.inf
    return alpha
