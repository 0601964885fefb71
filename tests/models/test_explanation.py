"""The page on a model: what it says recomputes the scores, in a browser too."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from kmaps import CodedSVC, CodedSVR
from kmaps.models import explanation
from kmaps.svm.normalization import Normalization

RNG = np.random.default_rng(0)
X = RNG.random((90, 6)).astype(np.float32)
Y = np.digitize(X[:, 0] - X[:, 1] + RNG.normal(0, 0.1, 90), [-0.2, 0.2])
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def data_of(page):
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1])


@pytest.mark.parametrize(
    "model",
    [
        CodedSVC("chi2", 10.0),
        CodedSVC("intersection", 10.0, calibrate=True),
        CodedSVC("js", multiclass="ovo"),
        CodedSVR("chi2", 10.0),
    ],
)
@pytest.mark.parametrize("n_features", [3, 6])
def test_scores_come_from_its_own_numbers(model, n_features):
    model.fit(X, Y)
    data = data_of(explanation(model, X, rows=[0, 7, 33], n_features=n_features))
    assert [row["number"] for row in data["rows"]] == [0, 7, 33]
    for row, scores in zip(data["rows"], model.model_.scores(X[[0, 7, 33]]), strict=True):
        levels = zip(data["features"], row["levels"], strict=True)
        parts = [data["baseline"], row["rest"], *(f["values"][level] for f, level in levels)]
        np.testing.assert_allclose(np.sum(parts, axis=0), scores, rtol=1e-6, atol=1e-6)
        assert (np.array(row["rest"]) == 0).all() == (n_features == 6)
    best = np.argsort(-model.importance_)[:n_features]
    assert [feature["name"] for feature in data["features"]] == [f"x{j}" for j in best]
    for feature in data["features"]:
        assert sum(feature["density"]) == pytest.approx(1)
    assert len(data["columns"]) == len(model.baseline_)


def test_no_name_of_a_class_or_feature_is_markup():
    names = ["</script><b>", "<img src=x>", "|`a`| *b*", r"\input{y} $x$", "\x1b[m", "\u202e"]
    page = explanation(CodedSVC("chi2").fit(X, np.array(names)[np.arange(90) % 6]), X, names=names)
    assert page.count("<script") == page.count("</script") == 2
    assert not any(mark in page for mark in ("<b>", "<img", "\x1b", "\u202e"))
    shown = {*names[:4], r"\x1b[m", r"\u202e"}
    assert {*data_of(page)["columns"]} == shown
    assert {feature["name"] for feature in data_of(page)["features"]} == shown


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_a_browser_draws_it_and_computes_the_scores(tmp_path):
    model = CodedSVC("chi2", 10.0).fit(X, Y)
    (tmp_path / "page.html").write_text(explanation(model, X, rows=[4, 9], n_features=4))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"file://{tmp_path / 'page.html'}"]
    drawn = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    scores = json.loads(html.unescape(re.search(r'data-scores="(.*?)"', drawn)[1]))
    np.testing.assert_allclose(scores, model.decision_function(X[[4, 9]]), atol=1e-6)
    said = float(re.search(r'<output id="score">(.*?)</output>', drawn)[1])
    # The row is shown by the scores of its predicted class.
    assert said == pytest.approx(model.decision_function(X[4:5]).max(), rel=1e-3)
    assert f"x0 = {X[4, 0]:.4g}" in drawn
    assert drawn.count('class="curve"') == 4
    assert drawn.count("<figcaption>") == 4


def test_a_row_has_its_own_values_its_class_and_its_probability():
    wide = np.c_[X.astype(np.float64) * [1000, 1, 1, 1, 1, 1], 2 * X[:, :1]]
    model = CodedSVC("chi2", probability=True, level_ranges="shared").fit(wide, Y)
    data = data_of(explanation(model, pd.DataFrame(wide), rows=[4, 9], n_features=7))
    order = np.argsort(-model.importance_, kind="stable")
    for row in data["rows"]:
        assert row["values"] == wide[row["number"], order].tolist()
        sample = wide[[row["number"]]]
        assert row["predicted"] == str(model.predict(sample)[0])
        assert data["columns"][row["column"]] == row["predicted"]
        assert row["probability"] == model.predict_proba(sample).max()
    levels = [
        feature["levels"][n] for feature, n in zip(data["features"], row["levels"], strict=True)
    ]
    assert levels != row["values"]


def test_a_page_on_a_normalised_model_is_in_the_units_of_the_samples():
    scale = Normalization.learnt("min-max", 1000 * X.min(axis=0), 1000 * X.max(axis=0))
    model = CodedSVC("chi2").fit(scale.of(1000 * X), Y)
    model.normalization_ = scale
    data = data_of(explanation(model, 1000 * X, n_features=6))
    for feature, value in zip(data["features"], data["rows"][0]["values"], strict=True):
        assert min(feature["levels"]) <= value <= max(feature["levels"])
        assert max(feature["levels"]) > 900
    assert data["rows"][0]["predicted"] == str(model.predict(1000 * X[:1])[0])


def test_a_function_is_drawn_where_data_lie_with_a_legend():
    wide = X * np.array([1000, 1, 1, 1, 1, 1])
    model = CodedSVC("chi2", level_ranges="shared").fit(wide, Y)
    with plt.rc_context({"backend": "agg"}):
        axes = model.plot_function(1, X=wide).ax_
        binary = CodedSVC("chi2").fit(X, Y > 0).plot_function("x1").ax_
        plt.close("all")
    assert max(line.get_xdata().max() for line in axes.lines[:3]) < 2
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "1", "2"]
    assert binary.get_legend() is None
