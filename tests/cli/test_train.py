"""kmaps train and predict: the library's machine from a file, whatever its size and format."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from sklearn.datasets import dump_svmlight_file

from kmaps import CodedSVC, CodedSVCCV, RandomFeatureSVC, SplineMap, load_model
from kmaps.cli.main import cli
from kmaps.io import LabelledRows, open_reader
from kmaps.models import along_c, choose_along_path, cross_validate
from kmaps.models.choice import stratified_sample

KMAPS = Path(sys.executable).parent / "kmaps"
RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 6)).astype(np.float32)
X[X < 0.5] = 0
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
WORDS = np.array(["low", "middle", "high"])[Y]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", X)
    np.save("y.npy", Y)


def kmaps(*args, code=0, **options):
    """Run a command and return the result; the exit code must be as said."""
    result = CliRunner().invoke(cli, [*map(str, args)], **options)
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def train(*args, **options):
    return kmaps("train", *args, **options)


def refused(*args):
    """Return the one line that a refused command prints; it must leave no file."""
    before = sorted(os.listdir())
    result = kmaps(*args, code=2)
    assert sorted(os.listdir()) == before
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").rstrip("\n")


def test_the_model_is_the_librarys():
    result = train("in.npy", "m.npz", "--labels", "y.npy", "--kernel", "js", "-C", "3")
    assert result.stdout.startswith("90 rows of 6 features, 3 classes: 0.0 MB of codes, ")
    assert "trained with C = 3 in " in result.stdout
    expected = CodedSVC("js", C=3.0).fit(X, Y)
    np.testing.assert_array_equal(
        CodedSVC.load("m.npz").decision_function(X), expected.decision_function(X)
    )
    result = kmaps("predict", "m.npz", "in.npy", "out.npy", "--labels", "y.npy")
    predicted = expected.predict(X)
    right = int(np.sum(predicted == Y))
    assert result.stdout == f"accuracy {100 * right / 90:.2f} % ({right} of 90)\n"
    np.testing.assert_array_equal(np.load("out.npy"), predicted)
    kmaps("predict", "m.npz", "in.npy", "scores.npy", "--scores")
    np.testing.assert_array_equal(np.load("scores.npy"), expected.decision_function(X))


def test_formats_give_the_same_model_and_labels():
    dump_svmlight_file(X, Y, "in.svm", zero_based=False)
    sp.save_npz("in.npz", sp.csr_matrix(X))
    np.savetxt("in.csv", X, delimiter=",", fmt="%.9g")
    train("in.npy", "npy.m", "--labels", "y.npy")
    train("in.svm", "svm.m")
    train("in.npz", "npz.m", "--labels", "y.npy")
    train(
        "-", "csv.m", "--labels", "y.npy", "--input-format", "csv", input=Path("in.csv").read_text()
    )
    expected = CodedSVC.load("npy.m").decision_function(X)
    for name in ("svm.m", "npz.m", "csv.m"):
        scores = CodedSVC.load(name).decision_function(X)
        np.testing.assert_allclose(scores, expected, atol=1e-3)
    # Labels of svm files are known.
    result = kmaps("predict", "npy.m", "in.svm", "-")
    assert "accuracy " in result.stderr
    kmaps("predict", "npy.m", "in.npz", "out.txt")
    assert (
        result.stdout
        == Path("out.txt").read_text()
        == "".join(f"{label}\n" for label in CodedSVC.load("npy.m").predict(X))
    )
    dump_svmlight_file(X, np.full(90, -1), "unknown.svm", zero_based=False)
    result = kmaps("predict", "npy.m", "unknown.svm", "out.npy", "--json")
    assert json.loads(result.stdout)["accuracy"] is None


def test_labels_may_be_words():
    np.save("words.npy", WORDS)
    train(
        "in.npy",
        "m.npz",
        "--labels",
        "words.npy",
        "--set",
        "multiclass=ovo",
        "--set",
        "class_weight=balanced",
    )
    assert (
        "accuracy 9"
        in kmaps("predict", "m.npz", "in.npy", "out.csv", "--labels", "words.npy").stdout
    )
    model = CodedSVC(multiclass="ovo", class_weight="balanced").fit(X, WORDS)
    assert Path("out.csv").read_text().split() == model.predict(X).tolist()


def test_blocks_do_not_matter():
    """One row a block; a map that learns has the range of all rows, whatever its sample."""
    big = np.tile(X, (700, 1))[:, :3]
    big[-1] = 99
    np.save("big.npy", big)
    np.save("ys.npy", np.tile(Y, 700))
    options = "--labels", "ys.npy", "--map", "spline", "--set", "tol=0.01", "-C", "1e-4"
    train("big.npy", "a.m", *options, "--set", "memory=1")
    train("big.npy", "b.m", *options, "--set", "memory=100")
    few = CodedSVC.load("a.m"), CodedSVC.load("b.m")
    np.testing.assert_array_equal(*(model.decision_function(X[:, :3]) for model in few))
    whole = CodedSVC(SplineMap(), C=1e-4, tol=0.01).fit(big, np.tile(Y, 700))
    np.testing.assert_array_equal(few[0].levels_, whole.levels_)
    kmaps("predict", "a.m", "big.npy", "p.npy", "--memory", 1)
    np.testing.assert_array_equal(np.load("p.npy"), few[0].predict(big))


def test_c_is_chosen_by_cross_validation():
    arguments = "in.npy", "m.npz", "--labels", "y.npy", "--json", "--folds", 5, "--set", "seed=3"
    told = json.loads(train(*arguments, "-C", "10,0.001,1").stdout)
    assert [tried["C"] for tried in told["cv"]] == [0.001, 1, 10]
    accuracies = [tried["accuracy"] for tried in told["cv"]]
    assert (
        told["C"] == told["cv"][accuracies.index(max(accuracies))]["C"] == CodedSVC.load("m.npz").C
    )
    assert accuracies[0] < max(accuracies) - 0.1
    assert told["folds"] == 5
    assert told["duality_gap"] <= 1e-3
    assert (told["rows"], told["features"], told["classes"]) == (90, 6, 3)
    text = train(*arguments[:4], "-C", "0.001,1", "--force").stdout
    assert "C = 1: " in text
    assert " % in 3-fold cross-validation, chosen\n" in text


@pytest.mark.parametrize("rule", ["path", "auto"])
def test_c_is_found_by_a_rule(rule):
    told = json.loads(train("in.npy", "m.npz", "--labels", "y.npy", "--json", "-C", rule).stdout)
    expected = CodedSVCCV(Cs=rule).fit(X, Y)
    assert [tried["C"] for tried in told["cv"]] == list(expected.choice_.grid)
    assert [tried["accuracy"] for tried in told["cv"]] == list(expected.choice_.accuracies)
    model = CodedSVC.load("m.npz")
    assert told["C"] == model.C == expected.C_
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_rows_are_held_out():
    arguments = "in.npy", "m.npz", "--labels", "y.npy", "--hold-out", "0.2", "-C", "0.1,1"
    told = json.loads(train(*arguments, "--json").stdout)
    held = np.sort(stratified_sample(Y, 18, 0))
    rest = np.setdiff1d(np.arange(90), held)
    assert (told["rows"], told["hold_out"]["rows"]) == (72, 18)
    # The levels are those of all rows, the machine and its C those of the rest.
    rows = CodedSVC().prepare_rows(LabelledRows(open_reader("in.npy"), Y))
    choice = choose_along_path(CodedSVC(), rows.take(rest), Y[rest], [0.1, 1], folds=3, seed=0)
    expected = CodedSVC(C=choice.C).fit(rows.take(rest), Y[rest])
    model = CodedSVC.load("m.npz")
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    accuracy = np.mean(model.predict(X[held]) == Y[held])
    assert told["hold_out"]["accuracy"] == accuracy
    text = train(*arguments, "--force").stdout
    assert f"\naccuracy {100 * accuracy:.2f} % of 18 rows held out\n" in text
    record = json.loads(kmaps("info", "m.npz", "--json").stdout)["record"]
    assert record["hold_out"] == told["hold_out"]
    assert f"rows 18, accuracy {accuracy:.4g}\n" in kmaps("info", "m.npz").stdout


def test_folds_measure_a_single_c():
    arguments = "in.npy", "m.npz", "--labels", "y.npy", "--folds", "5"
    told = json.loads(train(*arguments, "--json").stdout)
    rows = CodedSVC().prepare_rows(LabelledRows(open_reader("in.npy"), Y))
    choice = cross_validate(lambda of: along_c(CodedSVC(), rows.take(of), Y[of]), [1], Y, folds=5)
    assert told["cv"] == [{"C": 1, "accuracy": choice.accuracies[0]}]
    assert told["folds"] == 5
    line = f"C = 1: {100 * told['cv'][0]['accuracy']:.2f} % in 5-fold cross-validation\n"
    assert line in train(*arguments, "--force").stdout
    assert "cross-validation" not in train(*arguments[:-2], "--force").stdout


def test_a_class_must_not_be_held_out_whole():
    y = Y.copy()
    y[3] = -1
    np.save("rare.npy", y)
    message = "--hold-out 0.5: no row of class -1 is left to train on; hold out fewer"
    assert refused("train", "in.npy", "m.npz", "--labels", "rare.npy", "--hold-out=0.5") == message


@pytest.mark.parametrize("kernel", [["js"], ["exp-js", "-m", "20", "--sigma", "0.5"]])
def test_probabilities_are_the_librarys(kernel):
    train(
        "in.npy", "m.npz", "--labels", "y.npy", "--set", "probability=sigmoid", "--kernel", *kernel
    )
    model = CodedSVC("js", probability="sigmoid", random_state=0)
    if len(kernel) > 1:
        model = RandomFeatureSVC("exp-js", 20, sigma=0.5, probability="sigmoid", random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(load_model("m.npz").predict_proba(X), expected)


def test_a_model_of_few_features():
    told = train("in.npy", "m.npz", "--labels", "y.npy", "--set", "penalty=l1", "-C", "0.1,0.3")
    assert "C = 0.3: " in told.stdout
    model = CodedSVC.load("m.npz")
    expected = CodedSVC(C=model.C, penalty="l1").fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert 0 < (model.importance_ > 0).sum() < 6


def test_a_model_of_smooth_functions():
    train("in.npy", "m.npz", "--labels", "y.npy", "--set", "smooth=0.1")
    model = CodedSVC.load("m.npz")
    expected = CodedSVC(smooth=0.1).fit(X, Y)
    assert model.smooth == 0.1
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    plain = CodedSVC().fit(X, Y).decision_function(X)
    assert np.abs(model.decision_function(X) - plain).max() > 0.01
    arguments = "train in.npy m2.npz --labels y.npy --kernel exp-js --set smooth=0.1"
    assert refused(*arguments.split()) == (
        "--set smooth: not for generalized-rbf, on which LIBLINEAR trains"
    )
    arguments = "train in.npy m2.npz --labels y.npy --set smooth=-1"
    assert refused(*arguments.split()) == "smooth=-1: expected a number of at least 0"


def test_what_cannot_be_trained_on():
    np.save("short.npy", Y[:80])
    np.save("one.npy", np.zeros(90, int))
    np.save("square.npy", np.zeros((90, 2)))
    np.save("objects.npy", np.array([1, "a"] * 45, object), allow_pickle=True)
    Path("cut.npy").write_bytes(Path("y.npy").read_bytes()[:100])
    bad = X.copy()
    bad[-1, 2] = np.nan
    np.save("bad.npy", bad)
    Path("old.npz").write_text("old")
    y = "--labels y.npy"
    for arguments, message in {
        "in.npy m.npz": "in.npy: holds no labels; name a file with --labels, or the column "
        "that has them with --label-column",
        "in.npy m.npz --labels short.npy": "80 labels, but in.npy has 90 rows",
        "in.npy m.npz --labels one.npy": "y has one class only (0): a classifier needs at least "
        "two classes, check the label column",
        "in.npy m.npz --labels square.npy": "square.npy: holds float64 of shape (90, 2), expected "
        "labels of shape (n,), numbers or words",
        "in.npy m.npz --labels objects.npy": "objects.npy: of Python objects; expected plain "
        "labels",
        "in.npy m.npz --labels cut.npy": "cut.npy: not a whole .npy file (EOF: reading array "
        "header, expected 118 bytes got 90)",
        "in.npy m.npz --labels no.npy": "no.npy: no such file",
        f"bad.npy m.npz {y}": "bad.npy: X[89, 2] is nan, expected a finite number",
        f"in.npy old.npz {y}": "old.npz: exists already; choose another name, or pass --force",
        f"in.npy in.npy {y} --force": "in.npy: is the input itself; choose another name for OUT",
        f"in.npy m.npz {y} --kernel chi": "unknown kernel 'chi', did you mean 'chi2'? (additive "
        "kernels: chi2, intersection, js, hellinger)",
        f"in.npy m.npz {y} --map spline --kernel js": "--kernel js: the spline map has no kernel; "
        "leave it out",
        f"in.npy m.npz {y} --map sign-cauchy": "--map sign-cauchy: has no tables, which training "
        "on codes needs",
        f"in.npy m.npz {y} --kernel exp-chi2 -C path": "-C path: not for generalized-rbf, on which "
        "LIBLINEAR trains; use -C auto",
        f"in.npy m.npz {y} --loss hing": "--loss hing: expected 'hinge', 'squared_hinge' or "
        "'logistic', did you mean 'hinge'?",
    }.items():
        assert refused("train", *arguments.split()) == message
    assert Path("old.npz").read_text() == "old"
    for value, message in {"0": "positive", "-1,1": "positive", "a": "numbers"}.items():
        result = train("in.npy", "m.npz", *y.split(), f"-C{value}", code=2)
        assert message in result.stderr
    for value, message in {
        "n_levels=257": "n_levels=257: expected a whole number from 2 to 256",
        "toll=1": "toll: no such parameter, did you mean 'tol'?",
        "memory=little": "--set memory=little: expected a number, megabytes of the blocks",
        "tol": "'tol': expected NAME=VALUE",
    }.items():
        assert message in train("in.npy", "m", *y.split(), "--set", value, code=2).stderr


def test_what_cannot_be_predicted():
    train("in.npy", "m.npz", "--labels", "y.npy")
    np.save("narrow.npy", X[:, :4])
    np.save("short.npy", Y[:80])
    dump_svmlight_file(np.hstack([X, X]), Y, "wide.svm", zero_based=False)
    Path("cut.npz").write_bytes(Path("m.npz").read_bytes()[:-20])
    with np.load("m.npz") as file:
        newer = dict(file)
    header = json.loads(newer["header"].tobytes()) | {"version": 9}
    newer["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez("other.npz", **newer)
    header |= {"version": 5, "estimator": "CodedTree"}
    newer["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez("unknown.npz", **newer)
    damaged = "no kmaps model, or a damaged one (cut off?); train and save it again"
    for arguments, message in {
        "m.npz narrow.npy o.npy": "narrow.npy has 4 columns, m.npz was trained on 6",
        "m.npz wide.svm o.npy": "wide.svm:1: index 7 is beyond 6, the last",
        "cut.npz in.npy o.npy": f"cut.npz: {damaged}",
        "in.npy in.npy o.npy": f"in.npy: {damaged}",
        "other.npz in.npy o.npy": "other.npz: a model of version 9, newer than this kmaps, which "
        "reads version 5; update kmaps, or train the model again",
        "unknown.npz in.npy o.npy": "unknown.npz: a model of 'CodedTree', this kmaps has CodedSVC, "
        "CodedSVR, CodedRidge, RandomFeatureSVC only; use the kmaps that wrote it",
        "m.npz in.npy y.npy": "y.npy: exists already; choose another name, or pass --force",
        "m.npz in.npy m.npz --force": "m.npz: is the input itself; choose another name for OUT",
        "m.npz in.npy - --json": "--json: standard output is for the labels; name a file for OUT",
        "m.npz in.npy o.npy --labels short.npy": "80 labels, but in.npy has 90 rows",
    }.items():
        assert refused("predict", *arguments.split()) == message


@pytest.mark.slow
def test_memory_is_bounded_by_the_codes():
    """376 MB of features, 47 MB of codes: held as floats they would break the limit."""
    n, block = 60_000, RNG.random((1000, 784))
    block[:, 0] = np.arange(1000) % 2 + block[:, 0] / 10
    with open("big.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (n, 784)}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(n // 1000):
            file.write(block.tobytes())
    np.save("labels.npy", np.arange(n) % 2)
    # A child starts with the peak of the process it is forked from: let that be a small one.
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    commands = {
        "train": ["big.npy", "m.npz", "--labels", "labels.npy", "-C", "1e-4", "--json"],
        "predict": ["m.npz", "big.npy", "out.npy"],
    }
    for name, arguments in commands.items():
        command = [sys.executable, "-c", code, KMAPS, name, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert int(done.stdout.split()[-1]) < 400_000  # kB
    assert (np.load("out.npy") == np.load("labels.npy")).all()
