"""Block coordinate descent on groups of weights, on a quadratic model kept as a Gram matrix."""

from math import sqrt

import numpy as np

from kmaps._loops.compiling import loop


@loop(fastmath={"reassoc", "nsz", "contract"})
def descend_groups(gram, starts, gradient, weights, n_sweeps):
    """Lower  gradient'(v - w) + (v - w)'gram(v - w) / 2 + sum over groups g of |v_g|  from v = w.

    ``weights`` and ``gradient`` (k,) are w and the gradient there, and are brought to v. Group g
    has the weights from ``starts[g]`` up to ``starts[g + 1]``; each visit is a proximal step.
    """
    for _ in range(n_sweeps):
        for g in range(len(starts) - 1):
            first = starts[g]
            last = starts[g + 1]
            length = 0.0
            curvature = 0.0
            for c in range(first, last):
                for e in range(first, last):
                    curvature += gram[c, e] ** 2
            if curvature == 0.0:
                continue
            step = 1.0 / sqrt(curvature)
            for c in range(first, last):
                length += (weights[c] - step * gradient[c]) ** 2
            length = sqrt(length)
            shrinkage = 1.0 - step / length if length > step else 0.0
            change = np.empty(last - first)
            for c in range(first, last):
                after = shrinkage * (weights[c] - step * gradient[c])
                change[c - first] = after - weights[c]
                weights[c] = after
            for c in range(first, last):
                if change[c - first] != 0.0:
                    row = gram[c]
                    for e in range(len(weights)):
                        gradient[e] += change[c - first] * row[e]
