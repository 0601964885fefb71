"""kmaps predict: labels, scores and probabilities in every format."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import kmaps, refused
from sklearn.datasets import load_svmlight_file

from kmaps import CodedSVC

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


def test_two_classes_have_one_score(models):
    predict(models, "two", "p.csv", "--scores", "--proba")
    table = read_csv("p.csv")
    assert table.columns.tolist() == ["label", "score:True", "proba:False", "proba:True"]
    np.testing.assert_array_equal(table["score:True"], models[1]["two"].decision_function(X))


def test_standard_output_is_text_unless_another_format_is_asked_for(models):
    predict(models, "numbers", "p.csv", "--scores")
    predict(models, "numbers", "p.svm", "--scores")
    assert predict(models, "numbers", "-", "--scores").stdout == Path("p.csv").read_text()
    lines = predict(models, "numbers", "-", "--scores", "--output-format", "svm").stdout
    assert lines == Path("p.svm").read_text()
    labels = predict(models, "words", "-", "--output-format", "csv").stdout.splitlines()
    assert labels[WORDS.tolist().index("middle, or so")] == '"middle, or so"'
    predict(models, "words", "p.npy", "--proba")
    sent = predict(models, "words", "-", "--proba", "--output-format", "npy").stdout_bytes
    assert sent == Path("p.npy").read_bytes()


def test_what_has_no_place(models):
    CodedSVC().fit(X, Y).save("plain.npz")
    for name, arguments, message in (
        ("words", "p.doc", "p.doc: unknown format 'doc' (txt, npy, npz, csv, svm, libsvm, "
         "parquet, arrow, feather)"),
        ("words", "p.txt --proba", "p.txt: txt files have labels only; write proba to csv"),
        ("words", "p.npy --scores --proba", "p.npy: npy has a place for scores or proba; write "
         "both to npz, csv or parquet"),
        ("words", "p.svm", "p.svm: svm files need rows; write labels alone to txt or csv"),
        ("words", "p.svm --scores", "svm files need numbers as labels, got text ("),
    ):  # fmt: skip
        file = models[0] / f"{name}.npz"
        assert refused("predict", file, "X.npy", *arguments.split()).startswith(message)
    message = "plain.npz: has no probabilities; train it with --probability temperature"
    assert refused("predict", "plain.npz", "X.npy", "p.npy", "--proba") == message


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
