"""From images to non-negative feature vectors, and their normalisations."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError, InputError, suggest

Matrix = NDArray[np.float32]


class Images(Protocol):
    """What :func:`extract` needs of a dataset."""

    name: str
    images: NDArray[np.uint8] | list
    max_level: int


def intensity(dataset: Images) -> Matrix:
    """Return the grey values, divided by the largest possible one.

    Parameters
    ----------
    dataset : Dataset
        With images of one shape, uint8 of shape (n, height, width).

    Returns
    -------
    ndarray of float32, shape (n, height * width)
        In [0, 1], row by row of the image.

    Raises
    ------
    InputError
        If the pictures differ in size.
    """
    images = dataset.images
    if not isinstance(images, np.ndarray):
        raise InputError(
            f"{dataset.name}: the pictures differ in size, intensity needs them all of one shape; "
            "use other features"
        )
    flat = images.reshape(len(images), -1)
    return np.divide(flat, np.float32(dataset.max_level), dtype=np.float32)


def _divided(X: Matrix, lengths: Matrix) -> Matrix:
    # A row of zeros has no direction and stays as it is.
    X /= np.where(lengths > 0, lengths, 1)[:, None]
    return X


def _l1(X: Matrix) -> Matrix:
    return _divided(X, np.abs(X).sum(axis=1))


def _l2(X: Matrix) -> Matrix:
    return _divided(X, np.sqrt(np.einsum("ij,ij->i", X, X)))


FEATURES: dict[str, Callable[[Images], Matrix]] = {"intensity": intensity}
NORMALIZATIONS: dict[str, Callable[[Matrix], Matrix]] = {
    "none": lambda X: X,
    "l1": _l1,
    "l2": _l2,
}


def extract(dataset: Images, name: str = "intensity", normalize: str = "none") -> Matrix:
    """Return the features of a dataset's images.

    Parameters
    ----------
    dataset : Dataset
        As :func:`kmaps.data.load_dataset` returns it.
    name : str
        A key of :data:`FEATURES`.
    normalize : str
        A key of :data:`NORMALIZATIONS`: each row as it is (``none``), divided by the sum of its
        magnitudes (``l1``) or by its Euclidean norm (``l2``); rows of zeros stay.

    Returns
    -------
    ndarray of float32, shape (n, d)

    Raises
    ------
    ConfigError
        If a name is unknown.
    InputError
        If the features do not fit the images.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> images = np.array([[[1, 3]], [[0, 0]]], np.uint8)
    >>> two = SimpleNamespace(name="two", images=images, max_level=4)
    >>> extract(two)
    array([[0.25, 0.75],
           [0.  , 0.  ]], dtype=float32)
    """
    for what, given, known in (
        ("features", name, FEATURES),
        ("normalisation", normalize, NORMALIZATIONS),
    ):
        if given not in known:
            raise ConfigError(
                f"unknown {what} {given!r}{suggest(given, known)} (known: {', '.join(known)})"
            )
    return NORMALIZATIONS[normalize](FEATURES[name](dataset))
