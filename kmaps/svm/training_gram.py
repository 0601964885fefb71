"""The Gram matrix that a kernel SVM is trained on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_room
from kmaps.errors import InputError
from kmaps.gram_matrix import gram, mean_squared_distance, quick_gram
from kmaps.kernels import WIDTH_KERNELS
from kmaps.matrices import AnyMatrix

_LEAST_KERNEL = np.finfo(np.float32).tiny  # below it, numbers lose their digits


def check_memory(n: int, more: int) -> None:
    """Refuse a Gram matrix, with so many bytes more for each value, for which nothing is free."""
    per_value = np.dtype(np.float32).itemsize + more
    check_room(
        f"the Gram matrix of {n:,} samples takes",
        per_value * n**2,
        lambda free: (
            f"train on {int((free / per_value) ** 0.5):,} samples or fewer, or use LandmarkSVC "
            "(exponential kernels) or CodedSVC (additive ones)"
        ),
    )


def training_gram(
    X: AnyMatrix, kernel: Any, gamma: float, sigma: float | None, *, quick: bool
) -> tuple[float | None, NDArray[np.float32]]:
    """Return the width in use, learnt where it is None, and the Gram matrix (n, n)."""
    if sigma is None and kernel in WIDTH_KERNELS:
        # Equal rows have no width: with None, gram raises the error.
        sigma = mean_squared_distance(X, kernel=kernel, gamma=gamma) ** 0.5 or None
    make = quick_gram if quick and not callable(kernel) else gram
    matrix = make(X, kernel=kernel, gamma=gamma, sigma=sigma)
    largest = matrix.diagonal().max()
    if largest < _LEAST_KERNEL and abs(X).max() > 0:
        raise InputError(
            f"the kernel of a row with itself is at most {largest:.2g}, too small for single "
            f"precision: it must be {_LEAST_KERNEL:.2g} or more; multiply the features by a number"
        )
    return sigma, matrix
