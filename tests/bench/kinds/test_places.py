"""Places of patches: their share in important regions, and those that a figure shows."""

import re

import numpy as np
import pytest
from measured import TOLD, cells_of, measured
from spec_text import refuses

from kmaps.bench.figures.places import draw_places
from kmaps.bench.kinds import KINDS
from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.work.places import placed
from kmaps.errors import ConfigError, NothingMeasured

pytest.importorskip("skimage")

TEXT = """\
experiment: where
kind: places
dataset: {name: digits, train: 3, test: 3}
splits: 2
patch: 4
step: 1
shown: 2
"""


def square():
    """Return a bright square on noise: a thirteenth of the image."""
    image = np.random.default_rng(0).normal(0.3, 0.01, (80, 90)).astype(np.float32)
    image[20:44, 30:54] = 1
    return image


def test_as_many_patches_lie_where_the_image_is_salient():
    grid, salient = (placed(square(), sampling, 8, 4) for sampling in ("grid", "salient"))
    assert len(grid.along) == 0
    assert len(grid.within) == len(salient.along) + len(salient.within) == 19 * 21
    assert grid.important == pytest.approx(24 * 24 / (80 * 90), abs=0.03)
    assert salient.important > 0.3
    down, right = salient.along.T
    on_edge = (
        np.minimum(abs(down - 20), abs(down - 43)),
        np.minimum(abs(right - 30), abs(right - 53)),
    )
    assert (np.minimum(*on_edge) <= 2).all()


def test_measuring_fills_the_columns_and_keeps_the_images_of_the_first_split():
    cells = cells_of(TEXT)
    assert [(cell.split, cell.row.method) for cell in cells] == [
        *((0, "grid"), (0, "salient")),
        *((1, "grid"), (1, "salient")),
    ]
    found = measured(cells[1])
    assert set(found.columns) == {*KINDS["places"].shown.fills, *TOLD}
    assert found.columns["n_train"] == 3
    assert 0 < found.columns["important"] <= 1
    shown = {f"{name}{i}" for name in ("image", "along", "within") for i in (0, 1)}
    assert found.arrays.keys() == {"important", *shown}
    assert measured(cells[2]).arrays.keys() == {"important"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: digits", "name: wine", "this kind needs images, but dataset wine has none"),
        ("patch: 4", "patch: 6", "patch: .*multiple of 4"),
    ],
)
def test_mistakes_are_told(old, new, message):
    refuses(message, TEXT, old, new)


def test_images_smaller_than_a_patch_are_told():
    with pytest.raises(ConfigError, match=r"96 × 96 pixels .* 90 × 80"):
        placed(square(), "grid", 96, 4)


def test_the_figure_shows_either_sampling(tmp_path):
    records, arrays = [], {}
    for key, sampling in (("a", "grid"), ("b", "salient")):
        found = placed(square(), sampling, 8, 4)
        records.append({**dict.fromkeys(COLUMNS), "method": sampling, "key": key})
        arrays[key] = {"image0": square(), "along0": found.along, "within0": found.within}
    draw_places(records, arrays, tmp_path / "places.svg")
    texts = re.findall(r">([^<>]+)</text>", (tmp_path / "places.svg").read_text())
    assert {"grid", "salient", "elsewhere"} <= set(texts)
    with pytest.raises(NothingMeasured):
        draw_places(records, {"a": {}, "b": {}}, tmp_path / "none.svg")
