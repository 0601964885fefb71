"""Detection studies on a small VOC 2007 drawn on the spot."""

import numpy as np
import pytest
from voc_drawn import draw_voc

from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.study import run_study, study_cells
from kmaps.bench.records.file import read_records
from kmaps.bench.work.voc import overlaps
from kmaps.bench.work.windows import Candidates, load_windows
from kmaps.data.annotations import load_voc
from kmaps.errors import ConfigError, DataError
from kmaps.features import Phog

STUDY = """\
experiment: drawn
kind: detection
dataset: {name: voc2007, train: 12, test: 6, candidates: 60, ratios: [1.5], smallest: 24,
  growth: 1.25, stride: 0.2}
features: {name: phog, normalize: l1}
classes: [car, bus]
kernels: [exp-chi2]
exact:
  - {kernel: exp-chi2, C: [10]}
draws: 1
maps:
  - {map: generalized-rbf, n_frequencies: [300]}
learners:
  - {name: dense, C: [10]}
  - {name: resampled, C: [10], keep: [40]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    draw_voc(root, {"trainval": 14, "test": 8})
    return root


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(folder))


def test_a_study_of_detectors(tmp_path):
    outcome = run_study(spec.parse(STUDY), tmp_path)
    records = read_records(tmp_path)
    assert outcome.measured == len(records) == len(study_cells(spec.parse(STUDY))) == 3
    assert [record["error"] for record in records] == [""] * 3
    assert all(record["average_precision"] > 0.6 for record in records)
    assert records[0]["n_test"] <= 6 * 60
    assert records[2]["dim"] <= 80
    assert (tmp_path / "trade-off.png").exists()


def test_candidates_are_judged_by_the_rules(folder):
    """Scores that are the overlap with the nearest car find all cars that the first stage left."""
    samples = load_windows(spec.parse(STUDY).dataset, Phog(), "l1", ["car", "bus"])
    (cars, name), (buses, _) = samples.tasks
    assert name == "car"
    assert not (cars & buses).any()
    assert 0 < cars.sum() + buses.sum() < len(cars)
    np.testing.assert_allclose(samples.x_test.sum(axis=1), 1, atol=1e-5)
    judged: Candidates = samples.judge.__self__
    truth = [
        scene.of_class("car")[0] for scene in load_voc(folder / "VOCdevkit/VOC2007", "test")[:6]
    ]
    near = [overlaps(b, t).max(axis=1, initial=0) for b, t in zip(judged.boxes, truth, strict=True)]
    scores = np.concatenate(near)
    assert len(scores) == len(samples.x_test)
    assert judged.average_precision("car", scores) > 0.9
    assert judged.average_precision("car", -scores) < 0.3
    assert judged.average_precision("bus", scores) < 0.3


def test_says_where_the_pictures_belong(tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path))
    with pytest.raises(
        DataError, match=r"voc2007 is not in .*: unpack VOCtrainval_06-Nov-2007\.tar"
    ):
        run_study(spec.parse(STUDY), tmp_path / "out")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: voc2007", "name: voc2008", "dataset.name: .*voc2007"),
        ("classes: [car, bus]", "classes: [cars]", "classes"),
        ("classes: [car, bus]\n", "", "missing key 'classes'"),
        ("name: phog", "name: intensity", "features.name: .*phog"),
        ("growth: 1.25", "growth: 1", "dataset.growth"),
    ],
)
def test_mistakes_are_named(old, new, message):
    with pytest.raises(ConfigError, match=message):
        spec.parse(STUDY.replace(old, new))


def test_the_packaged_study_is_checked():
    study = spec.load("genrbf-voc2007-tradeoff")
    assert len(study.classes) == 20
    assert len(study_cells(study)) == 3 + 4 * 5 * 6
