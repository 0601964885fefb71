"""Detection as genrbf, Sect. 4, has it: candidate windows, a classifier on each, average precision.

It runs on scenes (:func:`kmaps.data.load_scenes`, :mod:`kmaps.data.annotations`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.data.annotations import Scene
from kmaps.errors import DataError
from kmaps.features import Phog, WindowWords, describe_windows, load_image

Boxes = NDArray[np.int64]  # (m, 4): left, top, right, bottom, without the ends

WindowFeature = Phog | WindowWords

OVERLAP = 0.5  # the least intersection over union of a box that is found (VOC 2007)


@dataclass(frozen=True)
class Windows:
    """The candidate windows of an image: a grid for every size and shape.

    Ratios are width over height, ``smallest`` the least side in pixels, ``growth`` a size over the
    next smaller one, ``stride`` the distance of windows as a fraction of their sides.
    """

    ratios: tuple[float, ...] = (0.5, 1.0, 2.0)
    smallest: int = 32
    growth: float = 1.4
    stride: float = 0.2

    def of(self, shape: tuple[int, int]) -> Boxes:
        """Return the windows of an image of some shape (height, width)."""
        boxes = [np.empty((0, 4), np.int64)]
        for ratio in self.ratios:
            height = self.smallest / min(1.0, ratio)
            while height <= shape[0] and height * ratio <= shape[1]:
                rows = round(height)
                columns = round(height * ratio)
                tops = np.arange(0, shape[0] - rows + 1, max(1, round(self.stride * rows)))
                lefts = np.arange(0, shape[1] - columns + 1, max(1, round(self.stride * columns)))
                top = np.repeat(tops, len(lefts))
                left = np.tile(lefts, len(tops))
                boxes.append(np.column_stack([left, top, left + columns, top + rows]))
                height *= self.growth
        return np.concatenate(boxes)


@dataclass(frozen=True, eq=False)
class Detections:
    """Windows that a detector found in images, with their scores."""

    boxes: Boxes
    scores: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall after each detection, the best score first, ignored ones left out."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    n_objects: int

    def average_precision(self) -> float:
        """Return the mean, over the recalls 0, 0.1 … 1, of the best precision at that recall or a
        higher one (VOC 2007)."""
        # The best precision from each point on; zero beyond the last.
        best = np.append(np.maximum.accumulate(self.precision[::-1])[::-1], 0)
        levels = np.linspace(0, 1, 11)
        # 0.3 is not exactly a sum of tenths: differences by rounding do not count.
        return float(best[np.searchsorted(self.recall, levels - 1e-12)].mean())


def overlaps(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """Return the intersection over the union of all pairs of boxes, shape (n, m)."""
    a = first[:, None, :]
    b = second[None, :, :]
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    shared = np.maximum(sides, 0).prod(axis=2)
    areas = [(boxes[..., 2:] - boxes[..., :2]).prod(axis=2) for boxes in (a, b)]
    return shared / (areas[0] + areas[1] - shared)


def suppress(detections: Detections, overlap: float, most: int | None = None) -> Detections:
    """Drop each box that overlaps one with a better score by more than ``overlap``.

    Of the others the best ``most`` are kept, or all.
    """
    left = np.argsort(-detections.scores, kind="stable")
    survivors: list[int] = []
    while len(left) and len(survivors) != most:
        best = left[0]
        others = left[1:]
        survivors.append(best)
        left = others[overlaps(detections.boxes[[best]], detections.boxes[others])[0] <= overlap]
    return Detections(detections.boxes[survivors], detections.scores[survivors])


def evaluate(
    detections_of_scenes: Sequence[Detections], scenes: Sequence[Scene], name: str
) -> Curve:
    """Compare detections with the objects of a class, by the rules of VOC 2007.

    From the best score down, a detection belongs to the object of its scene that it overlaps most.
    With an overlap of half or more it is right, unless that object was found before, which makes it
    wrong, or is difficult, which makes it not count; with less it is wrong.
    """
    right = []
    scores = []
    n_objects = 0
    for detections, scene in zip(detections_of_scenes, scenes, strict=True):
        boxes, difficult = scene.of_class(name)
        n_objects += int((~difficult).sum())
        counted, verdicts = _judge(detections, boxes, difficult)
        right.append(verdicts[counted])
        scores.append(detections.scores[counted])
    order = np.argsort(-np.concatenate(scores), kind="stable")
    hits = np.cumsum(np.concatenate(right)[order])
    precision = hits / np.arange(1, len(hits) + 1)
    return Curve(precision, hits / max(n_objects, 1), n_objects)


def _judge(
    detections: Detections, boxes: Boxes, difficult: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which detections of a scene count, and which are right."""
    counted = np.ones(len(detections.scores), bool)
    right = np.zeros(len(detections.scores), bool)
    if len(boxes):
        shared = overlaps(detections.boxes, boxes)
        is_detected = np.zeros(len(boxes), bool)
        for i in np.argsort(-detections.scores, kind="stable"):
            nearest = shared[i].argmax()
            if shared[i, nearest] < OVERLAP:
                continue
            counted[i] = not difficult[nearest]
            right[i] = counted[i] and not is_detected[nearest]
            is_detected[nearest] = True
    return counted, right


