"""Files of figures: three formats, the same bytes each time, letters as text."""

import errno
import os

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from kmaps.bench.figures import SUFFIXES, style


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


def test_heat_maps_are_small_png_files(tmp_path):
    saved(tmp_path / "a.png", heat)
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "P"
