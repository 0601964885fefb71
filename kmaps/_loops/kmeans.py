"""Optimal k-means clusters of sorted numbers, by dynamic programming."""

import numpy as np

from kmaps._loops.compiling import inner, loop


@inner()
def _spread(sums, i, j):
    """Return the weighted sum of squares about the mean of the values i … j."""
    weight = sums[0, j + 1] - sums[0, i]
    total = sums[1, j + 1] - sums[1, i]
    return max(sums[2, j + 1] - sums[2, i] - total * total / weight, 0.0)


@inner()
def _add_cluster(sums, k, before, after, first):
    """Fill ``after[j]``: the least spread of the values 0 … j in k+1 clusters.

    ``before`` has it for k clusters; ``first[j]`` becomes the first value of the last cluster.
    That index never falls as j grows, so each j need only look between the indices of j - step and
    j + step: filled by halving steps, all j together look at n values per step.
    """
    n = len(before)
    step = 1
    while step < n - k:
        step *= 2
    while step > 0:
        for j in range(k + step - 1, n, 2 * step):
            lowest = first[j - step] if j - step >= k else k
            highest = first[j + step] if j + step < n else j
            best = np.inf
            for i in range(lowest, min(highest, j) + 1):
                spread = before[i - 1] + _spread(sums, i, j)
                if spread < best:
                    best = spread
                    first[j] = i
            after[j] = best
        step //= 2


@inner()
def _centres(values, sums, firsts, k):
    """Return the means of the k+1 best clusters, and how far a value is from its own at most."""
    centres = np.empty(k + 1)
    radius = 0.0
    j = len(values) - 1
    for c in range(k, -1, -1):
        i = firsts[c, j]
        weight = sums[0, j + 1] - sums[0, i]
        centres[c] = values[0] + (sums[1, j + 1] - sums[1, i]) / weight
        radius = max(radius, values[j] - centres[c], centres[c] - values[i])
        j = i - 1
    return centres, radius


@loop()
def cluster(values, weights, most, radius):
    """Cluster distinct, ascending values so that the weighted squares about the means are least.

    The number of clusters grows from 1 until every value is within ``radius`` of its mean (a
    negative one is never reached), there are ``most``, or each value has its own. Among equally
    good clusterings the one whose last clusters begin first is taken. Returns the means (k,),
    ascending, and the largest distance between a value and the mean of its cluster.
    """
    n = len(values)
    most = min(most, n)
    sums = np.zeros((3, n + 1))
    for j in range(n):
        x = values[j] - values[0]  # relative to an end of the range: squares lose fewer digits
        sums[0, j + 1] = sums[0, j] + weights[j]
        sums[1, j + 1] = sums[1, j] + weights[j] * x
        sums[2, j + 1] = sums[2, j] + weights[j] * x * x
    firsts = np.zeros((most, n), np.int32)
    before = np.empty(n)
    after = np.empty(n)
    for j in range(n):
        before[j] = _spread(sums, 0, j)
    k = 0
    centres, reached = _centres(values, sums, firsts, k)
    while k + 1 < most and reached > radius:
        k += 1
        _add_cluster(sums, k, before, after, firsts[k])
        before, after = after, before
        centres, reached = _centres(values, sums, firsts, k)
    return centres, reached
