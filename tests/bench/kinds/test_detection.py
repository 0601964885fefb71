"""Detections: trade-offs of detectors on a small VOC 2007 drawn on the spot."""

from shutil import rmtree

import pytest
from measured import TOLD, cells_of, measured
from spec_text import refuses, text_of
from voc_drawn import draw_voc

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import read_records
from kmaps.bench.run.runner import run
from kmaps.data import cache_root
from kmaps.errors import DataError

KIND = KINDS["detection"]

TEXT = text_of("detection")


@pytest.fixture(scope="module", autouse=True)
def _drawn():
    # In the folder that the session's processes know: they are forked from a server that was
    # started before this test, with the environment of that moment.
    draw_voc(cache_root(), {"trainval": 14, "test": 8})
    yield
    rmtree(cache_root() / "VOCdevkit")


@pytest.mark.slow
def test_a_trade_off_of_detectors(tmp_path):
    outcome = run(spec.parse(TEXT), tmp_path)
    records = read_records(tmp_path)
    assert outcome.measured == len(records) == len(cells_of(TEXT)) == 3
    assert [record["error"] for record in records] == [""] * 3
    assert all(record["average_precision"] > 0.6 for record in records)
    assert records[0]["n_test"] <= 6 * 60
    assert records[2]["dim"] <= 80
    assert records[0]["protocol"]["candidates"] == 60
    assert records[0]["options"] == {"classes": ["car", "bus"]}


def test_measuring_fills_the_columns_of_the_kind():
    columns = measured(cells_of(TEXT)[1]).columns
    choice = {"cv_C", "cv_accuracy", "cv_se", "cv_s"}  # C is given
    assert set(columns) == {*KIND.shown.fills, *TOLD} - {"accuracy", "convert_s"} - choice


def test_says_where_the_images_belong(tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=r"voc2007 is not in .*VOCtrainval_06-Nov-2007"):
        run(spec.parse(TEXT), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("classes: [car, bus]", "classes: [cars]", "classes"),
        ("classes: [car, bus]\n", "", "missing key 'classes'"),
        ("name: phog", "name: intensity", "features.name: .*phog"),
        ("growth: 1.25", "growth: 1", "dataset.growth"),
    ],
)
def test_mistakes_are_named(old, new, message):
    refuses(message, TEXT, old, new)