def training_windows(
    scenes: Iterable[Scene],
    names: Sequence[str],
    feature: WindowFeature,
    windows: Windows,
    *,
    per_scene: int,
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the vectors of the objects of some classes (label 1, 2, …) and of other windows (0).

    Objects come also mirrored; difficult ones are left out. Those windows are drawn from
    the candidates that overlap no object of these classes by more than 0.3.
    """
    rng = np.random.default_rng(0)
    vectors = []
    labels = []
    for scene in scenes:
        image = load_image(scene.path, 255, None)
        of_class = [scene.of_class(name) for name in names]
        candidates = windows.of(image.shape)
        shared = overlaps(candidates, np.concatenate([boxes for boxes, _ in of_class]))
        beside = candidates[(shared <= 0.3).all(axis=1)]
        chosen = rng.choice(len(beside), min(per_scene, len(beside)), replace=False)
        wanted = [
            _inside(boxes[~difficult], image.shape, feature.smallest)
            for boxes, difficult in of_class
        ]
        own = np.repeat(np.arange(1, len(names) + 1), [len(boxes) for boxes in wanted])
        objects = np.concatenate(wanted)
        mirrored = objects.copy()
        mirrored[:, [0, 2]] = image.shape[1] - objects[:, [2, 0]]
        here = np.concatenate([beside[np.sort(chosen)], objects])
        flipped = np.ascontiguousarray(image[:, ::-1])
        vectors.append(describe_windows(feature, image, here))
        vectors.append(describe_windows(feature, flipped, mirrored))
        labels += [np.zeros(len(chosen), np.int64), own, own]
    X = np.concatenate(vectors)
    y = np.concatenate(labels)
    for label, name in enumerate(names, 1):
        if not (y == label).any():
            raise DataError(f"no training image has an object of the class {name!r}")
    if y.all():
        raise DataError(f"no training image has a window without {', '.join(names)}")
    return X, y


def _inside(boxes: Boxes, shape: tuple[int, int], smallest: int) -> Boxes:
    """Cut boxes at the border and drop those too small to describe."""
    cut = np.clip(boxes, 0, [shape[1], shape[0], shape[1], shape[0]])
    return cut[(cut[:, 2:] - cut[:, :2] >= smallest).all(axis=1)]


def detect(
    scenes: Iterable[Scene],
    feature: WindowFeature,
    windows: Windows,
    model: Any,
    *,
    overlap: float = 0.3,
    most: int | None = None,
    before: tuple[Any, int] | None = None,
) -> list[Detections]:
    """Score the candidate windows of scenes and keep the best of those that overlap.

    ``before`` is a stage before the model, and how many windows of a scene it leaves: those that it
    scores best. For the others see :func:`suppress`.
    """
    detections = []
    for scene in scenes:
        image = load_image(scene.path, 255, None)
        boxes = windows.of(image.shape)
        scores = np.zeros(0)
        if len(boxes):
            vectors = describe_windows(feature, image, boxes)
            if before is not None:
                stage, n_left = before
                left = np.argsort(-stage.decision_function(vectors), kind="stable")[:n_left]
                boxes = boxes[left]
                vectors = vectors[left]
            scores = np.asarray(model.decision_function(vectors))
        detections.append(suppress(Detections(boxes, scores.astype(float)), overlap, most))
    return detections
