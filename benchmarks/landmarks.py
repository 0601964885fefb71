"""Landmark models: training where memory does not hold the outputs of all rows.

``KMAPS_LANDMARK_ROWS`` is how many rows of 100 values there are, 1,000,000 by default, and
``KMAPS_LANDMARKS`` how many landmarks, 2,000: each of the two lines takes minutes.
"""

import os
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import PROCESS, Limit, Quantity, seconds
from benchmarks.scale import drawn
from kmaps import LandmarkSVC

_ROWS = int(os.environ.get("KMAPS_LANDMARK_ROWS", "1000000"))
_LANDMARKS = int(os.environ.get("KMAPS_LANDMARKS", "2000"))
_ONCE = Quantity(seconds, 1e3, "ms", "faster", warm_up=False)


def pairs() -> Iterator[Limit]:
    name = f"hinge, {_ROWS:,} x 100, m = {_LANDMARKS:,}"
    yield Limit(name, training(_ROWS, _LANDMARKS), 60_000, _ONCE)
    lines = f"from benchmarks.landmarks import training\ntraining({_ROWS}, {_LANDMARKS})()"
    yield Limit("all memory of that", lines, 1500, PROCESS)


def training(n_rows: int, n_landmarks: int) -> Callable[[], LandmarkSVC]:
    """Return the training on rows of two classes: C = 1, a gap of 1e-3, the mean width."""
    blocks, labels = zip(*drawn(n_rows), strict=True)
    X, y = np.concatenate(blocks), np.concatenate(labels)
    LandmarkSVC(n_landmarks=10, sigma=None).fit(X[:500], y[:500])  # which loads and compiles
    return lambda: LandmarkSVC(n_landmarks=n_landmarks, sigma=None, tol=1e-3).fit(X, y)
