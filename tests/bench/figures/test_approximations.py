"""Figures of approximations and of the toy problem: their panels, and that they are drawn."""

import numpy as np
import pytest
from PIL import Image

from kmaps.bench.figures import (
    errors,
    functions,
    gaps,
    quadrants,
    sections,
    signatures,
    surfaces,
)
from kmaps.bench.figures.panels import spans, squares
from kmaps.bench.figures.tiles import broken, wrapped
from kmaps.errors import ConfigError, InputError
from tests.bench.sample_records import record

VALUES = np.linspace(0, 1, 9)


def measured(kernel, order, text="0:1", relative=False, **arrays):
    cell = record(
        params={"order": order},
        kernel=kernel,
        setting=f"x, y in {text}",
        options={"range": text, "relative": relative},
        dim=2 * order + 1,
        key=f"{kernel} {order} {text}",
    )
    exact = np.minimum(VALUES, VALUES[:, None])
    return cell, {"values": VALUES, "exact": exact, "approximate": exact + 0.1 / order} | arrays


def of_cells(*cells):
    return [cell for cell, _ in cells], {cell["key"]: arrays for cell, arrays in cells}


def over(text, order, shape=(1, 9), **options):
    exact = np.ones(shape)
    cell, arrays = measured("chi2", order, text, exact=exact, approximate=exact + 0.1 * order)
    arrays |= {"corners": np.zeros((shape[0], 1)), "values": 1 + VALUES}
    return cell | {"setting": text, "options": cell["options"] | options}, arrays


SQUARES = of_cells(
    *(
        measured(kernel, n, text)
        for text in ("0:1", "0:9")
        for n in (1, 2)
        for kernel in ("js", "chi2")
    )
)
RATIOS = of_cells(over("ratios 1:9", 1), over("ratios 1:9", 2))
DIFFERENCES = of_cells(*(over("differences 0:9", n, (4, 9, 9), inputs=2) for n in (1, 2)))


def test_panels_are_kernels_with_their_ranges_side_by_side():
    panels = squares(*SQUARES)
    assert list(panels) == ["js, 0:1", "js, 0:9", "chi2, 0:1", "chi2, 0:9"]
    assert list(panels["js, 0:1"]) == ["homogeneous, r = 3", "homogeneous, r = 5"]
    assert panels["js, 0:1"]["homogeneous, r = 5"].linf == pytest.approx(0.05)
    assert list(squares(*of_cells(measured("js", 1)))) == ["js"]


def test_relative_errors_are_divided_by_the_kernel():
    records, arrays = of_cells(measured("js", 1, relative=True))
    (panel,) = squares(records, arrays).values()
    result = panel["homogeneous, r = 3"]
    assert result.error[-1, -1] == pytest.approx(0.1)
    assert result.error[4, 4] == pytest.approx(0.2)


def test_each_figure_shows_the_ranges_that_it_is_of():
    both = of_cells(measured("chi2", 1), over("ratios 1:9", 1))
    assert list(squares(*both)) == ["chi2"]
    assert list(spans(*both)) == ["chi2"]
    with pytest.raises(ConfigError, match="needs a range LOW:HIGH, and there is none"):
        squares(*RATIOS)
    with pytest.raises(ConfigError, match="needs a range ratios LOW:HIGH or differences"):
        spans(*SQUARES)


def test_missing_arrays_are_one_line():
    records, arrays = SQUARES
    left = {key: own for key, own in arrays.items() if key != records[0]["key"]}
    with pytest.raises(InputError, match="the arrays that its figure needs are missing") as caught:
        errors.draw(records, left, None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("figure", "given", "most"),
    [
        (errors, SQUARES, 256),
        (surfaces, SQUARES, 256),
        (sections, SQUARES, None),
        (gaps, RATIOS, None),
        (signatures, RATIOS, None),
        (quadrants, DIFFERENCES, 256),
    ],
)
def test_figures_are_drawn(figure, given, most, tmp_path):
    records, arrays = given
    figure.draw(records, arrays, tmp_path / "drawn.png")
    with Image.open(tmp_path / "drawn.png") as image:
        found = len(image.convert("RGB").getcolors(1 << 24))
        assert min(image.size) > 150
        assert 20 < found <= (most or found)


def test_functions_are_drawn(tmp_path):
    records = [record("fourier", params={"degree": n}, kernel="", key=str(n)) for n in (1, 2)]
    arrays = {cell["key"]: {"x": VALUES, "function": VALUES**2} for cell in records}
    functions.draw(records, arrays, tmp_path / "functions.png")
    with Image.open(tmp_path / "functions.png") as image:
        assert len(image.convert("RGB").getcolors(1 << 24)) > 20


def test_long_lines_of_tiles_are_broken_evenly():
    lines = broken("chi2", {f"map {i}": None for i in range(9)})
    assert [(heading, len(tiles)) for heading, tiles in lines] == [("chi2", 5), ("", 4)]
    assert lines[1][1][-1] == ("map 8", None)


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("exact", ["exact"]),
        ("LP, D = 5, ratio 127", ["LP, D = 5, ratio 127"]),
        ("a long name without any comma, r = 3", ["a long name without any comma", "r = 3"]),
    ],
)
def test_labels_are_broken_after_commas(label, lines):
    assert wrapped(label).splitlines() == lines
