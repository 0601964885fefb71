"""What rounding does to weights, and why it does not spoil the gap.

Steps leave float32 weights W that differ from w(a), the weights of the variables a, by the rounding
of all steps. Descent sees the margins of W, so it is these that are right at the end; those of w(a)
are not, and with a large C the loss of support vectors that are short of 1 by a rounding is dear.
But the dual at a bounds the primal at any weights. Where features are what weights are made of,

    P(W) - D(a)  =  |W - w(a)|² / 2  +  Σ (loss_i + cost_i + a_i (margin_i - target_i)),

with the margins of W: the sum that descent makes small, and next to nothing.
"""

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.forms import Form

_PART = 0.01  # of the tolerance, that |W - w(a)|² may take of |w(a)|²


def apart(
    form: Form,
    weights: NDArray[np.float32],
    constant: float,
    rebuilt: NDArray[np.float32],
    rebuilt_constant: float,
) -> tuple[float, float]:
    """Return |W - w(a)|² and |w(a)|², or infinity and zero where the form has no features.

    The weights of the constant feature come after those of the others.
    """
    if form.rows is not form.basis:
        return np.inf, 0.0
    difference = _square(form, weights - rebuilt) + (constant - rebuilt_constant) ** 2
    return difference, _square(form, rebuilt) + rebuilt_constant**2


def is_close(difference: float, square: float, tol: float) -> bool:
    """Return whether weights may stay as they are, for a gap of ``tol``."""
    return difference <= _PART * tol * square


def _square(form: Form, weights: NDArray[np.float32]) -> float:
    """Return the square of the norm in the space of the features."""
    squares = np.sum(np.square(weights, dtype=np.float64).reshape(-1, form.size), axis=1)
    if form.scale is None:
        return float(np.sum(squares))
    used = form.scale > 0
    return float(np.sum(squares[used] / form.scale[used]))
