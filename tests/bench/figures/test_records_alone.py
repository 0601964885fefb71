"""Figures made of records alone: that they are drawn, what they show, and what their lines join."""

import re

import numpy as np
import pytest

from kmaps.bench.figures.laws import draw_convergence, draw_falls, draw_scaling, draw_stored
from kmaps.bench.figures.learned import (
    accuracy_lines,
    draw_accuracy,
    draw_functions,
    draw_sparsity,
    draw_trade_off,
    lines_of,
)
from kmaps.bench.report.tradeoff import LearnerPoints, TrialPoint
from kmaps.errors import NothingMeasured
from tests.bench.sample_records import record


def texts(draw, records, folder):
    """Return the texts of a figure, in order."""
    draw(records, folder / "figure.svg")
    return re.findall(r">([^<>]+)</text>", (folder / "figure.svg").read_text())


MEASURED = [
    record("linear", split=0, accuracy=0.8),
    *(
        record(split=split, accuracy=0.9 + n / 100, params={"order": n}, solver="coded")
        for n in (1, 2)
        for split in (0, 1)
    ),
    record("lowdim", split=0, accuracy=0.94, params={"optimal": True, "dim": 5}),
    record("lowdim", split=0, status="failed", accuracy=None),
]


def test_lines_go_through_the_values_of_what_decides_the_outputs():
    measured = [cell for cell in MEASURED if cell["status"] == "ok"]
    assert accuracy_lines(measured, measured) == {
        "homogeneous": {3: [pytest.approx(91)] * 2, 5: [pytest.approx(92)] * 2},
        "optimal": {5: [pytest.approx(94)]},
    }


def test_references_are_levels_or_named_where_they_are_far_below(tmp_path):
    far = texts(draw_accuracy, MEASURED, tmp_path)
    assert "far below: linear 80.00 %" in far
    near = texts(draw_accuracy, [MEASURED[0] | {"accuracy": 0.9}, *MEASURED[1:]], tmp_path)
    assert "linear" in near
    assert "linear" not in far


def test_figure_has_an_axes_per_kernel_and_reduction(tmp_path):
    others = [cell | {"kernel": cell["kernel"] and "js"} for cell in MEASURED]
    found = texts(draw_accuracy, [*MEASURED, *others], tmp_path)
    assert {"chi2, one-vs-one", "js, one-vs-one"} <= set(found)
    with pytest.raises(NothingMeasured, match="none of the measured rows"):
        draw_accuracy(MEASURED[:1], tmp_path / "none.png")  # linear has no kernel


def on_pairs(n_anchors, columns=None, **numbers):
    params = {"n_anchors": n_anchors}
    return record("anchor", params=params, options={"columns": columns}, reduction="", **numbers)


ON_PAIRS = [
    *(on_pairs(n, bias=n**-2, rms=1 / n, train_bytes=1000 * n) for n in (5, 9)),
    *(on_pairs(9, d, deviation=d**-0.5, rms=1, train_bytes=100) for d in (10, 40)),
]


def test_each_error_has_an_axes_with_its_guide(tmp_path):
    found = texts(draw_falls, ON_PAIRS, tmp_path)
    shown = {"mean error, per feature (ANNFM)", "root mean square error, per feature (ANNFM)"}
    assert {*shown, "ε²", "1/√D", "features D"} <= set(found)
    assert "spread of the error, per feature (ANNFM, N = 9)" in found
    assert found.count("chi2") == 1  # one look of a kernel in all panels
    drawn = (tmp_path / "figure.svg").read_text()
    assert len(set(re.findall(r'"[^"]*stroke: #cccccc[^"]*"', drawn))) == 3  # a look of each guide
    assert "features D" not in texts(draw_falls, ON_PAIRS[:2], tmp_path)
    with pytest.raises(NothingMeasured):
        draw_falls(ON_PAIRS[:1], tmp_path / "figure.svg")


def test_rows_are_points_over_their_bytes(tmp_path):
    found = texts(draw_stored, ON_PAIRS[:2], tmp_path)
    assert {"stored training set, MB", "ANNFM, N = 5", "ANNFM, N = 9", "chi2"} <= set(found)


def growing():
    times = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0}
    return [
        record(method, n_train=n, size=n, train_s=n / 1e3, train_peak_bytes=n * 1000, **times)
        for method, sizes in (("exact", (1000, 2000)), ("exact-coded", (1000, 2000, 4000)))
        for n in sizes
    ]


