"""Candidate windows as the samples of trade-offs, on a small VOC 2007 drawn on the spot."""

import numpy as np
import pytest
from voc_drawn import draw_voc

from kmaps.bench.work.voc import overlaps
from kmaps.bench.work.windows import Candidates, load_windows
from kmaps.data.annotations import load_voc
from kmaps.features import Phog
from kmaps.features.bow import DenseSiftBow
from kmaps.svm import LiblinearSVC

PROTOCOL = {
    **{"train": 12, "test": 6, "beside": 20, "candidates": 60},
    **{"ratios": [1.5], "smallest": 24, "growth": 1.25, "stride": 0.2},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    draw_voc(root, {"trainval": 14, "test": 8})
    return root


@pytest.fixture
def windows(folder, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(folder))
    return load_windows(PROTOCOL, Phog(), "l1", ["car", "bus"])


def test_candidates_are_judged_by_the_rules(folder, windows):
    """Scores that are the overlap with the nearest car find all cars that the first stage left."""
    (cars, name), (buses, _) = windows.labels
    assert name == "car"
    assert not (cars & buses).any()
    assert 0 < cars.sum() + buses.sum() < len(cars)
    np.testing.assert_allclose(windows.x_test.sum(axis=1), 1, atol=1e-5)
    judged: Candidates = windows.judge.__self__
    truth = [one.of_class("car")[0] for one in load_voc(folder / "VOCdevkit/VOC2007", "test")[:6]]
    near = [overlaps(b, t).max(axis=1, initial=0) for b, t in zip(judged.boxes, truth, strict=True)]
    scores = np.concatenate(near)
    assert len(scores) == len(windows.x_test)
    assert judged.average_precision("car", scores) > 0.9
    assert judged.average_precision("car", -scores) < 0.3
    assert judged.average_precision("bus", scores) < 0.3
    n_train, n_features = windows.x_train.shape
    assert windows.sizes == {
        **{"n_train": n_train, "n_test": len(scores), "n_features": n_features},
        "n_skipped": 0,
    }


def test_a_linear_stage_leaves_few_windows_those_of_objects(folder, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(folder))
    given = PROTOCOL | {"test": 3, "linear": 8}
    boxes = load_windows(given, Phog(), "l1", ["car", "bus"]).judge.__self__.boxes
    scenes = load_voc(folder / "VOCdevkit/VOC2007", "test")[:3]
    for found, scene in zip(boxes, scenes, strict=True):
        objects = np.concatenate([scene.of_class(name)[0] for name in ("car", "bus")])
        assert 0 < len(found) <= 8  # of 60 candidates, had there been no such stage
        assert (overlaps(found, objects).max(axis=1) > 0.3).mean() > 0.5


@pytest.mark.slow
def test_windows_may_be_described_by_words(folder, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(folder))
    feature = DenseSiftBow(patches=(8,), step=2, words=40, divisions=(1, 2))
    tasks = load_windows(PROTOCOL, feature, "l1", ["car", "bus"])
    assert tasks.x_train.shape[1] == tasks.x_test.shape[1] == 40 * 5
    np.testing.assert_allclose(tasks.x_test.sum(axis=1), 1, atol=1e-5)
    cars, name = tasks.labels[0]
    found = LiblinearSVC(10.0).fit(tasks.x_train, cars).decision_function(tasks.x_test)
    assert tasks.judge(name, found) > 1.5 * tasks.judge(name, -found)  # measured: 1.7
