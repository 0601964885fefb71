"""Detection: candidate windows, the rules of VOC 2007, average precision, a detector at work."""

from pathlib import Path

import numpy as np
import pytest

from kmaps.bench.work.voc import Curve, Detections, evaluate, suppress
from kmaps.data.annotations import Scene


def scene(boxes, difficult=None, classes=None) -> Scene:
    boxes = np.array(boxes, np.int64).reshape(-1, 4)
    return Scene(
        "drawn",
        Path("drawn.jpg"),
        boxes,
        tuple(classes or ["car"] * len(boxes)),
        np.array(difficult or [False] * len(boxes), bool),
    )


def found(*boxes_and_scores) -> Detections:
    boxes = np.array([box for box, _ in boxes_and_scores], np.int64).reshape(-1, 4)
    return Detections(boxes, np.array([score for _, score in boxes_and_scores], float))


A, B = [0, 0, 10, 10], [20, 0, 30, 10]


def test_suppression_keeps_the_best_of_those_that_overlap():
    near = [1, 0, 11, 10]
    kept = suppress(found((A, 0.5), (near, 0.9), (B, 0.1), (A, 0.7)), 0.3)
    assert kept.boxes.tolist() == [near, B]
    assert kept.scores.tolist() == [0.9, 0.1]
    assert len(suppress(found(), 0.3).scores) == 0


NEAR, BUS = [1, 0, 11, 10], [40, 0, 50, 10]
MIXED = scene([A, B, BUS], [False, True, False], ["car", "car", "bus"])


@pytest.mark.parametrize(
    ("boxes", "truth", "precision", "recall", "average"),
    [
        ([(A, 1), (B, 2)], scene([A, B]), [1, 1], [0.5, 1], 1),
        # The second detection of an object is wrong.
        (
            [(A, 3), (NEAR, 2), (B, 1)],
            scene([A, B]),
            [1, 1 / 2, 2 / 3],
            [0.5, 0.5, 1],
            (6 + 5 * 2 / 3) / 11,
        ),
        # Half an overlap is enough, and less is not.
        ([([0, 0, 10, 5], 1)], scene([A]), [1], [1], 1),
        ([([0, 0, 10, 4], 1)], scene([A]), [0], [0], 0),
        # Difficult objects and other classes do not count.
        ([(B, 3), (A, 2), (BUS, 1)], MIXED, [1, 1 / 2], [1, 1], 1),
        ([], scene([A]), [], [], 0),
    ],
)
def test_the_rules_of_voc_2007(boxes, truth, precision, recall, average):
    curve = evaluate([found(*boxes), found()], [truth, scene([])], "car")
    assert (curve.precision.tolist(), curve.recall.tolist()) == (precision, recall)
    assert curve.n_objects == (~truth.of_class("car")[1]).sum()
    assert curve.average_precision() == pytest.approx(average)


def test_the_best_precision_at_a_recall_or_beyond_counts():
    # Wrong, right, right; four objects: at recall 0 to 0.5 it is 2/3, then nothing.
    curve = Curve(np.array([0, 1 / 2, 2 / 3]), np.array([0, 1 / 4, 1 / 2]), 4)
    assert curve.average_precision() == pytest.approx(6 * 2 / 3 / 11)
