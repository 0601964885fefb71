"""The loss of each row where Newton's method stands: dual variables, curvatures, slopes.

`Task` in `kmaps._loops.train` describes the rows; see `kmaps.svm.newton`.
"""

import numpy as np

from kmaps._loops.compiling import inner, loop


@loop(error_model="numpy")
def dual_point(task, ridge, centre, margins, alpha, curvature):
    """Fill the dual variables that minus the slope of the loss gives, and the loss's curvature.

    The conjugate of the loss is ε|a| + ridge (a - centre)² / 2 between the bounds, or the logistic
    one.
    """
    for i in range(len(margins)):
        excess = margins[i] - task.targets[i]
        upper = task.upper[i]
        if task.logistic:
            share = _logistic(-excess)
            alpha[i] = upper * share
            curvature[i] = upper * share * (1 - share)
            continue
        a, inside = _nearest(task, ridge[i], centre[i], upper, excess)
        alpha[i] = a
        curvature[i] = 1 / ridge[i] if inside else 0.0


@loop(error_model="numpy")
def slope_along(task, ridge, centre, margins, change, step):
    """Return the slope of the loss along ``change``, and its own slope, ``step`` of the way."""
    slope, curvature = 0.0, 0.0
    for i in range(len(margins)):
        if change[i] == 0:
            continue
        excess = margins[i] + step * change[i] - task.targets[i]
        upper = task.upper[i]
        if task.logistic:
            share = _logistic(-excess)
            slope -= upper * share * change[i]
            curvature += upper * share * (1 - share) * change[i] * change[i]
            continue
        a, inside = _nearest(task, ridge[i], centre[i], upper, excess)
        slope -= a * change[i]
        if inside:
            curvature += change[i] * change[i] / ridge[i]
    return slope, curvature


@inner(error_model="numpy")
def _nearest(task, ridge, centre, upper, excess):
    """Return the dual variable of an excess, and whether it is at no bound."""
    pull = ridge * centre - excess
    if task.two_sided:
        if pull > task.epsilon:
            a = (pull - task.epsilon) / ridge
        elif pull < -task.epsilon:
            a = (pull + task.epsilon) / ridge
        else:
            return 0.0, False
        if a >= upper:
            return upper, False
        return (-upper, False) if a <= -upper else (a, True)
    a = (pull - task.epsilon) / ridge
    if a <= 0:
        return 0.0, False
    return (upper, False) if a >= upper else (a, True)


@inner(error_model="numpy")
def _logistic(z):
    return 1 / (1 + np.exp(-z)) if z >= 0 else np.exp(z) / (1 + np.exp(z))
