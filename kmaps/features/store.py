"""Stages over a dataset: block after block, in parallel, kept in a folder so that they resume.

A block's file appears complete or not at all, so a run that was stopped goes on with the blocks
that are missing, and two processes that compute the same one do no harm.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmaps.features.base import Arrays, Report
from kmaps.io import atomic_file
from kmaps.parallel import for_blocks, threads

T = TypeVar("T")


class Stage:
    """What ``compute(start, stop)`` returns for each block of images.

    Blocks are kept in ``folder``, next to a file that says what they depend on (``about``); without
    a folder they are computed whenever they are asked for.
    """

    def __init__(
        self,
        compute: Callable[[int, int], Arrays],
        n_images: int,
        block_images: int,
        folder: Path | None,
        about: dict[str, Any],
    ) -> None:
        self._compute, self.n_images, self.block_images = compute, n_images, block_images
        self.folder, self.about = folder, about
        if folder is not None and not (folder / "about.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_file(folder / "about.json", force=True) as file:
                file.write(json.dumps(about, indent=1).encode())

    def block(self, number: int) -> Arrays:
        """Return a block, from its file where there is one."""
        start = number * self.block_images
        stop = min(start + self.block_images, self.n_images)
        if self.folder is None:
            return self._compute(start, stop)
        path = self._path(number)
        arrays = kept_arrays(path)
        if arrays is None:
            arrays = self._compute(start, stop)
            if "bad" not in arrays:  # those images may be there the next time
                keep_arrays(path, arrays)
        return arrays

    def _path(self, number: int) -> Path:
        assert self.folder is not None  # else nothing is kept
        return self.folder / f"{number:05}.npz"

    def not_kept(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of some rows whose blocks have no file."""
        missing = [
            number
            for number in np.unique(rows // self.block_images).tolist()
            if self.folder is None or not self._path(number).exists()
        ]
        return rows[np.isin(rows // self.block_images, missing)]

    def visit(
        self,
        rows: Sequence[int],
        function: Callable[[Arrays, NDArray[np.intp], int], T],
        label: str,
        progress: Report | None,
    ) -> list[T]:
        """Call ``function(arrays, rows, first)`` for each block with some of the rows, in parallel.

        The rows are ascending, without repetition; the function gets a block's arrays, the rows
        wanted of it, counted from its first, and this first. The results come in the order of the
        blocks; ``progress`` is called from one thread at a time.
        """
        numbers, firsts = np.unique(np.asarray(rows) // self.block_images, return_index=True)
        wanted = np.split(np.asarray(rows), firsts[1:])
        done, lock = 0, Lock()

        def visit_one(start: int, stop: int) -> T:
            nonlocal done
            number, some = int(numbers[start]), wanted[start]
            first = number * self.block_images
            with threads(1):
                result = function(self.block(number), some - first, first)
            with lock:
                done += len(some)
                report(label, done, len(rows))
            return result

        report = progress or (lambda label, done, total: None)
        report(label, 0, len(rows))
        # The blocks share the processors out; what happens inside a block is not to do it again.
        with threadpool_limits(1):
            return for_blocks(visit_one, len(numbers), 1)


def key_of(**what: Any) -> str:
    """Return a short name for what a stage depends on."""
    text = json.dumps(what, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def keep_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays to a file of the cache, with their check sums, whole or not at all."""
    with atomic_file(path, force=True) as file:
        np.savez(file, **arrays)


def kept_arrays(path: Path) -> Arrays | None:
    """Return the arrays of a file of the cache; None where it is missing or damaged.

    The archive has a check sum of each array, so that a flipped bit gives no other features.
    """
    try:
        with np.load(path) as kept:
            return dict(kept)
    except Exception:  # whatever zipfile and NumPy raise for bytes that are something else
        return None
