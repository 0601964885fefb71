"""Samples in which every class has its share."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kmaps.checks import check_whole


def stratified_order(y: ArrayLike, seed: int) -> NDArray[np.intp]:
    """Return the numbers of the samples class by class, in random order within each class.

    Every m-th of them is a stratified draw: each class has its share, to within one sample. So
    the samples at the places ``k``, ``k + m``, ``k + 2 * m``, … are one of m stratified folds.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels, numbers or strings.
    seed : int

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0, 1, 1])
    >>> y[stratified_order(y, seed=0)].tolist()
    [0, 0, 1, 1, 1, 1]
    """
    y = np.asarray(y)
    order = np.random.default_rng(seed).permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]


def stratified_sample(y: ArrayLike, samples: int | None, seed: int) -> NDArray[np.intp]:
    """Return the numbers of some samples, class by class, drawn so that each class has its share.

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels, numbers or strings.
    samples : int or None
        How many; None, or more than there are: all.
    seed : int

    Returns
    -------
    ndarray of int, shape (min(samples, n),)
        In the order of :func:`stratified_order`.

    Raises
    ------
    ConfigError
        When ``samples`` is not a whole number of at least 1.

    Examples
    --------
    >>> y = np.array([1, 0, 1, 0, 1, 1])
    >>> y[stratified_sample(y, 3, seed=0)].tolist()
    [0, 1, 1]
    """
    order = stratified_order(y, seed)
    if samples is None:
        return order
    check_whole("samples", samples, 1)
    chosen = min(samples, len(order))
    return order[np.arange(chosen) * len(order) // chosen]
