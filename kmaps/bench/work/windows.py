"""VOC 2007 as samples of a trade-off: windows to train on, candidate windows to be scored.

As in the cascade of genrbf, Sect. 4, stages that cost less leave the kernels few windows: an
additive chi2 model that separates objects, of any class, from the background, and keeps the best
windows of an image; and, where it is wanted, a linear model before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kmaps.bench.work.trials import Tasks
from kmaps.bench.work.voc import Detections, Windows, detect, evaluate, suppress, training_windows
from kmaps.data.annotations import Scene, load_voc
from kmaps.data.cache import cache_root, stamped_files
from kmaps.data.manifest import load_manifest
from kmaps.errors import DataError
from kmaps.features import Phog, WindowWords, describe_windows, get_normalization, load_image
from kmaps.features.bow import DenseSiftBow
from kmaps.maps import HomogeneousMap
from kmaps.svm import LiblinearSVC

_ARCHIVES = "VOCtrainval_06-Nov-2007.tar and VOCtest_06-Nov-2007.tar"
_ALIKE = 0.8  # with more overlap, the first stage keeps one window of two


@dataclass(frozen=True)
class Candidates:
    """The windows of the test images, in the order of the samples."""

    scenes: list[Scene]
    boxes: list[NDArray[np.int64]]

    def average_precision(self, name: str, scores: NDArray) -> float:
        """Return the average precision of the scores of windows for a class."""
        ends = np.cumsum([len(boxes) for boxes in self.boxes])
        detections = [
            suppress(Detections(boxes, scene_scores), 0.3)
            for boxes, scene_scores in zip(self.boxes, np.split(scores, ends[:-1]), strict=True)
        ]
        return evaluate(detections, self.scenes, name).average_precision()


def load_windows(
    protocol: Mapping[str, Any],
    feature: Phog | DenseSiftBow,
    normalize: str,
    classes: Sequence[str],
) -> Tasks:
    """Return the windows of VOC 2007 as tasks, one per class.

    ``protocol`` says how many images, the first ones, of ``trainval`` and ``test`` to take, which
    windows, how many ``beside`` objects in an image to train on, how many ``candidates`` to keep of
    a test image, and maybe how many a ``linear`` stage leaves.
    """
    folder = devkit_folder()
    train = load_voc(folder, "trainval")[: protocol.get("train")]
    test = load_voc(folder, "test")[: protocol.get("test")]
    windows = Windows(
        tuple(protocol["ratios"]), protocol["smallest"], protocol["growth"], protocol["stride"]
    )
    normalized = get_normalization(normalize)
    per_scene = protocol["beside"]
    if isinstance(feature, DenseSiftBow):
        images = (load_image(scene.path, 255, None) for scene in train)
        feature = WindowWords.learn(feature, images, len(train))
    x_train, y = training_windows(train, classes, feature, windows, per_scene=per_scene)
    of_any_class = x_train, y > 0
    normalizing = FunctionTransformer(normalized)
    additive = make_pipeline(normalizing, HomogeneousMap("chi2", period=None), _linear()).fit(
        *of_any_class
    )
    before = None
    if "linear" in protocol:
        before = make_pipeline(normalizing, _linear()).fit(*of_any_class), protocol["linear"]
    most = protocol["candidates"]
    detections = detect(test, feature, windows, additive, overlap=_ALIKE, most=most, before=before)
    candidates = Candidates(test, [of_scene.boxes for of_scene in detections])
    described = [
        describe_windows(feature, load_image(scene.path, 255, None), boxes)
        for scene, boxes in zip(test, candidates.boxes, strict=True)
    ]
    labels = [((y == i).astype(np.int64), name) for i, name in enumerate(classes, 1)]
    x_train = normalized(x_train)
    x_test = normalized(np.concatenate(described))
    n_train, n_features = x_train.shape
    sizes = {"n_train": n_train, "n_test": len(x_test), "n_features": n_features, "n_skipped": 0}
    return Tasks(x_train, x_test, labels, candidates.average_precision, sizes)


def _linear() -> LiblinearSVC:
    return LiblinearSVC(10.0, loss="hinge", tol=0.1)


def devkit_folder() -> Path:
    """Return the folder of VOC 2007, downloaded or unpacked by the user.

    A DataError says where it belongs.
    """
    root = cache_root()
    manifest = load_manifest("voc2007")
    if (root / manifest.name).is_dir():
        stamped_files(root, manifest.name, manifest.digest)
        return root / manifest.name
    folder = root / "VOCdevkit" / "VOC2007"
    if not folder.is_dir():
        raise DataError(
            f"voc2007 is not in {root}: run `kmaps download voc2007`, or unpack {_ARCHIVES} there, "
            f"which makes {folder}, or set KMAPS_DATA_DIR to the folder that holds VOCdevkit"
        )
    return folder
