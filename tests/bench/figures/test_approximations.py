"""Figures of approximations and of the toy problem: their panels, and that they are drawn."""

from importlib import import_module

import numpy as np
import pytest
from PIL import Image

from kmaps.bench.figures.approximation import families
from kmaps.bench.kinds import SHOWN
from tests.bench.sample_records import record

VALUES = np.linspace(0, 1, 9)
FIGURES = SHOWN["approximation"].known_figures


def draw(name, *given):
    module, _, function = FIGURES[name].draw.rpartition(".")
    getattr(import_module(module), function)(*given)


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


@pytest.mark.parametrize(
    ("figure", "given", "most"),
    [
        *((name, SQUARES, 256) for name in ("errors", "surfaces")),
        ("sections", SQUARES, None),
        *((name, RATIOS, None) for name in ("gaps", "signatures")),
        ("quadrants", DIFFERENCES, 256),
    ],
)
def test_figures_are_drawn(figure, given, most, tmp_path):
    records, arrays = given
    draw(figure, records, arrays, tmp_path / "drawn.png")
    with Image.open(tmp_path / "drawn.png") as image:
        found = len(image.convert("RGB").getcolors(1 << 24))
        assert min(image.size) > 150
        assert 20 < found <= (most or found)


def homogeneous(kernel, order, period=None, **columns):
    return record(
        params={"order": order, "period": period},
        kernel=kernel,
        setting="ratios 1:100",
        options={"range": "ratios 1:100", "relative": False},
        dim=2 * order + 1,
        linf=0.1**order,
        key=f"{kernel} {order} {period}",
        **{"error_bound": 0.2**order, "period": 8.0 + order} | columns,
    )


ORDERS = [homogeneous(kernel, n, p) for kernel in ("js", "chi2") for n in (2, 1) for p in (None, 9)]


def test_rows_that_differ_in_size_alone_are_one_line():
    panels = families(ORDERS)
    assert list(panels) == ["js", "chi2"]
    lines = panels["chi2"]
    assert list(lines) == ["homogeneous, published period", "homogeneous, Λ = 9"]
    assert [cell["dim"] for cell in lines["homogeneous, Λ = 9"]] == [3, 5]
    wider = [cell | {"setting": "ratios 1:9", "key": cell["key"] + "w"} for cell in ORDERS]
    assert list(families(ORDERS + wider))[:2] == ["js, ratios 1:100", "js, ratios 1:9"]
    cells = [splines("0:1", n_bins=n, degree=p) for p in (1, 2) for n in (9, 5)]
    (lines,) = families(cells).values()
    assert [[cell["params"]["n_bins"] for cell in line] for line in lines.values()] == [[5, 9]] * 2


def splines(text, **params):
    options = {"range": text, "fit_range": "0:1", "integers": False, "relative": False}
    cell = {"dim": params["n_bins"] + 1, "linf": 1 / params["n_bins"], "error_bound": None}
    key = f"{params} {text}"
    return record("spline", params=params, kernel="chi2", options=options, key=key, **cell)