def converging():
    errors = {"rms": 0.2, "random_rms": 0.1, "additive_rms": 0.1}
    return [
        record("random-fourier", params={"n_frequencies": m}, kernel=kernel, dim=2 * m, **errors)
        for m in (64, 256)
        for kernel in ("rbf", "exp-chi2")
    ]


TOYS = [record("fourier", params={"degree": n}, kernel="", key=str(n)) for n in (1, 2)]


def draw_toy(records, path):
    x = np.linspace(0, 1, 9)
    draw_functions(records, {cell["key"]: {"x": x, "function": x**2} for cell in records}, path)


def trials():
    for name, C in (("exact", 1.0), ("dense", 1.0), ("dense", 10.0), ("sparse-svm", 1.0)):
        row = {"learner": {"name": name, "C": C}, "kernel": "exp-chi2", "solver": ""}
        measured = {"predict_s": 0.1 * C, "n_test": 100, "accuracy": 0.8 + C / 100}
        if name == "exact":
            yield record("exact", dim=100, **row, **measured)
        else:
            params = {"n_frequencies": 60}
            yield record("generalized-rbf", params=params, draw=0, dim=80, **row, **measured)


def untimed(records):
    return [cell | {"predict_s": None, "train_s": None} for cell in records]


@pytest.mark.parametrize(
    ("figure", "records", "expected"),
    [
        (draw_scaling, growing(), {"exact on codes", "training samples n", "4,000"}),
        (draw_scaling, untimed(growing()), {"peak memory of training, MB"}),
        (draw_convergence, converging(), {"exp-chi2", "random Fourier", "1/√(2m)"}),
        (draw_toy, TOYS, {"Fourier, degree 2", "learned f(x), minus its mean"}),
        (draw_trade_off, [*trials()], {"exact exp-chi2", "test, µs per sample", "accuracy, %"}),
        (draw_sparsity, [*trials()], {"sparse SVM, m = 60", "test, µs per sample", "C"}),
    ],
)
def test_figures_show(figure, records, expected, tmp_path):
    found = set(texts(figure, records, tmp_path))
    assert expected <= found
    if figure in (draw_trade_off, draw_sparsity):  # what has no times has no axes of times
        without = set(texts(figure, untimed(records), tmp_path))
        assert "test, µs per sample" not in without
        assert expected - without == {"test, µs per sample"}


def test_exact_kernels_alone_have_no_sparsity(tmp_path):
    with pytest.raises(NothingMeasured, match="none of the measured rows belongs in"):
        draw_sparsity([next(trials())], tmp_path / "none.png")


def point(drawn, C, keep=0):
    return TrialPoint(quality=80.0, spread=1.0, kept=drawn, drawn=drawn, C=C, us=1.0, keep=keep)


@pytest.mark.parametrize(
    ("points", "lines"),
    [
        ([(9, 1), (3, 1)], {"": [(3, 1), (9, 1)]}),  # over the projections drawn
        (
            [(3, 2), (9, 1), (3, 1), (9, 2)],
            {", C = 1": [(3, 1), (9, 1)], ", C = 2": [(3, 2), (9, 2)]},
        ),
        ([(3, 4), (3, 1), (3, 2)], {", m = 3": [(3, 1), (3, 2), (3, 4)]}),  # over C
        ([(9, 1, 5), (3, 1, 2), (9, 1, 2)], {" of 9": [(9, 1, 2), (9, 1, 5)]}),  # over those kept
    ],
)
def test_lines_go_over_what_was_varied(points, lines):
    joined = lines_of(LearnerPoints("dense", False, [point(*values) for values in points]))
    assert dict(joined) == {what: [point(*values) for values in own] for what, own in lines.items()}


def test_a_classifier_that_has_no_outputs_is_a_level(monkeypatch, tmp_path):
    from kmaps.bench.figures import learned

    drawn = []
    monkeypatch.setattr(learned, "draw_series", lambda series, *_, **options: drawn.extend(series))
    svc = {"solver": "own", "kernel": "", "learner": {}}
    cells = [record("homogeneous", params={"order": 1}), record("sklearn.svm.SVC", **svc)]
    learned.draw_accuracy(cells, tmp_path / "accuracy.svg")
    [line] = [series for series in drawn if series.label.startswith("SVC")]
    assert (line.style, line.x) == ("level", [])
