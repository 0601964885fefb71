"""Figures made of records alone: that they are drawn, what they show, and what their lines join."""

import re

import numpy as np
import pytest

from kmaps.bench.figures.approximation import draw_spectra
from kmaps.bench.figures.laws import draw_convergence, draw_scaling
from kmaps.bench.figures.learned import (
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


def test_records_without_periods_have_no_spectrum(tmp_path):
    with pytest.raises(NothingMeasured):
        draw_spectra([record("homogeneous", dim=3, period=None)], tmp_path / "figure.svg")


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
