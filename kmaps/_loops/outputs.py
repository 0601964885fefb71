"""The outputs of landmarks, and dual coordinate descent on outputs, some rows at a time."""

import numpy as np

from kmaps._loops.compiling import loop
from kmaps._loops.entries import COMPILED
from kmaps._loops.vectors import aligned_zeros

STRIP = 128  # columns at a time, of which eight rows of B stay in a core's first cache


@loop(**COMPILED)
def upper_product(X, B):
    """Return X (n, m) @ B (m, m), upper triangular, with m a multiple of STRIP.

    Unlike BLAS's, the bits of a row depend on that row alone.
    """
    # Rows at distances of a power of two would share few places in the caches.
    x_parts = np.empty((len(B) // 8, len(X), 8), X.dtype)
    for i in range(len(X)):
        for k in range(len(B)):
            x_parts[k // 8, i, k % 8] = X[i, k]
    out = np.empty_like(X)
    tile = aligned_zeros(len(X) * STRIP, B.dtype).reshape(len(X), STRIP)
    b = aligned_zeros(8 * STRIP, B.dtype)
    for left in range(0, len(B), STRIP):
        tile[:] = 0
        for k in range(0, left + STRIP, 8):
            for row in range(8):
                for j in range(STRIP):
                    b[row * STRIP + j] = B[k + row, left + j]
            for i in range(len(X)):
                x = x_parts[k // 8, i]
                sums = tile[i]
                p = x[0]
                q = x[1]
                r = x[2]
                s = x[3]
                t = x[4]
                u = x[5]
                v = x[6]
                w = x[7]
                for j in range(STRIP):
                    first = (
                        p * b[j] + q * b[STRIP + j] + r * b[2 * STRIP + j] + s * b[3 * STRIP + j]
                    )
                    last = t * b[4 * STRIP + j] + u * b[5 * STRIP + j]
                    sums[j] += first + last + v * b[6 * STRIP + j] + w * b[7 * STRIP + j]
        for i in range(len(X)):
            for j in range(STRIP):
                out[i, left + j] = tile[i, j]
    return out


@loop(fastmath={"reassoc", "nsz", "contract"})
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
            i = places[k]
            row = outputs[k]
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
