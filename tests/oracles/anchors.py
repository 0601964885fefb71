"""Nearest anchors and best clusters by trying everything."""

import itertools

import numpy as np


def nearest(x, anchors, k=1):
    """Return the indices (len(x), k) of the k nearest anchors, ascending; of ties the larger."""
    distance = np.abs(np.asarray(x, float)[:, None] - anchors)
    last_first = len(anchors) - 1 - np.argsort(distance[:, ::-1], axis=1, kind="stable")
    return np.sort(last_first[:, :k], axis=1)


def mean_kernel(kernel, x, anchors, k=1):
    """Return the Gram matrix of k-ANNFM: the kernel, averaged over the k nearest of both values."""
    chosen = anchors[nearest(x, anchors, k)]
    return kernel(chosen[:, None, :, None], chosen[None, :, None, :]).mean(axis=(2, 3))


def best_clusters(values, weights, k):
    """Return the means of the best k clusters of sorted values, and their weighted squares."""
    best = np.inf, None
    for cuts in itertools.combinations(range(1, len(values)), k - 1):
        ends = [0, *cuts, len(values)]
        parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
        means = np.array([np.average(values[p], weights=weights[p]) for p in parts])
        squares = sum(
            (weights[p] * (values[p] - m) ** 2).sum() for p, m in zip(parts, means, strict=True)
        )
        best = min(best, (squares, tuple(means)))
    return np.array(best[1]), best[0]
