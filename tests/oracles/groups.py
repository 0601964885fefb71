"""The group lasso with a hinge loss as a smooth problem with constraints, for a general solver."""

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits


def best_objective(X, signs, costs, groups, squared):
    """Return min over w of the sum of the groups' lengths plus the costs times the losses.

    The dual has the slopes a of the losses as variables: maximise sum a (minus a² / 4 cost for the
    squared hinge), at most the cost for the hinge, where no group's columns times a·signs are
    longer than 1. Its constraints are smooth when squared.
    """
    n = len(signs)
    products = [(X[:, g] * signs[:, None]).T for g in groups]

    def minus_dual(a):
        return -a.sum() + ((a**2 / (4 * costs)).sum() if squared else 0)

    def slope(a):
        return -np.ones(n) + (a / (2 * costs) if squared else 0)

    lengths = {
        "type": "ineq",
        "fun": lambda a: np.array([1 - ((P @ a) ** 2).sum() for P in products]),
        "jac": lambda a: np.array([-2 * P.T @ (P @ a) for P in products]),
    }
    with threadpool_limits(1):  # small matrices
        found = minimize(
            minus_dual,
            np.full(n, 1e-3),
            jac=slope,
            bounds=[(0, None if squared else c) for c in costs],
            constraints=[lengths],
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 1000},
        )
    # 8: older SciPy stops where the last digits leave no direction to go; callers compare values.
    assert found.status in (0, 8), found.message
    return -found.fun
