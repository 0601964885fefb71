"""Baselines: square roots, and rows whose C is their own."""

import numpy as np
import pytest
from measured import cells_of, measured
from spec_text import mistakes

from kmaps import gram
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import load_whole, parse
from kmaps.bench.run.plan import plan
from kmaps.bench.work.classify import ModelSpec, predictor
from kmaps.svm import LiblinearSVC

TEXT = """\
experiment: x
dataset: {name: digits, train: 300, test: 300}
kernels: [chi2]
reductions: [ovr]
C: 1
defaults: 1
"""


def test_hellinger_is_the_linear_model_on_square_roots():
    """And the exact Hellinger kernel: inner products of the roots are its values."""
    cell = cells_of(TEXT + "baselines: [hellinger]")[0]
    split = KINDS["classification"].set_up(cell)
    roots = np.sqrt(split.x_train)
    np.testing.assert_allclose(roots @ roots.T, gram(split.x_train, kernel="hellinger"), rtol=1e-5)
    model = LiblinearSVC(C=1.0, loss="hinge", random_state=cell.seed).fit(roots, split.y_train)
    expected = model.score(np.sqrt(split.x_test), split.y_test)
    found = measured(cell)
    assert found.columns["accuracy"] == expected
    assert found.columns["dim"] == split.x_train.shape[1]
    linear = measured(cells_of(TEXT + "baselines: [linear]")[0])
    assert found.columns["train_bytes"] == linear.columns["train_bytes"]
    assert found.columns["accuracy"] != linear.columns["accuracy"]


def test_hellinger_has_no_kernel_and_roots_keep_their_sign_and_zeros():
    from scipy.sparse import csr_matrix

    assert [cell.kernel for cell in cells_of(TEXT + "baselines: [hellinger]")] == [""]
    spec = ModelSpec("hellinger", "", {}, "liblinear", "ovr", {}, False, 0)
    from kmaps.bench.work.classify import _map_of

    X = np.array([[4.0, 0.0, -9.0]], np.float32)
    assert _map_of(spec).transform(X).tolist() == [[2.0, 0.0, -3.0]]
    assert _map_of(spec).transform(csr_matrix(X)).toarray().tolist() == [[2.0, 0.0, -3.0]]
    assert X.tolist() == [[4.0, 0.0, -9.0]]


ROWS = """\
baselines: [linear, {baseline: linear, C: plateau}, {baseline: exact, C: 3}]
maps:
  - {map: homogeneous, C: auto}
  - {map: homogeneous}
classifiers:
  - {estimator: sklearn.svm.SVC, C: 2}
  - {estimator: sklearn.svm.SVC}
"""


def test_a_row_has_a_c_of_its_own():
    cells = cells_of(TEXT.replace("C: 1", "C: {grid: [1, 10], folds: 4, samples: 200}") + ROWS)
    own = {"folds": 4, "samples": 200, "unit_norm": False}
    assert {cell.row.label: cell.C for cell in cells} == {
        "linear": {"grid": [1.0, 10.0], **own},
        "linear C=plateau": {"grid": "plateau", **own},
        "exact C=3.0": {"grid": [3.0], "unit_norm": False},
        "homogeneous C=auto": {"grid": "auto", **own},
        "homogeneous": {"grid": [1.0, 10.0], **own},
        "sklearn.svm.SVC C=2.0": {"grid": [2.0], "unit_norm": False},
        "sklearn.svm.SVC": {"grid": [1.0, 10.0], **own},
    }
    assert len({cell.key("") for cell in cells}) == len(cells)
    assert cells[1].row.names["C"] == "plateau"


def test_a_row_of_its_own_leaves_the_other_rows_as_they_are():
    with_own = {cell.key("") for cell in cells_of(TEXT + ROWS)}
    without = cells_of(TEXT + "baselines: [linear]\nmaps: [{map: homogeneous}]")
    assert {cell.key("") for cell in without} < with_own


def test_a_plateau_is_chosen_beyond():
    auto, plateau = (
        measured(cells_of(TEXT + f"baselines: [{{baseline: linear, C: {rule}}}]")[0]).columns
        for rule in ("auto", "plateau")
    )
    assert set(auto["cv_C"]) <= set(plateau["cv_C"])
    assert max(plateau["cv_C"]) >= max(auto["cv_C"])


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("maps: [{map: homogeneous, C: best}]", "maps[0].C: expected a value above 0"),
        ("maps: [{map: homogeneous, C: -1}]", "maps[0].C: expected a value above 0"),
        ("baselines: [{baseline: linear}]", "baselines[0]: missing key 'C'"),
        ("baselines: [{baseline: linear, c: 1, C: 1}]", "baselines[0].c: unknown key"),
        ("baselines: [{baseline: best, C: 1}]", "baselines[0].baseline: should be 'linear'"),
        ("baselines: [3]", "baselines[0]: should be 'linear'"),
        ("baselines: [linear, linear]", "listed twice"),
    ],
)
def test_a_c_that_is_none_is_refused(rows, problem):
    assert any(problem in line for line in mistakes(TEXT + rows))


def test_without_c_the_rule_is_plateau_and_is_written_down(tmp_path):
    text = TEXT.replace("C: 1\ndefaults: 1\n", "") + "baselines: [linear]"
    assert [cell.C["grid"] for cell in cells_of(text)] == ["plateau"]
    path = tmp_path / "x.yaml"
    path.write_text(text)
    assert load_whole(path).content["C"] == {"grid": "plateau", "folds": 3}
    named = text + "\nC: plateau\ndefaults: 1"
    assert plan(parse(named)).keys() == plan(parse(text)).keys()
    assert any("missing key 'C'" in line for line in mistakes(text + "\ndefaults: 1"))


def test_predictions_of_folds_are_of_square_roots():
    rng = np.random.default_rng(0)
    X, y = rng.gamma(0.5, 1, (80, 4)).astype(np.float32), np.arange(80) % 2
    settings = {"loss": "hinge", "bias": 1.0, "penalty": "l2", "tol": 0.1}
    spec = ModelSpec("hellinger", "", {}, "liblinear", "ovr", settings, False, 0)
    train, test = np.arange(60), np.arange(60, 80)
    [found] = predictor(spec, X, y)([1.0], train, test)
    roots = np.sqrt(X)
    model = LiblinearSVC(1.0, loss="hinge", tol=0.1, random_state=0).fit(roots[train], y[train])
    np.testing.assert_array_equal(found, model.predict(roots[test]))
