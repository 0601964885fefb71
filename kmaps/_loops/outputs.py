"""Dual coordinate descent on the outputs of a map, some rows at a time."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def descend_rows(outputs, order, places, signs, norms, upper, ridge, bias, alpha, weights):
    """Move the variables of some rows, each in turn, to where the dual is highest; return the loss.

    ``outputs`` (k, r) float32 belong to the rows; ``order`` (visits, m) says which rows are
    visited, each until a visit does not move its variable; ``places`` (k,) where the variables are.
    ``signs``, ``norms`` (of a row's outputs and the bias, squared), ``upper``, ``ridge`` and
    ``alpha`` are as in `kmaps._loops.train.Task`, for the hinge and its square. ``weights``
    (r + 1,) float64, the constant feature's last, are w(alpha) and stay so. The loss is the sum of
    max(0, 1 - margin) and of its square, of each row at its first visit, times what the row costs.
    """
    n_outputs = outputs.shape[1]
    loss = 0.0
    moves = np.ones(len(outputs), np.bool_)
    for visit in range(order.shape[0]):
        for k in order[visit]:
            if not moves[k]:
                continue
            i, row = places[k], outputs[k]
            margin = weights[n_outputs] * bias
            for j in range(n_outputs):
                margin += weights[j] * row[j]
            short = 1.0 - signs[i] * margin
            if visit == 0 and short > 0:
                loss += short * short / (2 * ridge[i]) if ridge[i] > 0 else upper[i] * short
            best = alpha[i] + (short - ridge[i] * alpha[i]) / (norms[k] + ridge[i])
            after = min(max(best, 0.0), upper[i])
            step = (after - alpha[i]) * signs[i]
            moves[k] = step != 0
            if moves[k]:
                alpha[i] = after
                weights[n_outputs] += step * bias
                for j in range(n_outputs):
                    weights[j] += step * row[j]
    return loss
