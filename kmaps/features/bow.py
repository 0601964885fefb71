"""Bags of visual words on spatial pyramids."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmaps.checks import check_choice, check_flag, check_number, check_whole, check_whole_list
from kmaps.errors import ConfigError
from kmaps.features import sift
from kmaps.features.base import Arrays, GreyImages, LearnedFeature
from kmaps.features.images import GreyImage
from kmaps.features.saliency import salient_places
from kmaps.thread_pool import for_blocks

SAMPLINGS = ("grid", "salient")

_SEED = 0  # for k-means
_ROUNDS = 25  # at most, in k-means
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class DenseSiftBow(LearnedFeature):
    """Histograms, on a pyramid, of visual words: the centres nearest to dense SIFT descriptors.

    SIFT describes patches of one or more sizes on a regular grid. K-means finds the words among
    descriptors of the training images; each descriptor counts for the nearest word, and the words
    are counted in each cell of the pyramid (annfm, Sect. 5.2; hkm, Sect. 8). The defaults give
    21 × 1,024 values, most of them zero.
    """

    patches: tuple[int, ...] = (16, 24, 32)  # sides in pixels, multiples of 4
    step: int = 6  # pixels from one patch to the next
    sampling: str = "grid"  # or "salient": as many patches, placed by kmaps.features.saliency
    longest: int | None = 300  # the longer side in pixels; larger images are shrunk to it
    enlarge: int = 1  # a factor on the sides after that, for images smaller than patches
    # A patch whose mean gradient is at most this, in grey values (0 to 1) per pixel, has the
    # descriptor zero; all such patches belong to the word nearest to zero.
    contrast: float = 0.005
    root: bool = True  # take the square roots of the descriptors' values, after they sum to one
    words: int = 1024
    samples: int = 100  # descriptors per word that are drawn to learn the words
    divisions: tuple[int, ...] = (1, 2, 4)  # g: g × g cells

    name: ClassVar[str] = "dense-sift-bow"
    later: ClassVar[dict[str, Any]] = {"enlarge": 1}
    # The descriptors do not depend on these parameters.
    second_stage: ClassVar[tuple[str, ...]] = ("root", "words", "samples", "divisions")

    def __post_init__(self) -> None:
        self.check(check_whole_list, "patches", low=4)
        if any(patch % 4 for patch in self.patches):
            raise ConfigError(
                f"{self.name}: patches={list(self.patches)}: expected a list of multiples of 4"
            )
        self.check(check_whole, "step", "words", "samples", "enlarge", low=1)
        if self.longest is not None:
            self.check(check_whole, "longest", low=self.smallest)
        self.check(check_number, "contrast", at_least=0)
        self.check(check_choice, "sampling", choices=SAMPLINGS)
        self.check(check_flag, "root")
        self.check(check_whole_list, "divisions", low=1)

    @property
    def smallest(self) -> int:
        """The least side of an image in which the largest patch fits."""
        return -(-max(self.patches) // self.enlarge)

    @property
    def n_columns(self) -> int:
        """The number of words in all cells of all divisions."""
        return self.words * sum(g * g for g in self.divisions)

    def description(self) -> dict[str, Any]:
        """Return the parameters that descriptors depend on."""
        return {k: v for k, v in self.parameters().items() if k not in self.second_stage}

    def describe(self, images: GreyImages) -> Arrays:
        """Return the descriptors, their number in each image, and their places.

        ``places`` (m, 2), float32, are the centres of the patches, as fractions of the image's
        height and width.
        """
        descriptors = []
        places = []
        for image in images:
            descriptors_of_image, places_of_image = self._describe_one(image)
            descriptors.append(descriptors_of_image)
            places.append(places_of_image)
        return {
            "descriptors": np.concatenate(descriptors),
            "places": np.concatenate(places),
            "counts": np.array(list(map(len, descriptors))),
        }

    def _describe_one(self, image: GreyImage) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        if self.enlarge > 1:
            from scipy import ndimage  # slow to import

            image = ndimage.zoom(image, self.enlarge, order=1, grid_mode=True, mode="nearest")
        grids = [sift.grid(image.shape, patch, self.step) for patch in self.patches]
        if self.sampling == "salient":
            grids = salient_places(image, self.patches, [len(tops) for tops, _ in grids])
        descriptors = []
        places = []
        for patch, (tops, lefts) in zip(self.patches, grids, strict=True):
            descriptors.append(sift.describe_patches(image, patch, tops, lefts, self.contrast))
            places.append((np.column_stack([tops, lefts]) + patch / 2) / image.shape)
        return np.concatenate(descriptors), np.concatenate(places, dtype=np.float32)

    def sample(
        self, described: Arrays, rows: NDArray[np.intp], n_training: int, seed: int
    ) -> NDArray[np.uint8]:
        """Return descriptors drawn from training images, about as many from each."""
        share = -(-self.words * self.samples // n_training)
        ends = np.cumsum(described["counts"])
        rng = np.random.default_rng(seed)
        samples = [np.empty((0, sift.LENGTH), np.uint8)]
        for row in rows:
            count = described["counts"][row]
            chosen = rng.choice(count, min(share, count), replace=False)
            samples.append(described["descriptors"][ends[row] - count + np.sort(chosen)])
        return np.concatenate(samples)

    def fit(self, samples: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the words that are learned from descriptors."""
        return learn_words(self._points(samples), self.words, _SEED)

    def encode(self, described: Arrays, learned: NDArray[np.float32]) -> Arrays:
        """Return the CSR rows of a block: how often each word occurs in each cell."""
        words = self.words_of(described["descriptors"], learned)
        counts = described["counts"]
        image = np.repeat(np.arange(len(counts)), counts)
        columns = columns_of(described["places"], words, self.words, self.divisions)
        cells, times = np.unique(image * self.n_columns + columns, return_counts=True)
        rows, columns = np.divmod(cells, self.n_columns)
        return {
            "data": times.astype(np.float32),
            "indices": columns.astype(np.int32),
            "indptr": np.searchsorted(rows, np.arange(len(counts) + 1)).astype(np.int32),
        }

    def words_of(
        self, descriptors: NDArray[np.uint8], learned: NDArray[np.float32]
    ) -> NDArray[np.intp]:
        """Return the nearest word of each descriptor."""
        # Many patches are flat and have the same descriptor: its word is looked up once.
        textured = descriptors.any(axis=1)
        words = np.full(len(descriptors), nearest_words(np.zeros_like(learned[:1]), learned)[0])
        words[textured] = nearest_words(self._points(descriptors[textured]), learned)
        return words

    def _points(self, descriptors: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return the vectors of length one, or zero, by which descriptors are compared."""
        points = descriptors.astype(np.float32)
        if not self.root:
            points /= sift.SCALE
            return points
        points /= np.maximum(points.sum(axis=1, keepdims=True), 1)
        return np.sqrt(points, out=points)


@dataclass(frozen=True)
class Phow(DenseSiftBow):
    """Histograms of visual words of four scales on a pyramid.

    They follow genrbf, Sect. 4, and have 21 × 300 values. The paper's radii are 10, 15, 20 and 25
    pixels; here they are 10, 16, 20 and 24, because the sides of patches are multiples of 4. The
    paper turns patches by their gradients; here they stand upright. The parameters are those of
    :class:`DenseSiftBow`.
    """

    patches: tuple[int, ...] = (20, 32, 40, 48)
    step: int = 5
    words: int = 300

    name: ClassVar[str] = "phow"


def columns_of(
    places: NDArray[np.floating], words: NDArray[np.intp], n_words: int, divisions: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return the columns (levels, m) of words at ``places`` (m, 2), which are from 0 to 1."""
    first = 0
    columns = []
    for g in divisions:
        down, right = np.minimum((places * g).astype(np.int64), g - 1).T
        columns.append(first + (down * g + right) * n_words + words)
        first += g * g * n_words
    return np.stack(columns)


def learn_words(sample: NDArray[np.float32], n_words: int, seed: int) -> NDArray[np.float32]:
    """Return the centres (n_words, d) that k-means finds in a sample (m, d), in at most 25 rounds.

    It starts from random rows. A centre that is nearest to no row moves to the row that is farthest
    from its centre.
    """
    # Many patches of one grey are equal, and k-means starts from different rows.
    distinct = np.unique(np.ascontiguousarray(sample).view(f"V{sample.strides[0]}"), axis=0)
    if n_words > len(distinct):
        raise ConfigError(
            f"a vocabulary of {n_words} words needs as many different descriptors, the training "
            f"images have {len(distinct)}: choose fewer words or more samples"
        )
    rng = np.random.default_rng(seed)
    start = rng.choice(distinct[:, 0], n_words, replace=False)
    words = np.frombuffer(start.tobytes(), np.float32).reshape(n_words, -1)
    before = None
    for _ in range(_ROUNDS):
        nearest, scores = _nearest(sample, words)
        if before is not None and np.array_equal(nearest, before):
            break
        words = _means(sample, nearest, scores, n_words)
        before = nearest
    return words


def nearest_words(descriptors: NDArray[np.float32], words: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return, for each row (m, d), the number of the nearest word (k, d), the first if several."""
    return _nearest(descriptors, words)[0]


def _nearest(
    descriptors: NDArray[np.float32], words: NDArray[np.float32]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Return the nearest word w of each descriptor x, and x·w - |w|²/2, which w maximises."""
    # |x - w|² = |x|² - 2 (x·w - |w|²/2): one matrix product per block decides.
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
