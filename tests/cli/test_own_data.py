"""From files of one's own to an evaluated model: labels, index bases, what cannot fit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import kmaps, refused
from sklearn.datasets import dump_svmlight_file

from kmaps import CodedSVC, load_model

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


@pytest.mark.parametrize(("file", "labels"), [("words.csv", WORDS), ("numbers.csv", Y)])
def test_a_column_of_labels(file, labels):
    kmaps("train", file, "m.npz", "--label-column", "kind")
    expected = CodedSVC().fit(X, labels)
    predicted = expected.predict(X)
    assert load_model("m.npz").classes_.tolist() == expected.classes_.tolist()
    told = as_json("evaluate", "m.npz", file, "--label-column", "kind")
    assert told["accuracy"] == np.mean(predicted == labels) > 0.7
    told = as_json("predict", "m.npz", file, "p.txt", "--label-column", "kind")
    assert told["correct"] == np.sum(predicted == labels)
    assert told["unknown_rows"] == 0
    assert Path("p.txt").read_text().splitlines() == [str(label) for label in predicted]
    record = as_json("info", "m.npz")["record"]
    assert (record["columns"], record["label_column"]) == (NAMES, "kind")
    assert ": a, b, c, d, e, f\n" in kmaps("info", "m.npz").stdout


@pytest.mark.parametrize("name", ["words.parquet", "words.feather", "words.npz"])
def test_every_format_gives_the_model_of_the_csv_file(name):
    table = pd.DataFrame(X, columns=NAMES).assign(kind=WORDS)
    if name.endswith("npz"):
        np.savez(name, rows=X, kind=WORDS)
    else:
        (table.to_parquet if name.endswith("parquet") else table.to_feather)(name)
    kind = "--label-column", "kind"
    kmaps("train", "words.csv", "csv.npz", *kind)
    kmaps("train", name, "m.npz", *kind)
    ours, theirs = load_model("m.npz"), load_model("csv.npz")
    # The text has 9 digits, read in float64: measured 4e-5.
    scores = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(*scores, rtol=0, atol=1.2e-4)
    told = [kmaps("evaluate", "m.npz", file, *kind).stdout for file in (name, "words.csv")]
    assert told[0] == told[1]


def test_models_and_labels_are_streams_too():
    kmaps("train", "words.csv", "m.npz", "--label-column", "kind")
    told = kmaps("train", "words.csv", "-", "--label-column", "kind", "-q")
    assert "90 rows of 6 features" in told.stderr
    model = told.stdout_bytes

    def piped(content, *arguments, code=0):
        return kmaps(*arguments, code=code, input=content)

    labels = "".join(f"{word}\n" for word in WORDS)
    expected = kmaps("evaluate", "m.npz", "words.csv", "--label-column", "kind").stdout
    evaluated = piped(model, "evaluate", "-", "words.csv", "--label-column", "kind")
    assert evaluated.stdout == expected
    assert piped(labels, "evaluate", "m.npz", "X.npy", "--labels", "-").stdout == expected
    assert "CodedSVC" in piped(model, "info", "-").stdout
    assert piped(model, "explain", "-", "-q").stdout == ""
    assert Path("model.html").exists()
    piped(labels, "train", "X.npy", "n.npz", "--labels", "-")
    piped(labels, "encode", "X.npy", "e.npz", "--labels", "-")
    assert np.load("e.npz")["y"].tolist() == WORDS.tolist()
    assert piped(b"x", "info", "-", code=2).stderr.startswith("error: standard input: is no kmap")
    both = piped(model, "predict", "-", "X.npy", "p.npy", "--labels", "-", code=2).stderr
    assert both == "error: -: only one of IN, MODEL and --labels can be standard input\n"
    assert refused("train", "X.npy", "-", "--labels", "y.npy", "--json").startswith("--json: ")


def test_classes_of_text_may_look_like_numbers():
    labels = np.array(["1", "2", "a"])[Y]
    table(Path("t.csv"), X, labels)
    kmaps("train", "t.csv", "m.npz", "--label-column", "kind")
    few = labels != "a"
    table(Path("t.csv"), X[few], labels[few])
    told = as_json("evaluate", "m.npz", "t.csv", "--label-column", "kind")
    assert told["accuracy"] == np.mean(CodedSVC().fit(X, labels).predict(X)[few] == labels[few])


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
    assert result.stderr == evaluated.stderr
    assert "3 of 90 rows have labels that the model does not know (9); they" in result.stderr


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


def test_whole_numbers_and_fractions():
    pixels = (40 * X).astype(np.uint8)
    np.save("pixels.npy", pixels)
    np.save("fractions.npy", (pixels / 255).astype(np.float32))
    kmaps("train", "pixels.npy", "m.npz", "--labels", "y.npy", "-q")
    kmaps("train", "X.npy", "x.npz", "--labels", "y.npy", "-q")
    for model, data, trained in (("m", "fractions", "uint8"), ("x", "pixels", "float32")):
        holds = np.load(f"{data}.npy").dtype
        given = kmaps("predict", f"{model}.npz", f"{data}.npy", f"{model}.npy").stderr
        assert given.splitlines()[0] == (
            f"warning: {data}.npy holds {holds}, {model}.npz was trained on {trained}: are the "
            "values on the same scale?"
        )
    assert kmaps("predict", "m.npz", "pixels.npy", "p.npy").stderr == ""
    kmaps("predict", "x.npz", "numbers.csv", "q.npy", "--label-column", "kind")


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


def test_labels_of_another_file_are_encoded_with_the_rows():
    np.save("words.npy", WORDS)
    kmaps("encode", "X.npy", "o.npz", "--labels", "words.npy", "--memory", 1)
    assert np.load("o.npz")["y"].tolist() == WORDS.tolist()
    kmaps("encode", "X.npy", "p.svm", "--labels", "numbers.csv", "--label-column", "kind")
    labels = [line.split()[0] for line in Path("p.svm").read_text().splitlines()]
    assert labels == [str(label) for label in Y]
    np.save("short.npy", Y[:80])
    np.save("long.npy", np.tile(Y, 2))
    for arguments, message in {
        "X.npy q.npz --labels short.npy": "80 labels, but X.npy has 90 rows",
        "numbers.csv q.npz --labels long.npy": "180 labels, but numbers.csv has 90 rows",
        "numbers.csv q.svm --labels short.npy": "80 labels, but numbers.csv has more rows",
        "X.npy q.npy --labels y.npy": "q.npy: npy has no place for labels; write .npz,",
    }.items():
        assert refused("encode", *arguments.split()).startswith(message)


def test_columns_of_a_damaged_model():
    model = CodedSVC().fit(X, Y)
    for number, columns in enumerate((5, ["a"])):
        model.save(f"{number}.npz", record={"columns": columns})
        message = f"{number}.npz: the model is damaged: it has more or fewer columns than features"
        arguments = "evaluate", f"{number}.npz", "numbers.csv", "--label-column", "kind"
        assert refused(*arguments).startswith(message)
        kmaps("info", f"{number}.npz")


@pytest.mark.parametrize("dtype", [["float32"], "flaot", 3, None])
def test_a_type_on_record_that_is_none(dtype):
    CodedSVC().fit(X, Y).save("m.npz", record={"dtype": dtype})
    assert kmaps("predict", "m.npz", "X.npy", "p.npy").stderr == ""


def test_a_forgotten_label_column_is_named():
    kmaps("train", "numbers.csv", "n.npz", "--label-column", "kind", "-q")
    message = (
        "numbers.csv has 7 columns, n.npz was trained on 6; does one hold the labels? "
        "--label-column kind"
    )
    assert refused("predict", "n.npz", "numbers.csv", "p.npy") == message
    assert refused("evaluate", "n.npz", "numbers.csv") == message


def test_explain_reads_what_the_model_was_trained_on():
    svm("zero.svm", 0)
    kmaps("train", "zero.svm", "m.npz", "--zero-based", "true", "--n-features", "6", "-q")
    kmaps("explain", "m.npz", "--data", "zero.svm", "--zero-based", "true", "--out", "svm.html")
    kmaps("explain", "m.npz", "--data", "X.npy", "--out", "npy.html")
    assert Path("svm.html").read_text() == Path("npy.html").read_text()
    arguments = "--data", "-", "--input-format", "csv", "--label-column", "kind", "--out", "-"
    text = Path("words.csv").read_text()
    page = kmaps("explain", "m.npz", *arguments, input=text).stdout
    assert page == Path("npy.html").read_text()
    arguments = "--data", "words.csv", "--label-column", "kind", "--out", "csv.html"
    kmaps("explain", "m.npz", *arguments)
    assert Path("csv.html").read_text() == Path("npy.html").read_text()


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
