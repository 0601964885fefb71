"""kmaps predict: labels, scores and probabilities in every format."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import kmaps
from sklearn.datasets import load_svmlight_file

from kmaps import CodedSVC
from kmaps.io import read_labels

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 6)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
WORDS = np.array(["low", "middle, or so", "high"])[Y]
NAMES = ["high", "low", "middle, or so"]
FILES = {"X.npy": X}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of words, one of numbers, one of two classes, with their files."""
    folder = tmp_path_factory.mktemp("models")
    found = {}
    for name, y in {"words": WORDS, "numbers": Y, "two": Y > 0}.items():
        found[name] = CodedSVC(probability="sigmoid").fit(X, y)
        found[name].save(folder / f"{name}.npz")
    return folder, found


def predict(models, name, *args, code=0):
    return kmaps("predict", models[0] / f"{name}.npz", "X.npy", *args, code=code)


def read_csv(path):
    """Read a table with all its digits, which pandas' quickest way loses some of."""
    return pd.read_csv(path, float_precision="round_trip")


@pytest.mark.parametrize("memory", ["1000", "1"])
@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.feather"])
def test_tables_have_a_column_a_class(models, name, memory):
    if memory == "1":  # more blocks than one
        np.save("X.npy", np.tile(X, (500, 1)))
    predict(models, "words", name, "--scores", "--proba", "--memory", memory)
    read = {".csv": read_csv, ".parquet": pd.read_parquet, ".feather": pd.read_feather}
    table = read[Path(name).suffix](name)
    scores, proba = ([f"{what}:{label}" for label in NAMES] for what in ("score", "proba"))
    assert table.columns.tolist() == ["label", *scores, *proba]
    model = models[1]["words"]
    expected = np.load("X.npy")
    assert table["label"].tolist() == model.predict(expected).tolist()
    np.testing.assert_array_equal(table[scores], model.decision_function(expected))
    np.testing.assert_array_equal(table[proba], model.predict_proba(expected))


def test_labels_alone(models):
    expected = models[1]["words"].predict(X).tolist()
    for name in ("p.npz", "p.npy", "p.parquet", "p.arrow", "p.csv", "p.txt"):
        predict(models, "words", name)
    with np.load("p.npz") as archive:
        assert archive["labels"].tolist() == expected
        assert archive["classes"].tolist() == NAMES
        assert archive.files == ["labels", "classes"]
    assert np.load("p.npy").tolist() == expected
    assert pd.read_parquet("p.parquet")["label"].tolist() == expected
    assert pd.read_feather("p.arrow")["label"].tolist() == expected
    assert pd.read_csv("p.csv", header=None)[0].tolist() == expected
    assert Path("p.txt").read_text().splitlines() == expected


