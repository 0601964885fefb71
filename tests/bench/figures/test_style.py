"""Files of figures: three formats, the same bytes each time, letters as text."""

import errno
import os
from base64 import b64decode
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.figure import Figure
from PIL import Image

from kmaps.bench.figures import SUFFIXES, style
from kmaps.bench.figures.costs import draw_front
from kmaps.bench.figures.evaluation import draw_confusion
from kmaps.bench.figures.heat import Bar, Tile, draw_tiles
from kmaps.bench.figures.lines import Axis, Series, draw_series
from kmaps.bench.report.front import points_of
from kmaps.models import evaluate
from tests.bench.sample_records import record


def saved(path, save=style.save):
    figure = Figure(figsize=(2, 1))
    ax = figure.subplots()
    ax.imshow(np.arange(16).reshape(4, 4))
    ax.set_xlabel("a label")
    save(figure, path)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_figure_is_the_same_bytes(tmp_path, suffix):
    assert saved(tmp_path / f"a{suffix}") == saved(tmp_path / f"b{suffix}")


def heat(figure, path):
    style.save_heat(figure, path, "viridis")


@pytest.mark.parametrize("save", [style.save, heat])
def test_a_figure_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch, save):
    before = saved(tmp_path / "a.png", save)

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        saved(tmp_path / "a.png", save)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == before


@pytest.mark.parametrize("save", [style.save, heat])
def test_letters_stay_text(tmp_path, save):
    assert b">a label</text>" in saved(tmp_path / "a.svg", save)
    pdf = saved(tmp_path / "a.pdf", save)
    assert pdf.startswith(b"%PDF")
    assert b"/Type3" not in pdf  # which journals refuse
    assert b"/TrueType" in pdf or b"/CIDFontType2" in pdf


NAME = "$\\frac$^ \x1b\ud800 <&"


def test_names_are_text_in_figures(tmp_path):
    """No formula, which may be none, and no character that XML has not."""
    series = [Series(NAME, NAME, [1, 2], [1, 2], end="$n^{2}$")]
    draw_series(series, tmp_path / "a.svg", Axis("x"), Axis("y"))
    cells = [record("m", params={"p": NAME}, dataset=name, dim=9) for name in (NAME, "b")]
    draw_front(points_of(cells, ["accuracy", "dim"]), tmp_path / "b.svg", "accuracy", ["dim"])
    tiles = {NAME: {NAME: Tile(np.eye(2), np.arange(2.0), 0.0, 1.0)}}
    draw_tiles(tiles, Bar("value", "viridis", ("0", "1")), tmp_path / "c.svg")
    labels = np.array([NAME, "b"])
    found = evaluate(labels, [-1.0, 1.0], labels)
    draw_confusion(found, tmp_path / "d.svg")
    for name in "abcd":
        texts = "".join(ElementTree.parse(tmp_path / f"{name}.svg").getroot().itertext())
        assert r"$\frac$^ \x1b\ud800 <&" in texts


def test_an_svg_embeds_images_with_few_colours(tmp_path):
    figure = Figure(figsize=(3, 3))
    figure.subplots().imshow(np.random.default_rng(0).random((200, 200)), interpolation="none")
    style.save(figure, tmp_path / "a.svg")
    [embedded] = style._EMBEDDED_PNG.findall((tmp_path / "a.svg").read_bytes())
    with Image.open(BytesIO(b64decode(embedded))) as image:
        assert (image.mode, image.size) == ("P", (200, 200))
        shown = np.asarray(image.convert("RGB"), float)
    drawn = 255 * colormaps["viridis"](np.random.default_rng(0).random((200, 200)))[..., :3]
    assert np.abs(shown - drawn).mean() < 1.5  # measured: 0.49 of 255


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_photographs_keep_their_greys_and_colours(tmp_path, suffix):
    """A picture of more than 256 colours is in the file with all of them."""
    figure = Figure(figsize=(2, 2), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.imshow(np.random.default_rng(0).random((50, 50, 3)), interpolation="nearest")
    path = tmp_path / f"a{suffix}"
    n_colours = {}
    for has_photographs in (False, True):
        style.save(figure, path, has_photographs=has_photographs)
        content = path.read_bytes()
        if suffix == ".svg":
            content = b64decode(style._EMBEDDED_PNG.findall(content)[0])
        with Image.open(BytesIO(content)) as image:
            n_colours[has_photographs] = len(image.convert("RGB").getcolors(1 << 24))
    assert n_colours[False] <= 256
    assert n_colours[True] > 2000
