"""kmaps evaluate, and what kmaps info says of a model."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from commands import kmaps, refused
from scipy.stats import binomtest

from kmaps import CodedSVC, CodedSVR, RandomFeatureSVC, load_model
from kmaps.models import evaluate
from tests.bench.report.test_forms import tokens_of
from tests.cli.test_pages import NAMES, Read

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 6)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
FILES = {"X.npy": X, "y.npy": Y}


def test_a_model_is_evaluated_class_by_class():
    kmaps("train", "X.npy", "m.npz", "--labels", "y.npy")
    model = load_model("m.npz")
    expected = evaluate(Y, model.decision_function(X), model.classes_)
    arguments = "evaluate", "m.npz", "X.npy", "--labels", "y.npy", "--confusion", "c.csv"
    result = kmaps(*arguments, "--json")
    told = json.loads(result.stdout)
    assert result.stderr == ""
    assert (told["rows"], told["accuracy"]) == (90, np.mean(model.predict(X) == Y))
    for name in ("roc_auc", "average_precision"):
        assert told[name] == expected.ranking(getattr(expected, name))
    for k, one in enumerate(told["classes"]):
        assert (one["label"], one["rows"]) == (k, np.sum(k == Y))
        for name in ("recall", "precision", "roc_auc", "average_precision"):
            assert one[name] == getattr(expected, name)[k]
    counts = expected.confusion.tolist()
    assert told["confusion"] == counts
    lines = [",".join(map(str, [k, *row])) for k, row in enumerate(counts)]
    assert Path("c.csv").read_text() == "\n".join(["true,0,1,2", *lines, ""])
    assert refused(*arguments).startswith("c.csv: exists already")
    text = kmaps(*arguments, "--force").stdout.splitlines()
    assert text[0] == f"accuracy {100 * told['accuracy']:.2f} % ({np.trace(counts)} of 90)"
    assert text[1] == f"ROC AUC {told['roc_auc']:.4f} (mean over the classes)"
    assert text[4] == "class  rows  recall, %  precision, %  ROC AUC  average precision"
    assert text[-4].split() == ["true", "\\", "predicted", "0", "1", "2"]
    assert [[int(n) for n in line.split()[1:]] for line in text[-3:]] == counts


def test_what_cannot_be_evaluated():
    CodedSVC().fit(X, Y).save("m.npz")
    CodedSVR().fit(X, Y).save("r.npz")
    y = "--labels y.npy"
    for arguments, message in {
        "m.npz X.npy": "X.npy: holds no labels; name a file with --labels, or the column",
        f"r.npz X.npy {y} --confusion c.csv": "--confusion: r.npz is a regression, which has no",
        f"m.npz X.npy {y} --confusion y.npy --force": "y.npy: is the input too; choose another",
        f"m.npz X.npy {y} --confusion -": "--confusion -: standard output is for the table; name",
        f"m.npz X.npy {y} --confusion c.xls": "c.xls: unknown format 'xls' (csv, png, svg, pdf)",
        f"m.npz X.npy {y} --reliability r.csv": "m.npz: has no probabilities; train it with",
    }.items():
        assert refused("evaluate", *arguments.split()).startswith(message)


def test_an_evaluation_is_a_page_and_no_class_is_markup_there():
    y = np.array(NAMES)[np.arange(90) % len(NAMES)]
    model = CodedSVC(C=100, probability="temperature").fit(X, y)
    model.save("m.npz")
    np.savez("rows.npz", X=X, y=y)
    files = [word for form in ("html", "md", "json") for word in ("-o", f"p.{form}")]
    printed = kmaps("evaluate", "m.npz", "rows.npz", *files, "--confusion", "c.svg").stdout
    right = int(np.sum(model.predict(X) == y))
    low, high = binomtest(right, 90).proportion_ci(method="wilson")
    scores = f"{100 * right / 90:.2f} % | {right} of 90 | {100 * low:.2f} to {100 * high:.2f} %"
    markdown, page = Path("p.md").read_text(), Read(Path("p.html").read_text())
    assert f"| accuracy | {scores} |" in markdown
    assert not {"html_block", "html_inline", "link_open", "image"} & {*dict(tokens_of(markdown))}
    assert any(text.startswith("kmaps evaluate m.npz rows.npz") for text in page.texts)
    places = [value for key, value in page.given if key == "src"]
    assert [place[:26] for place in places] == ["data:image/svg+xml;base64,"] * 2
    shown = {name.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e") for name in NAMES}
    notebook = Read(evaluate(y, model.decision_function(X), model.classes_)._repr_html_())
    for read in (page, notebook):
        assert shown <= {text.strip() for text in read.texts}
        assert not {"b", "script"} & {*read.tags}
        assert not any(key.startswith("on") for key, _ in read.given)
    assert shown <= {*map(str.strip, ElementTree.parse("c.svg").getroot().itertext())}
    assert not {"\x1b", "\u202e"} & {*printed, *markdown}
    assert json.loads(Path("p.json").read_text())["title"] == "Evaluation of m.npz"
    assert refused("evaluate", "m.npz", "rows.npz", *files).startswith("p.html: exists already")


def test_a_class_is_no_formula_in_the_csv():
    y = np.array(["=1+1|cmd", "b"])[Y // 2]
    CodedSVC().fit(X, y).save("m.npz")
    np.save("y.npy", y)
    done = kmaps("evaluate", "m.npz", "X.npy", "--labels", "y.npy", "--confusion", "c.csv")
    lines = Path("c.csv").read_text().splitlines()
    assert lines[0] == 'true,"=1+1|cmd",b'
    assert lines[1].startswith('"=1+1|cmd",')
    assert "=1+1|cmd" in done.stderr


def test_a_regression_is_evaluated_by_its_errors():
    numbers = X.sum(axis=1)
    model = CodedSVR(C=10.0).fit(X, numbers)
    model.save("r.npz")
    np.save("n.npy", numbers)
    errors = json.loads(kmaps("evaluate", "r.npz", "X.npy", "--labels", "n.npy", "--json").stdout)
    predicted = model.predict(X)
    assert errors["rows"] == 90
    assert errors["r2"] == pytest.approx(model.score(X, numbers))
    assert errors["mae"] == pytest.approx(np.abs(predicted - numbers).mean())
    told = kmaps("predict", "r.npz", "X.npy", "p.npy", "--labels", "n.npy").stdout
    assert f"R² {errors['r2']:.4f}, root mean square error {errors['rmse']:.4g}" in told
    np.testing.assert_array_equal(np.load("p.npy"), predicted)
    kmaps("predict", "r.npz", "X.npy", "p.csv")
    np.testing.assert_allclose(np.loadtxt("p.csv"), predicted, rtol=1e-12)
    assert "is a regression" in refused("predict", "r.npz", "X.npy", "q.csv", "--scores")


def described(path):
    return dict(line.split("  ", 1) for line in kmaps("info", path).stdout.splitlines())


def test_info_describes_a_model():
    kmaps("train", "X.npy", "m.npz", "--labels", "y.npy", "--kernel", "js", "-C", "0.1,1")
    told = json.loads(kmaps("info", "m.npz", "--json").stdout)
    model = load_model("m.npz")
    assert (told["estimator"], told["map"], told["kernel"]) == ("CodedSVC", "exact", "js")
    assert (told["C"], told["loss"], told["multiclass"]) == (model.C, "hinge", "ovr")
    assert (told["features"], told["classes"]) == (6, [0, 1, 2])
    assert told["levels"] == model.levels_.shape[1]
    assert told["model_bytes"] == model.model_bytes_
    assert told["file_bytes"] == Path("m.npz").stat().st_size
    record = told["record"]
    assert (record["file"], record["rows"], record["folds"]) == ("X.npy", 90, 3)
    assert [one["C"] for one in record["cv"]] == [0.1, 1]
    assert record["duality_gap"] <= 1e-4
    assert record["unfinished"] == []
    lines = {name: text.strip() for name, text in described("m.npz").items()}
    assert lines["model"] == "CodedSVC, exact map"
    assert lines["classes"] == "3: 0, 1, 2"
    assert lines["converged"] == "yes"
    assert lines["trained: cv"].startswith("C 0.1, accuracy 0.")


def test_info_of_models_from_python():
    CodedSVR("hellinger").fit(X, Y).save("r.npz")
    RandomFeatureSVC("exp-js", 20, sigma=0.5).fit(X, Y).save("f.npz")
    lines = {name: text.strip() for name, text in described("r.npz").items()}
    assert (lines["classes"], lines["kernel"]) == ("none, a regression", "hellinger")
    assert lines["trained"] == "the file does not say how"
    told = json.loads(kmaps("info", "f.npz", "--json").stdout)
    assert (told["kernel"], told["n_frequencies"], told["sigma"]) == ("exp-js", 20, 0.5)
    assert (told["levels"], told["record"]) == (None, {})
    Path("no.npz").write_text("no")
    assert refused("info", "no.npz").startswith("no.npz: is no kmaps model, or is damaged")