def test_arrays(models):
    model = models[1]["numbers"]
    predict(models, "numbers", "both.npz", "--scores", "--proba")
    predict(models, "numbers", "scores.npy", "--scores")
    predict(models, "numbers", "proba.npy", "--proba")
    with np.load("both.npz") as archive:
        assert archive.files == ["labels", "scores", "proba", "classes"]
        np.testing.assert_array_equal(archive["scores"], model.decision_function(X))
        np.testing.assert_array_equal(archive["proba"], model.predict_proba(X))
    np.testing.assert_array_equal(np.load("scores.npy"), model.decision_function(X))
    np.testing.assert_array_equal(np.load("proba.npy"), model.predict_proba(X))
    predict(models, "numbers", "p.svm", "--proba")
    rows, labels = load_svmlight_file("p.svm", zero_based=False)
    np.testing.assert_allclose(rows.toarray(), model.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(labels, model.predict(X))


def test_threads_are_pinned(models, monkeypatch):
    from kmaps.thread_pool import num_threads

    seen = []
    of = CodedSVC.decision_function
    monkeypatch.setattr(
        CodedSVC, "decision_function", lambda self, X: (seen.append(num_threads()), of(self, X))[1]
    )
    before = num_threads()
    predict(models, "numbers", "p.npy", "--threads", "3")
    assert (seen, num_threads()) == ([3], before)
    assert "0 is not in the range" in predict(models, "numbers", "p", "--threads=0", code=2).stderr


HOSTILE = [
    "two\nlines",
    r"two\nlines",
    "=SUM(A1)",
    "\x1b[2Jred",
    " blank ",
    "",
    "\u2028",
    "-1",
    "plain",
]


@pytest.fixture
def hostile():
    """A model of classes that break lines, and the labels it predicts."""
    rng = np.random.default_rng(0)
    y = np.array(HOSTILE)[np.arange(90) % len(HOSTILE)]
    one_hot = np.eye(len(HOSTILE))[np.arange(90) % len(HOSTILE)]
    np.save("hot.npy", one_hot + 0.1 * rng.random(one_hot.shape))
    np.save("true.npy", y)
    kmaps("train", "hot.npy", "hostile.npz", "--labels", "true.npy", "-q")
    return y


@pytest.mark.parametrize("name", ["p.txt", "p.csv", "s.csv"])
def test_predictions_are_one_line_per_row_and_read_back_as_the_classes(hostile, name):
    options = ["--scores"] if name == "s.csv" else []
    column = "label" if options else None
    label_options = ["--labels", name]
    if column:
        label_options += ["--label-column", column]
    done = kmaps("predict", "hostile.npz", "hot.npy", name, *options)
    header = 1 if options else 0
    text = Path(name).read_text()
    assert len(text.splitlines()) == len(text.split("\n")) - 1 == 90 + header
    assert "\x1b" not in text
    classes = CodedSVC.load("hostile.npz").classes_
    assert read_labels(name, column=column, classes=classes).tolist() == hostile.tolist()
    evaluated = kmaps("evaluate", "hostile.npz", "hot.npy", *label_options, "--json")
    assert json.loads(evaluated.stdout)["accuracy"] == 1
    if name.endswith("csv"):
        assert '"=SUM(A1)"' in text
        assert "'=" not in text
        assert done.stderr.count("=SUM(A1)") == 1
    else:
        assert "=SUM(A1)" not in done.stderr


def test_labels_forge_no_line_on_the_screen(hostile):
    shown = kmaps("predict", "hostile.npz", "hot.npy", "-").stdout
    assert len(shown.splitlines()) == 90
    for line in kmaps("info", "hostile.npz").stdout.splitlines():
        assert not line.startswith("lines")
    lines = kmaps("evaluate", "hostile.npz", "hot.npy", "--labels", "true.npy").stdout.splitlines()
    assert not any(line.startswith("lines") for line in lines)
    kmaps("evaluate", "hostile.npz", "hot.npy", "--labels", "true.npy", "--confusion", "c.csv")
    assert len(Path("c.csv").read_text().splitlines()) == 1 + len(HOSTILE)
    assert '"=SUM(A1)"' in Path("c.csv").read_text()


def test_true_and_false_are_read_back(models):
    predict(models, "two", "p.csv")
    truth = kmaps("predict", models[0] / "two.npz", "X.npy", "q.txt", "--labels", "p.csv")
    assert "accuracy 100.00 %" in truth.stdout


def test_a_first_class_above_numbers_is_no_header():
    y = np.array(["a", "1", "1", "1"] * 20)
    np.save("x.npy", np.column_stack([y == "a", y == "1"]).astype(float))
    np.save("y.npy", y)
    kmaps("train", "x.npy", "m.npz", "--labels", "y.npy", "-q")
    np.save("x.npy", np.load("x.npy")[:4])
    kmaps("predict", "m.npz", "x.npy", "p.csv")
    assert "(4 of 4)" in kmaps("predict", "m.npz", "x.npy", "q.txt", "--labels", "p.csv").stdout
