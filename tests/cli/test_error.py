"""`kmaps error`: several maps side by side, plots, mistakes."""

import json
from functools import partial

import pytest
from commands import kmaps, refused
from PIL import Image

run = partial(kmaps, "error")


def rows_of(arguments):
    return json.loads(run(*arguments.split(), "--json").stdout)


def test_integers_and_kernel_reach_the_map():
    (row,) = rows_of("--kernel chi2 --order 2 --period published --range 0:255 --integers")
    assert row["linf"] == pytest.approx(3.187, abs=1e-3)
    assert (row["worst_x"], row["worst_y"]) == (255, 255)
    (other,) = rows_of("--kernel intersection --order 2 --range 0:255 --integers")
    assert other["linf"] == pytest.approx(30.09, abs=0.01)


def test_plots_are_images_and_never_overwritten(tmp_path):
    plot = tmp_path / "out.png"
    run("--plot", plot)
    for name in ("out.png", "out-sections.png"):
        with Image.open(tmp_path / name) as image:
            assert min(image.size) > 200
            assert len(image.convert("RGB").getcolors(1 << 24)) > 20
    assert "already; choose another name, or pass --force" in refused("error", "--plot", plot)
    run("--plot", plot, "--force")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--map", "homogeneous:ordr=1"], "unknown parameter 'ordr=1', did you mean 'order'?"),
        (["--map", "homogeneous:order"], "'order', expected PARAMETER=VALUE"),
        (["--map", "homogeneus"], "unknown map 'homogeneus', did you mean 'homogeneous'?"),
        (["--kernel", "chi"], "unknown kernel 'chi', did you mean 'chi2'?"),
        (["--range", "3:1"], "expected LOW:HIGH with LOW < HIGH"),
        (["--plot", "out.pdf"], "plots are PNG files"),
        (["--plot", "nowhere/out.png"], "does not exist; make it first"),
    ],
)
def test_mistakes_are_one_line(args, message):
    assert message in refused("error", *args)
