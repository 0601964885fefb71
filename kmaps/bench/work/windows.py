"""VOC 2007 as samples of a trade-off: windows to train on, candidate windows to be scored.

As in a cascade, a first stage leaves the kernels few windows: an additive chi2 machine that tells
objects, of any class, from what is beside them, and keeps the best windows of a picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kmaps.bench.kinds.study_spec import Devkit
from kmaps.bench.work.trials import Samples
from kmaps.bench.work.voc import (
    Detections,
    Windows,
    detect,
    evaluate,
    suppress,
    training_windows,
)
from kmaps.data.annotations import Scene, load_voc
from kmaps.data.cache import cache_root
from kmaps.errors import DataError
from kmaps.features import Phog, describe_windows, get_normalization, load_picture
from kmaps.maps import HomogeneousMap
from kmaps.svm import LiblinearSVC

VOC_ADDRESS = "http://host.robots.ox.ac.uk/pascal/VOC/voc2007/"
_ARCHIVES = "VOCtrainval_06-Nov-2007.tar and VOCtest_06-Nov-2007.tar"
_ALIKE = 0.8  # overlap beyond which the first stage keeps one window of two


@dataclass(frozen=True)
class Candidates:
    """The windows of the test pictures, in the order of the samples."""

    scenes: list[Scene]
    boxes: list[NDArray[np.int64]]

    def average_precision(self, name: str, scores: NDArray) -> float:
        """Return the average precision of a class by the rules of VOC 2007."""
        parts = np.split(scores, np.cumsum([len(boxes) for boxes in self.boxes])[:-1])
        found = [
            suppress(Detections(boxes, part), 0.3)
            for boxes, part in zip(self.boxes, parts, strict=True)
        ]
        return evaluate(found, self.scenes, name).average_precision()


def load_windows(devkit: Devkit, feature: Phog, normalize: str, classes: Sequence[str]) -> Samples:
    """Return windows of VOC 2007 as the samples of detectors of some classes.

    Parameters
    ----------
    devkit : Devkit
        Which pictures of ``trainval`` and of ``test``, and which windows.
    feature : Phog
    normalize : str
        As of `kmaps.features.get_normalization`.
    classes : sequence of str

    Raises
    ------
    DataError
        If the pictures are not there; it says where they belong.
    """
    folder = _devkit()
    train, test = load_voc(folder, "trainval"), load_voc(folder, "test")
    train, test = train[: devkit.train], test[: devkit.test]
    windows = Windows(tuple(devkit.ratios), devkit.smallest, devkit.growth, devkit.stride)
    normalized = get_normalization(normalize)
    x_train, y = training_windows(train, classes, feature, windows, per_scene=devkit.beside)
    linear = LiblinearSVC(10.0, loss="hinge", tol=0.1)
    first = make_pipeline(FunctionTransformer(normalized), HomogeneousMap("chi2"), linear)
    first.fit(x_train, y > 0)
    kept = [
        found.boxes
        for found in detect(test, feature, windows, first, overlap=_ALIKE, most=devkit.candidates)
    ]
    described = [
        describe_windows(feature, load_picture(scene.path, 255, None), boxes)
        for scene, boxes in zip(test, kept, strict=True)
    ]
    tasks = [((y == i).astype(np.int64), name) for i, name in enumerate(classes, 1)]
    judge = Candidates(test, kept).average_precision
    return Samples(normalized(x_train), normalized(np.concatenate(described)), tasks, judge)


def _devkit() -> Path:
    root = cache_root()
    folder = root / "VOCdevkit" / "VOC2007"
    if not folder.is_dir():
        raise DataError(
            f"voc2007 is not in {root}: unpack {_ARCHIVES} from {VOC_ADDRESS} there, which makes "
            f"{folder}, or set KMAPS_DATA_DIR to the folder that holds VOCdevkit"
        )
    return folder
