"""From files of one's own to an evaluated model: labels, index bases, what cannot fit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import kmaps, refused
from sklearn.datasets import dump_svmlight_file

from kmaps import load_model

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 6)).astype(np.float32)
X[X < 0.5] = 0
X[:, 0] = 0  # so that a file that counts from 0 does not show it
Y = np.digitize(X[:, 1] + X[:, 2] + RNG.normal(0, 0.2, 90), [1, 2])
WORDS = np.array(["low", "middle, or so", "high"])[Y]
NAMES = ["a", "b", "c", "d", "e", "f"]


def table(path, X, labels, names=NAMES, place=2):
    """Write a csv file whose labels are in the column ``kind``, somewhere in the middle."""
    rows = [[f"{value:.9g}" for value in row] for row in X]
    lines = [
        [*row[:place], f'"{label}"', *row[place:]] for row, label in zip(rows, labels, strict=True)
    ]
    header = [*names[:place], "kind", *names[place:]]
    path.write_text("".join(",".join(line) + "\n" for line in [header, *lines]))


@pytest.fixture(autouse=True)
def _in_folder(_in_a_folder):
    np.save("X.npy", X)
    np.save("y.npy", Y)
    table(Path("words.csv"), X, WORDS)
    table(Path("numbers.csv"), X, Y)


def as_json(*args):
    return json.loads(kmaps(*args, "--json").stdout)


def test_unknown_labels_are_told():
    kmaps("train", "numbers.csv", "m.npz", "--label-column", "kind")
    y = Y.copy()
    y[:3] = 9
    table(Path("t.csv"), X, y)
    kind = "--label-column", "kind"
    result = kmaps("predict", "m.npz", "t.csv", "p.npy", *kind)
    right = np.sum(np.load("p.npy") == y)
    assert result.stdout == f"accuracy {100 * right / 90:.2f} % ({right} of 90)\n"
    evaluated = kmaps("evaluate", "m.npz", "t.csv", *kind, "--json")
    told = json.loads(evaluated.stdout)
    assert (told["accuracy"], told["unknown_rows"], told["unknown_labels"]) == (right / 90, 3, [9])
    for stderr in (result.stderr, evaluated.stderr):
        assert "3 of 90 rows have labels that the model does not know (9)" in stderr


def svm(path, first):
    dump_svmlight_file(X, Y, path, zero_based=first == 0)


def test_what_the_training_file_counted_from_proves_nothing():
    svm("zero.svm", 0)
    result = kmaps("train", "zero.svm", "m.npz", "--zero-based", "true", "--n-features", "6")
    assert "indices count from 0 (--zero-based)\n" in result.stdout
    assert as_json("train", "X.npy", "n.npz", "--labels", "y.npy")["features"] == 6
    right = np.mean(load_model("n.npz").predict(X) == Y)
    given = as_json("evaluate", "m.npz", "zero.svm", "--zero-based", "true")
    assert given["accuracy"] == right
    # Index 0 does not occur: read as from 1, each column would be its neighbour's.
    svm("one.svm", 1)
    assert "index 0 does not occur" in kmaps("train", "one.svm", "s.npz").stderr
    for model in ("m.npz", "n.npz", "s.npz"):
        for command in (["evaluate", model, "zero.svm"], ["predict", model, "zero.svm", "p.npy"]):
            said = refused(*command, "--quiet")
            assert "zero.svm: neither index 0 nor index 6" in said
            assert "pass --zero-based true or --zero-based false" in said
    # The last column occurs with an index that only files from 1 have.
    for arguments in (["zero.svm", "--zero-based", "true"], ["one.svm"]):
        result = kmaps("evaluate", "n.npz", *arguments, "--json")
        assert (json.loads(result.stdout)["accuracy"], result.stderr) == (right, "")
    result = kmaps("evaluate", "m.npz", "one.svm", "--json")
    assert json.loads(result.stdout)["accuracy"] == right
    assert "its indices count from 1" in result.stderr
    for command in (["train", "zero.svm", "o.npz"], ["encode", "zero.svm", "o.npy"]):
        assert "zero.svm: neither index 0 nor index 6" in refused(*command, "--n-features", "6")


def test_data_that_cannot_be_of_a_model():
    kmaps("train", "words.csv", "w.npz", "--label-column", "kind", "-q")
    kmaps("train", "numbers.csv", "n.npz", "--label-column", "kind", "-q")
    svm("one.svm", 1)
    kmaps("train", "one.svm", "s.npz", "-q")
    Path("zero.svm").write_text("0 0:1 3:1\n1 2:1\n")
    Path("wide.svm").write_text("0 1:1 7:1\n")
    kmaps("train", "zero.svm", "z.npz", "--zero-based", "true", "--n-features", "6", "-q")
    table(Path("order.csv"), X, WORDS, names=["a", "c", "b", *NAMES[3:]])
    table(Path("narrow.csv"), X[:, :5], WORDS, names=NAMES[:5])
    table(Path("other.csv"), X, np.full(90, "red"))
    np.save("short.npy", Y[:80])
    np.savetxt("plain.csv", X, delimiter=",")
    np.savez("words.npz", rows=X, kind=WORDS)
    pd.DataFrame(X, columns=NAMES).assign(kind=WORDS).to_parquet("words.parquet")
    pd.read_csv("order.csv").to_parquet("order.parquet")
    kind = "--label-column kind"
    of_text = "the labels are text (high, low, middle, or so), the model's labels are numbers"
    for arguments, message in {
        **{
            f"w.npz {order} {kind}": f"{order}: column 2 is 'c', in w.npz it is 'b': give the "
            "columns that the model was trained on, in the same order"
            for order in ("order.csv", "order.parquet")
        },
        f"w.npz narrow.csv {kind}": "narrow.csv has 5 columns, w.npz was trained on 6",
        **{
            f"n.npz words.{form} {kind}": f"{of_text} (0, 1, 2); use the labels that it was "
            "trained with"
            for form in ("csv", "npz", "parquet")
        },
        "w.npz X.npy --labels y.npy": "the labels are numbers (0, 1, 2), the model's labels are",
        f"w.npz X.npy {kind}": "X.npy: npy has no columns with names; leave --label-column "
        "kind out",
        "w.npz words.csv --label-column knd": "words.csv: its header has no column 'knd', did you",
        "s.npz zero.svm": "zero.svm: has index 0, but s.npz was trained on indices from 1; pass "
        "--zero-based true if this file's indices count from 0",
        "z.npz wide.svm": "wide.svm:1: index 7 is above 6, the last",
        "s.npz wide.svm": "wide.svm:1: index 7 is above 6, the last",
        "s.npz plain.csv --labels short.npy": "80 labels, but plain.csv has 90 rows",
        "s.npz zero.svm --zero-based false": "zero.svm:1: index 0 occurs, but the indices must",
    }.items():
        for command, out in (("evaluate", []), ("predict", ["p.npy"])):
            file, data, *options = arguments.split()
            said = refused(command, file, data, *out, *options, "--quiet")
            assert said.startswith(message), arguments
    assert refused("evaluate", "w.npz", "other.csv", *kind.split()).startswith(
        "no row has a label that the model knows (high, low, middle, or so): the labels are red"
    )


def test_every_command_reads_standard_input():
    text = Path("numbers.csv").read_text()
    given = "--input-format", "csv", "--label-column", "kind"
    for arguments in (
        ["train", "-", "m.npz"],
        ["predict", "m.npz", "-", "p.npz"],
        ["evaluate", "m.npz", "-"],
        ["encode", "-", "o.npz"],
    ):
        result = kmaps(*arguments, *given, input=text)
        if arguments[0] == "evaluate":
            expected = np.mean(load_model("m.npz").predict(X) == Y)
            assert result.stdout.startswith(f"accuracy {100 * expected:.2f} %")
    assert np.load("o.npz")["y"].tolist() == Y.tolist()


def test_a_forgotten_label_column_is_named():
    kmaps("train", "numbers.csv", "n.npz", "--label-column", "kind", "-q")
    message = (
        "numbers.csv has 7 columns, n.npz was trained on 6; does one hold the labels? "
        "--label-column kind"
    )
    assert refused("predict", "n.npz", "numbers.csv", "p.npy") == message
    assert refused("evaluate", "n.npz", "numbers.csv") == message


def test_encode_says_what_indices_count_from():
    Path("zero.svm").write_text("0 0:1 3:1\n1 2:1\n")
    Path("one.svm").write_text("0 1:1 4:1\n1 3:1\n")
    zero = kmaps("encode", "zero.svm", "zero.npy")
    assert zero.stderr == "zero.svm: its indices count from 0; written svm files count from 1\n"
    assert "index 0 does not occur" in kmaps("encode", "one.svm", "one.npy").stderr
    np.testing.assert_array_equal(np.load("zero.npy"), np.load("one.npy"))
    assert refused("encode", "zero.svm", "o.npy", "--fit-on", "one.svm", "--quiet") == (
        "indices count from 1 in one.svm and from 0 in zero.svm; state where both begin with "
        "--zero-based"
    )
