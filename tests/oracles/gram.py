"""Kernel matrices and distances straight from their definitions, one scalar at a time."""

from decimal import Decimal, localcontext
from math import copysign, log, log1p, log2, sqrt

import numpy as np


def kernel_value(name: str, x: float, y: float, gamma: float = 1.0) -> float:
    """Return sign(xy)·k(|x|, |y|)·|xy|^((gamma - 1) / 2)."""
    if x == 0 or y == 0:
        return 0.0
    a, b = abs(x), abs(y)
    value = {
        "chi2": lambda: 2 * a * b / (a + b),
        "intersection": lambda: min(a, b),
        "js": lambda: (a * log1p(b / a) + b * log1p(a / b)) / (2 * log(2)),
        "hellinger": lambda: sqrt(a * b),
    }[name]()
    return copysign(value, x) * copysign(1.0, y) * (a * b) ** ((gamma - 1) / 2)


def gram(X, Y, name: str, gamma: float = 1.0) -> np.ndarray:
    """Return the additive kernel matrix, by three loops."""
    X, Y = np.asarray(X, float).tolist(), np.asarray(Y, float).tolist()
    return np.array(
        [
            [sum(kernel_value(name, a, b, gamma) for a, b in zip(x, y, strict=True)) for y in Y]
            for x in X
        ]
    )


def metric_term(name: str, x: float, y: float) -> float:
    """Return what one feature of two histograms adds to the squared distance."""
    if x == y:
        return 0.0
    return {
        "chi2": lambda: (x - y) ** 2 / (x + y),
        "intersection": lambda: abs(x - y),
        "js": lambda: sum(t * log2(2 * t / (x + y)) for t in (x, y) if t > 0),
        "hellinger": lambda: (sqrt(x) - sqrt(y)) ** 2,
        "linear": lambda: (x - y) ** 2,
    }[name]()


def squared_distance(X, Y, name: str) -> np.ndarray:
    """Return the squared distances of non-negative rows; linear: of any rows."""
    X, Y = np.asarray(X, float).tolist(), np.asarray(Y, float).tolist()
    return np.array(
        [[sum(metric_term(name, a, b) for a, b in zip(x, y, strict=True)) for y in Y] for x in X]
    )


def exact_kernel(name: str, x: Decimal, y: Decimal, gamma: Decimal) -> Decimal:
    """Return the kernel of two positive numbers."""
    value = {
        "chi2": lambda: 2 * x * y / (x + y),
        "intersection": lambda: min(x, y),
        "js": lambda: (x * (1 + y / x).ln() + y * (1 + x / y).ln()) / (2 * Decimal(2).ln()),
        "hellinger": lambda: (x * y).sqrt(),
    }[name]()
    return value * (x * y) ** ((gamma - 1) / 2)


def exact_distance(X, Y, name: str, gamma: float = 1.0) -> np.ndarray:
    """Return K(x, x) + K(y, y) - 2 K(x, y), in so many digits that nothing is lost."""

    def term(x: Decimal, y: Decimal) -> Decimal:
        own = sum(abs(value) ** power for value in (x, y) if value)
        if not x or not y:
            return own
        sign = 1 if (x > 0) == (y > 0) else -1
        return own - 2 * sign * exact_kernel(name, abs(x), abs(y), power)

    with localcontext(prec=150):
        power = Decimal(gamma)
        X, Y = ([[Decimal(one) for one in row] for row in np.float64(A).tolist()] for A in (X, Y))
        return np.array([[float(sum(map(term, x, y))) for y in Y] for x in X])
