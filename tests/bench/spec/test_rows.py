"""Experiment files: the solver of a row and its settings."""

import pytest

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.names import short_labels
from kmaps.bench.spec.positions import problem_of
from kmaps.errors import ConfigError
from tests.bench.spec_text import mistakes

CODED = """\
experiment: small
dataset: {name: digits, train: 200, test: 100}
kernels: [chi2]
reductions: [ovr]
baselines: [exact-coded]
maps:
  - {map: homogeneous, order: 1, solver: [liblinear, coded]}
  - {map: spline, solver: coded, form: local}
learner: {loss: hinge, n_levels: 64, gap: 1e-2}
C: 1
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("liblinear, coded", "liblinear, code", "7:54: maps[0].solver[1]: unknown solver 'code',"),
        ("form: local", "form: locl", "8:40: maps[1].form: unknown form 'locl', did you mean"),
        ("order: 1, solver", "form: local, solver", "7:30: maps[0].form: the homogeneous map has"),
        ("solver: coded, form", "form", "8:25: maps[1].form: needs solver: coded"),
        (
            "map: spline, solver: coded, form: local",
            "map: sign-cauchy, solver: coded",
            "8:32: maps[1].solver: the sign-cauchy map has no tables; solver: coded needs them",
        ),
        ("solver: coded, form: local}", "sover: coded}", "8:19: maps[1].sover: unknown key, did"),
        ("{loss: hinge,", "{loss: logistic,", "9:17: learner.loss: solver: coded has hinge and"),
        ("loss: hinge", "loss: squared_hinge, penalty: l1", "9:41: learner.penalty: solver: coded"),
        ("{loss", "{solver: code, loss", "9:19: learner.solver: unknown solver 'code', did you"),
        ("n_levels: 64", "n_levels: 257", "9:34: learner.n_levels: should be less than or equal"),
        (
            "[exact-coded]",
            "[exact-code]",
            "5:13: baselines[0]: should be 'linear', 'hellinger', 'exact' or",
        ),
        ("[chi2]", "[rbf]", "5:12: baselines: exact-coded needs an additive kernel (known: chi2,"),
    ],
)
def test_solvers_of_rows_and_their_settings(old, new, expected):
    spec.parse(CODED)
    assert CODED.count(old) == 1
    text = CODED.replace(old, new)
    assert any(line.startswith(f"e.yaml:{expected}") for line in mistakes(text))


def test_rows_that_normalise_by_themselves():
    text = CODED.replace("order: 1,", "order: 1, normalize: [none, gamma=0.5],")
    cells = KINDS["classification"].cells(spec.parse(text))
    assert [(cell.row.solver, dict(cell.row.learner)) for cell in cells[1:]] == [
        ("liblinear", {"normalize": "none"}),
        ("liblinear", {"normalize": "gamma=0.5"}),
        ("coded", {"normalize": "none"}),
        ("coded", {"normalize": "gamma=0.5"}),
        ("coded", {"form": "local"}),
    ]
    labels, _ = short_labels(cell.row for cell in cells)
    assert "homogeneous, r = 3, LIBLINEAR, rows γ = 0.5" in labels.values()
    with pytest.raises(ConfigError, match=r"maps\[0\]\.normalize\[1\]: .*'l3'"):
        spec.parse(text.replace("gamma=0.5", "l3"))


def test_rows_with_and_without_calibration():
    text = CODED.replace("form: local}", "form: local, calibrate: [true, false]}")
    cells = KINDS["classification"].cells(spec.parse(text))[-2:]
    assert [dict(cell.row.learner) for cell in cells] == [
        {"form": "local", "calibrate": True},
        {"form": "local", "calibrate": False},
    ]
    assert all("calibrate" not in cell.settings for cell in cells)
    assert len({cell.key for cell in cells}) == 2
    labels, _ = short_labels(cell.row for cell in cells)
    assert list(labels.values()) == ["spline, calibrated", "spline, not calibrated"]
    one_vs_one = "calibrate: one-vs-one has no score for each class; reductions: [ovr]"
    for old, new, expected in (
        ("[true, false]", "[true, 1]", "8:65: maps[1].calibrate[1]: expected true or false, got 1"),
        ("solver: coded, form: local, c", "c", "8:30: maps[1].calibrate: needs solver: coded"),
        ("[ovr]", "[ovo]", f"8:58: maps[1].{one_vs_one}"),
    ):
        assert mistakes(text.replace(old, new)) == [f"e.yaml:{expected}"]
    both = CODED.replace("[ovr]", "[ovr, ovo]")
    spec.parse(both)
    found = mistakes(both.replace("gap: 1e-2", "calibrate: true"))
    assert found == [f"e.yaml:9:49: learner.{one_vs_one}"]


def test_a_list_of_values_of_c_is_shown_its_form():
    error = {"msg": "Input should be a valid number", "input": [0.1, 1], "loc": ("C",)}
    assert "C: {grid: [0.1, 1]}" in problem_of(error)
    assert "grid" not in problem_of(error | {"loc": ("splits",)})
