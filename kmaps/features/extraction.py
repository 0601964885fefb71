"""From a dataset to a matrix: the stages of a feature, and their cache.

A stage computes blocks of images in parallel. A block's file appears complete or not at all: a run
that was stopped continues with the missing blocks, and two processes may compute the same block.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from kmaps.checks import present
from kmaps.errors import ConfigError, DataError, FileNote, InputError
from kmaps.features import base
from kmaps.io import atomic_file
from kmaps.thread_pool import for_blocks, threads

Bad = tuple[int, str]  # the number of an image that cannot be used, and why
T = TypeVar("T")

_FACTS = ("bad", "reasons", "largest", "several")
"""Arrays of the first stage that the second one keeps."""

_LARGEST_12 = 4095


@dataclass(frozen=True, eq=False)
class _CachedStage:
    """The results of ``compute(start, stop)`` for each block of images.

    Blocks are kept in ``folder``, next to a file that says what they depend on (``about``); without
    a folder they are computed every time.
    """

    compute: Callable[[int, int], base.Arrays]
    n_images: int
    block_images: int
    folder: Path | None
    about: dict[str, Any]

    def __post_init__(self) -> None:
        if self.folder is not None and not (self.folder / "about.json").exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_file(self.folder / "about.json", force=True) as file:
                file.write(json.dumps(self.about, indent=1).encode())

    def block(self, number: int) -> base.Arrays:
        start = number * self.block_images
        stop = min(start + self.block_images, self.n_images)
        if self.folder is None:
            return self.compute(start, stop)
        path = self._path(number)
        arrays = _kept_arrays(path)
        if arrays is None:
            arrays = self.compute(start, stop)
            if "bad" not in arrays:  # the bad images may be whole the next time
                _keep_arrays(path, arrays)
        return arrays

    def _path(self, number: int) -> Path:
        return present(self.folder, "the folder of kept blocks") / f"{number:05}.npz"

    def not_kept(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        missing = [
            number
            for number in np.unique(rows // self.block_images).tolist()
            if self.folder is None or not self._path(number).exists()
        ]
        return rows[np.isin(rows // self.block_images, missing)]

    def visit(
        self,
        rows: Sequence[int],
        function: Callable[[base.Arrays, NDArray[np.intp], int], T],
        label: str,
        progress: base.Report | None,
    ) -> list[T]:
        """Call ``function(arrays, rows, first)`` for each block with some of the rows, in parallel.

        The rows ascend without repetition. The function gets a block's arrays, the wanted rows,
        counted from the block's first row, and the number of this first row. The results have the
        order of the blocks; ``progress`` is called from one thread at a time.
        """
        numbers, firsts = np.unique(np.asarray(rows) // self.block_images, return_index=True)
        wanted = np.split(np.asarray(rows), firsts[1:])
        done = 0
        lock = Lock()

        def visit_one(start: int, stop: int) -> T:
            nonlocal done
            number = int(numbers[start])
            block_rows = wanted[start]
            first = number * self.block_images
            with threads(1):
                result = function(self.block(number), block_rows - first, first)
            with lock:
                done += len(block_rows)
                report(label, done, len(rows))
            return result

        report = progress or (lambda label, done, total: None)
        report(label, 0, len(rows))
        # Blocks already run on all processors: inside a block one thread is enough.
        with threadpool_limits(1):
            return for_blocks(visit_one, len(numbers), 1)


def _key_of(**what: Any) -> str:
    text = json.dumps(what, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _keep_arrays(path: Path, arrays: base.Arrays) -> None:
    with atomic_file(path, force=True) as file:
        np.savez(file, **arrays)


def _kept_arrays(path: Path) -> base.Arrays | None:
    """Return the arrays of a file in the cache; None if it is missing or damaged.

    The archive has a check sum of each array, so that a flipped bit does not change features.
    """
    try:
        with np.load(path) as archive:
            return dict(archive)
    except Exception:  # zipfile and NumPy raise many errors for damaged files
        return None


def extract(
    dataset: base.Images,
    name: str = "intensity",
    normalize: str = "none",
    *,
    rows: Sequence[int] | None = None,
    train: Sequence[int] | None = None,
    cache: str | Path | None = None,
    progress: base.Report | None = None,
    on_bad: Callable[[int, str], object] | None = None,
    **parameters: Any,
) -> base.Matrix:
    """Return the features of a dataset's images, float32 (n, d), CSR for bags of words.

    ``rows`` are the wanted images, in this order; :class:`Extractor`,
    :func:`~kmaps.features.get_normalization` and :func:`~kmaps.features.make_feature` describe the
    other arguments. ``on_bad(row, reason)`` is called for each wanted image that is unreadable or
    too small; nothing is learned from it, and its row is the row of a blank image, which the caller
    must leave out. Without ``on_bad``, the first such image raises DataError.
    """
    feature = base.make_feature(name, parameters)
    normalized = base.get_normalization(normalize)
    skip_bad = on_bad is not None
    extractor = Extractor(
        dataset, feature, train=train, cache=cache, progress=progress, skip_bad=skip_bad
    )
    X, bad = extractor.vectors(rows)
    for row, reason in bad:
        on_bad(row, reason)
    for note in extractor.notes():
        warnings.warn(note, FileNote, stacklevel=2)
    return normalized(X)


class Extractor:
    """A feature on a dataset: the array that it ``learned``, and the vectors of the images.

    Features learn from the images ``train`` alone. ``cache`` is a folder that keeps the stages of
    each block of images, by the dataset's digest and the parameters; a later call, also after an
    interruption, continues from there. ``skip_bad`` continues after images that cannot be used;
    otherwise the first one raises DataError.
    """

    def __init__(
        self,
        dataset: base.Images,
        feature: base.Feature,
        *,
        train: Sequence[int] | None = None,
        cache: str | Path | None = None,
        progress: base.Report | None = None,
        skip_bad: bool = False,
    ) -> None:
        if feature.learns and train is None:
            raise ConfigError(f"{feature.name} learns from training images: name them with train")
        self._dataset = dataset
        self._feature = feature
        self._progress = progress
        self._skip_bad = skip_bad
        self._damaged = dataset.damaged if isinstance(dataset, base.NamesDamaged) else {}
        self._label = f"{dataset.name} {feature.name}"
        self._stage = self._described(cache)
        self._largest: dict[
            int, int
        ] = {}  # levels of files of 16 bits, by the first row of a block
        self._several: dict[int, int] = {}  # files of several images, likewise
        self.learned = None
        if feature.learns:
            self._stage = self._encoded(feature, self._stage, np.unique(train))

    def vectors(self, rows: Sequence[int] | None = None) -> tuple[base.Matrix, list[Bad]]:
        """Return the vectors of some images, by default all, and the images that cannot be used.

        Row i belongs to image ``rows[i]``. An image that cannot be used is listed with the reason,
        and has the row of a blank image.
        """
        feature = self._feature

        def select(arrays: base.Arrays, wanted: NDArray[np.intp], first: int) -> tuple:
            if isinstance(feature, base.LearnedFeature):
                content = arrays["data"], arrays["indices"], arrays["indptr"]
                shape = len(arrays["indptr"]) - 1, feature.n_columns
                vectors = sparse.csr_array(content, shape=shape)
            else:
                vectors = arrays["vectors"]
            return vectors[wanted], self._bad(arrays, wanted, first)

        every = np.arange(len(self._dataset.images))
        rows = every if rows is None else np.asarray(rows, np.intp)
        if not len(rows):
            raise InputError(f"{self._label}: no images to extract")
        order = np.unique(rows)
        blocks = []
        bad: list[Bad] = []
        for vectors, bad_of_block in self._stage.visit(order, select, self._label, self._progress):
            blocks.append(vectors)
            bad += bad_of_block
        X = sparse.vstack(blocks, "csr") if feature.learns else np.concatenate(blocks)
        if not np.array_equal(order, rows):
            X = X[np.searchsorted(order, rows)]
        return X, bad

    def fill_cache(self) -> None:
        """Compute and keep the stages of all images, if they are worth keeping."""
        if self._feature.cached:
            every = np.arange(len(self._dataset.images))
            self._stage.visit(every, self._bad, self._label, self._progress)

    def notes(self) -> list[str]:
        """Return what a user should know about the files that were read so far, a line each."""
        lines = []
        largest = max(self._largest.values(), default=0)
        if 0 < largest <= _LARGEST_12:
            bits = largest.bit_length()
            lines.append(
                f"{self._dataset.name}: no level of its images of 16 bits exceeds {largest:,}, so "
                f"they are dark; {bits} bits? white={2**bits - 1} makes that level white"
            )
        several = sum(self._several.values())
        if several:
            lines.append(
                f"{self._dataset.name}: {several:,} files hold several images, of which the first "
                "is used"
            )
        return lines

    def _bad(self, arrays: base.Arrays, wanted: NDArray[np.intp], first: int) -> list[Bad]:
        """Return the block's images that cannot be used; without ``skip_bad`` raise for one."""
        if "largest" in arrays:
            self._largest[first] = int(arrays["largest"])
        if "several" in arrays:
            self._several[first] = int(arrays["several"])
        reasons = {}
        for row, reason in zip(arrays.get("bad", ()), arrays.get("reasons", ()), strict=True):
            reasons[first + row] = str(reason)
        reasons |= self._damaged
        bad = [(int(row), reasons[row]) for row in first + wanted if row in reasons]
        if bad and not self._skip_bad:
            row, reason = bad[0]
            raise DataError(
                f"{self._dataset.name}: {base.image_name(self._dataset, row)}: {reason}; "
                "skip_bad=True leaves such images out"
            )
        return bad

    def _described(self, cache: str | Path | None) -> _CachedStage:
        feature = self._feature
        dataset = self._dataset
        about = {
            "features": feature.name,
            "version": feature.version,
            "parameters": feature.description(),
            "images": len(dataset.images),
            "block_images": feature.block_images,
        }
        folder = None
        if cache is not None and feature.cached:
            about["digest"] = dataset.digest
            folder = Path(cache, dataset.name, f"{feature.name}-{_key_of(**about)}")

        def describe(start: int, stop: int) -> base.Arrays:
            return base.describe_images(feature, dataset, start, stop, self._damaged)

        return _CachedStage(describe, len(dataset.images), feature.block_images, folder, about)

    def _encoded(
        self, feature: base.LearnedFeature, stage: _CachedStage, train: NDArray[np.intp]
    ) -> _CachedStage:
        learned_from = hashlib.sha256(train.astype("<i8").tobytes()).hexdigest()
        about = {**stage.about, "parameters": feature.parameters(), "training_images": learned_from}
        left_out = self._left_out(stage, train)
        if left_out:
            about["left_out"] = left_out
        folder = None
        stored = None
        if stage.folder is not None:
            folder = stage.folder.with_name(f"{feature.name}-{_key_of(**about)}")
            stored = _kept_arrays(folder / "learned.npz")
        learned = stored["learned"] if stored else self._learn(feature, stage, train)
        self.learned = learned

        def encode(start: int, stop: int) -> base.Arrays:
            arrays = stage.block(start // stage.block_images)
            facts: base.Arrays = {key: arrays[key] for key in _FACTS if key in arrays}
            return {**feature.encode(arrays, learned), **facts}

        second = _CachedStage(encode, stage.n_images, stage.block_images, folder, about)
        if folder is not None and not stored:
            _keep_arrays(folder / "learned.npz", {"learned": learned})
        return second

    def _left_out(self, stage: _CachedStage, train: NDArray[np.intp]) -> list[int]:
        """Return the training images that cannot be used: without them the vocabulary differs.

        A kept block has none, except images that were damaged later.
        """
        if stage.folder is None or not self._skip_bad:
            return []
        unsure = np.union1d(stage.not_kept(train), np.intersect1d(train, list(self._damaged)))
        label = f"{self._label}: training images"
        bad_of_blocks = stage.visit(unsure.astype(np.intp), self._bad, label, self._progress)
        return [row for row, _ in chain.from_iterable(bad_of_blocks)]

    def _learn(
        self, feature: base.LearnedFeature, stage: _CachedStage, train: NDArray[np.intp]
    ) -> NDArray:
        def sample(arrays: base.Arrays, wanted: NDArray[np.intp], first: int) -> NDArray:
            bad = [row - first for row, _ in self._bad(arrays, wanted, first)]
            good = np.setdiff1d(wanted, np.array(bad, np.intp))
            return feature.sample(arrays, good, len(train), seed=first)

        label = f"{self._label}: training images"
        samples = np.concatenate(stage.visit(train, sample, label, self._progress))
        if not len(samples):
            raise InputError(f"{self._dataset.name}: no training image can be used")
        if self._progress is not None:
            self._progress(f"{self._label}: learning from {len(samples)} samples", 0, 1)
        with threadpool_limits(1):
            return feature.fit(samples)
