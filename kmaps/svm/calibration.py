"""Scores as probabilities."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

_STEPS = 100


def logistic_fit(
    scores: NDArray, positive: NDArray[np.bool_], counts: NDArray[np.float64]
) -> tuple[float, float]:
    """Return slope a and shift b for which 1 / (1 + exp(-(a s + b))) is the probability of a class.

    Maximum likelihood by Newton's method with halved steps. The targets are Platt's, a little
    inside 0 and 1, so that separated classes do not ask for an infinite slope.

    Parameters
    ----------
    scores : ndarray, shape (n,)
    positive : ndarray of bool, shape (n,)
        Which rows are of the class.
    counts : ndarray, shape (n,)
        How often each row counts.

    Examples
    --------
    >>> scores, positive = np.array([-1.0, -1.0, 1.0, 1.0]), np.array([False, True, True, True])
    >>> a, b = logistic_fit(scores, positive, np.ones(4))
    >>> bool(a > 0 and b > 0)
    True
    """
    n_positive, n_negative = counts @ positive, counts @ ~positive
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    # In units of the scores' own spread, so that one rounding bound serves all.
    centre, spread = scores.mean(), scores.std() or 1.0
    columns = np.stack([(scores - centre) / spread, np.ones(len(scores))], axis=1)

    def loss(parameters: NDArray) -> float:
        z = columns @ parameters
        return float(counts @ (np.logaddexp(0, z) - targets * z))

    parameters = np.array([0.0, np.log((n_positive + 1) / (n_negative + 1))])
    current = loss(parameters)
    for _ in range(_STEPS):
        p = expit(columns @ parameters)
        gradient = columns.T @ (counts * (p - targets))
        curvature = (columns.T * (counts * p * (1 - p))) @ columns + 1e-12 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < 1e-10 * max(current, 1):
            break
        length = 1.0
        while (new := loss(parameters - length * step)) > current - 1e-4 * length * gradient @ step:
            length /= 2
            if length < 1e-10:
                break
        parameters, current = parameters - length * step, new
    slope = parameters[0] / spread
    return float(slope), float(parameters[1] - slope * centre)
