"""Visual words: k-means on descriptors, and the nearest word of each."""

import numpy as np
from numpy.typing import NDArray

from kmaps.errors import ConfigError
from kmaps.parallel import for_blocks

_ROUNDS = 25
_BLOCK_ROWS = 4096


def learn_words(sample: NDArray[np.float32], n_words: int, seed: int) -> NDArray[np.float32]:
    """Return the centres that k-means finds, from rows drawn at random, in 25 rounds or fewer.

    A centre without a row of its own moves to the row that is farthest from its centre.

    Parameters
    ----------
    sample : ndarray of float32, shape (m, d)
    n_words : int
    seed : int

    Returns
    -------
    ndarray of float32, shape (n_words, d)

    Raises
    ------
    ConfigError
        If the sample has fewer different rows than there are to be words.
    """
    # Rows of equal bytes: many patches of one grey are the same.
    distinct = np.unique(np.ascontiguousarray(sample).view(f"V{sample.strides[0]}"), axis=0)
    if n_words > len(distinct):
        raise ConfigError(
            f"a vocabulary of {n_words} words needs as many different descriptors, the training "
            f"images gave {len(distinct)}: take fewer words or more samples"
        )
    rng = np.random.default_rng(seed)
    start = rng.choice(distinct[:, 0], n_words, replace=False)
    words = np.frombuffer(start.tobytes(), np.float32).reshape(n_words, -1)
    before = None
    for _ in range(_ROUNDS):
        nearest, scores = _nearest(sample, words)
        if before is not None and np.array_equal(nearest, before):
            break
        words, before = _means(sample, nearest, scores, n_words), nearest
    return words


def nearest_words(descriptors: NDArray[np.float32], words: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the nearest word, in the Euclidean sense, of each descriptor; the first of equals.

    Parameters
    ----------
    descriptors : ndarray of float32, shape (m, d)
    words : ndarray of float32, shape (k, d)

    Returns
    -------
    ndarray of int, shape (m,)

    Examples
    --------
    >>> ends = np.array([[0], [10]], np.float32)
    >>> nearest_words(np.array([[4], [6], [5]], np.float32), ends)
    array([0, 1, 0])
    """
    return _nearest(descriptors, words)[0]


def _nearest(
    descriptors: NDArray[np.float32], words: NDArray[np.float32]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return each descriptor's nearest word w, and x·w - |w|²/2, which is largest there."""
    # |x - w|² = |x|² - 2 (x·w - |w|²/2): one matrix product a block decides.
    half_squares = np.einsum("ij,ij->i", words, words) / 2
    nearest = np.empty(len(descriptors), np.intp)
    largest = np.empty(len(descriptors), np.float32)

    def assign(start: int, stop: int) -> None:
        scores = descriptors[start:stop] @ words.T
        scores -= half_squares
        nearest[start:stop] = scores.argmax(axis=1)
        largest[start:stop] = np.take_along_axis(scores, nearest[start:stop, None], 1)[:, 0]

    for_blocks(assign, len(descriptors), _BLOCK_ROWS)
    return nearest, largest


def _means(
    sample: NDArray[np.float32], nearest: NDArray[np.intp], scores: NDArray, n_words: int
) -> NDArray[np.float32]:
    from scipy import sparse  # slow to import

    ones = np.ones(len(sample), np.float32)
    # Row i of the transpose has its one in column nearest[i].
    members = sparse.csr_array((ones, nearest, np.arange(len(sample) + 1))).T
    members.resize(n_words, len(sample))
    counts = np.bincount(nearest, minlength=n_words)
    words = (members @ sample) / np.maximum(counts, 1).astype(np.float32)[:, None]
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        distances = np.einsum("ij,ij->i", sample, sample) - 2 * scores
        words[empty] = sample[np.argsort(-distances, kind="stable")[: len(empty)]]
    return words
