"""kmaps train and predict: the library's machine from a file, whatever its size and format."""

import json
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from commands import kmaps, refused
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import r2_score

from kmaps import (
    CodedSVC,
    CodedSVCCV,
    CodedSVR,
    RandomFeatureSVC,
    SplineMap,
    __version__,
    load_model,
)
from kmaps.cli.train import _reason
from kmaps.cli.train_model import refuse_many_numbers
from kmaps.errors import ConfigError
from kmaps.io import LabelledRows, data_digest, open_reader
from kmaps.models import choose_along_path
from kmaps.models.choice import stratified_sample

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 6)).astype(np.float32)
X[X < 0.5] = 0
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
FILES = {"in.npy": X, "y.npy": Y}
OURS = "in.npy", "m.npz", "--labels", "y.npy"


def train(*args, **options):
    return kmaps("train", *args, **options)


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ("--kernel js -C 3", CodedSVC("js", C=3.0)),
        ("--penalty l1 -C 0.3", CodedSVC(C=0.3, penalty="l1")),
        ("--smooth 0.1", CodedSVC(smooth=0.1)),
        ("--kernel js --probability sigmoid", CodedSVC("js", probability="sigmoid")),
        (
            "--kernel exp-js -m 20 --sigma 0.5 --order 2 --probability sigmoid -C 1",
            RandomFeatureSVC("exp-js", 20, order=2, sigma=0.5, probability="sigmoid"),
        ),
        (
            "--multiclass ovo --class-weight balanced",
            CodedSVC(multiclass="ovo", class_weight="balanced"),
        ),
    ],
)
def test_the_model_is_the_librarys(options, model):
    train(*OURS, *options.split())
    loaded, expected = load_model("m.npz"), model.fit(X, Y)
    np.testing.assert_array_equal(loaded.decision_function(X), expected.decision_function(X))
    assert (loaded.C, loaded.probability) == (model.C, model.probability)
    if model.probability:
        np.testing.assert_array_equal(loaded.predict_proba(X), expected.predict_proba(X))


def test_settings_of_the_last_release_are_options():
    renamed = "--set tol=0.01 --set bias=0 --set multiclass=ovo --set memory=1 --set seed=3"
    told = train(*OURS, *renamed.split()).stderr
    assert told.splitlines()[0] == "warning: `--set tol=0.01` is now `--tol 0.01`"
    train(
        "in.npy", "new.npz", *OURS[2:], *renamed.replace("--set ", "--").replace("=", " ").split()
    )
    models = [load_model(name).get_params() for name in ("m.npz", "new.npz")]
    assert str(models[0]) == str(models[1])
    assert models[0]["tol"] == 0.01
    train("in.npy", "p.npz", *OURS[2:], "--set", "probability=true")
    assert load_model("p.npz").probability == "temperature"


def test_a_parameter_of_a_map_that_is_called_like_an_option_of_the_model():
    train(*OURS, "--map", "spline:penalty=2", "--penalty", "l1")
    model = load_model("m.npz")
    expected = CodedSVC(SplineMap(penalty=2), penalty="l1").fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    told = train("in.npy", "old.npz", *OURS[2:], "--map", "spline", "--penalty", 2).stderr
    assert told.splitlines()[0] == "warning: `--penalty 2` is now `--map spline:penalty=2`"
    expected = CodedSVC(SplineMap(penalty=2)).fit(X, Y)
    scores = load_model("old.npz").decision_function(X)
    np.testing.assert_array_equal(scores, expected.decision_function(X))


def test_formats_give_the_same_model_and_labels():
    dump_svmlight_file(X, Y, "in.svm", zero_based=False)
    sp.save_npz("in.npz", sp.csr_matrix(X))
    np.savetxt("in.csv", X, delimiter=",", fmt="%.9g")
    train(*OURS)
    train("in.svm", "svm.m")
    train("in.npz", "npz.m", *OURS[2:])
    train("-", "csv.m", *OURS[2:], "--input-format", "csv", input=Path("in.csv").read_text())
    model = load_model("m.npz")
    for name in ("svm.m", "npz.m", "csv.m"):
        scores = load_model(name).decision_function(X)
        np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-3)
    # Labels of svm files are known.
    result = kmaps("predict", "m.npz", "in.svm", "-")
    assert "accuracy " in result.stderr
    kmaps("predict", "m.npz", "in.npz", "out.txt")
    labels = "".join(f"{label}\n" for label in model.predict(X))
    assert result.stdout == Path("out.txt").read_text() == labels
    dump_svmlight_file(X, np.full(90, -1), "unknown.svm", zero_based=False)
    result = kmaps("predict", "m.npz", "unknown.svm", "out.npy", "--json")
    assert json.loads(result.stdout)["accuracy"] is None


@pytest.mark.parametrize(
    ("rule", "folds", "seed"), [("path", 3, 0), ("auto", 3, 0), ("10,0.001,1", 5, 3)]
)
def test_c_is_chosen_by_cross_validation(rule, folds, seed):
    options = "-C", rule, "--folds", folds, "--seed", seed
    told = json.loads(train(*OURS, *options, "--json").stdout)
    Cs = rule if rule.isalpha() else [10, 0.001, 1]
    expected = CodedSVCCV(C=Cs, cv=folds, random_state=seed).fit(X, Y)
    assert [tried["C"] for tried in told["cv"]] == list(expected.choice_.grid)
    assert [tried["accuracy"] for tried in told["cv"]] == list(expected.choice_.accuracies)
    model = load_model("m.npz")
    assert told["C"] == model.C == expected.C_
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert told["duality_gap"] <= 1e-3
    facts = {"rows": 90, "features": 6, "classes": 3, "folds": folds}
    assert told.items() >= facts.items()
    line = f"C = {told['C']:g}: {100 * max(expected.choice_.accuracies):.2f} % in {folds}-fold "
    assert f"{line}cross-validation, chosen\n" in train(*OURS, *options, "--force").stdout


def test_values_of_c_that_were_not_trained_to_the_end_are_marked():
    """In five passes the first value of the path reaches the gap, and larger ones do not."""
    options = "-C", "path", "--max-iter", "5"
    compared = json.loads(train(*OURS, *options, "--json").stdout)["cv"]
    missed = [tried["C"] for tried in compared if tried.get("missed_tol")]
    assert 0 < len(missed) < len(compared)
    lines = train(*OURS, *options, "--force").stdout.splitlines()
    marked = [line for line in lines if "not trained to the end" in line]
    assert [line.split(":")[0] for line in marked] == [f"C = {C:g}" for C in missed]


def test_rows_are_held_out():
    arguments = "in.npy", "m.npz", "--labels", "y.npy", "--hold-out", "0.2", "-C", "0.1,1"
    told = json.loads(train(*arguments, "--json").stdout)
    held = np.sort(stratified_sample(Y, 18, 0))
    rest = np.setdiff1d(np.arange(90), held)
    assert (told["rows"], told["hold_out"]["rows"]) == (72, 18)
    # The levels are those of all rows, the machine and its C those of the rest.
    rows = CodedSVC().prepare_rows(LabelledRows(open_reader("in.npy"), Y))
    choice = choose_along_path(CodedSVC(), rows.take(rest), Y[rest], [0.1, 1], cv=3, random_state=0)
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


def test_a_model_says_when_by_which_version_and_on_what_it_was_trained(monkeypatch):
    """Apart from the second, files of the same data are the same, in whatever blocks it is read."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    told = json.loads(train(*OURS, "--json").stdout)
    first = Path("m.npz").read_bytes()
    train(*OURS, "--memory", "1", "--force")
    assert Path("m.npz").read_bytes() == first
    info = json.loads(kmaps("info", "m.npz", "--json").stdout)
    assert info["written"] == {"time": "2023-11-14T22:13:20+00:00", "kmaps": __version__}
    assert info["record"]["data_sha256"] == told["data_sha256"] == data_digest(X, Y)
    text = kmaps("info", "m.npz").stdout
    assert f"2023-11-14T22:13:20+00:00 by kmaps {__version__}\n" in text
    assert f"  {told['data_sha256']}\n" in text
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    for change, y in ((0, Y[::-1]), (1e-6, Y)):
        np.save("in.npy", X + np.float32(change))
        np.save("y.npy", y)
        assert (
            json.loads(train(*OURS, "--json", "--force").stdout)["data_sha256"]
            != told["data_sha256"]
        )
    written = json.loads(kmaps("info", "m.npz", "--json").stdout)["written"]["time"]
    assert abs(datetime.fromisoformat(written) - datetime.now(UTC)) < timedelta(minutes=5)


def test_what_cannot_be_trained_on():
    np.save("short.npy", Y[:80])
    np.save("one.npy", np.zeros(90, int))
    np.save("rare.npy", np.r_[Y[:89], -1])
    bad = X.copy()
    bad[-1, 2] = np.nan
    np.save("bad.npy", bad)
    Path("old.npz").write_text("old")
    y = "--labels y.npy"
    for arguments, message in {
        "in.npy m.npz": "in.npy: holds no labels; name a file with --labels, or the column",
        "in.npy m.npz --labels short.npy": "80 labels, but in.npy has 90 rows",
        "in.npy m.npz --labels one.npy": "y has one class only (0): a classifier needs at least",
        "in.npy m.npz --labels rare.npy --hold-out=0.5": "--hold-out 0.5: class -1 has no row",
        "in.npy m.npz --labels no.npy": "no.npy: no such file",
        f"bad.npy m.npz {y}": "bad.npy: X[89, 2] is nan, expected a finite number",
        f"in.npy old.npz {y}": "old.npz: exists already; choose another name, or pass --force",
        f"in.npy in.npy {y} --force": "in.npy: is the input too; choose another name for OUT",
        f"in.npy m.npz {y} --kernel chi": "unknown kernel 'chi', did you mean 'chi2'? (additive",
        f"in.npy m.npz {y} --kernel linear": "--kernel linear: ",
        f"in.npy m.npz {y} --map spline --kernel js": "--kernel js: the spline map has no kernel;",
        f"in.npy m.npz {y} --map sign-cauchy": "--map sign-cauchy: has no tables, but training",
        f"in.npy m.npz {y} --kernel exp-js --smooth 0.1": "--smooth: is not for gen",
        f"in.npy m.npz {y} --loss hing": "--loss hing: expected '",
    }.items():
        assert refused("train", *arguments.split()).startswith(message)
    assert Path("old.npz").read_text() == "old"
    for options, message in {
        "-C0": "positive",
        "-C-1,1": "positive",
        "-Ca": "numbers",
        "--n-levels 257": "--n-levels 257: expected a whole number from 2 to 256",
        "--smooth -1": "-1.0 is not in the range",
        "--set toll=1": "toll: no such parameter, did you mean 'tol'?",
        "--set memory=little": "'little' is not a valid float",
        "--penalty 3": "--penalty 3: expected l1 or l2",
        "--kernel rbf --sigma wide": "expected a number, 'auto' or 'none'",
        "--set tol": "'tol': expected NAME=VALUE",
    }.items():
        assert message in train(*OURS, *options.split(), code=2).stderr


NUMBERS = X.sum(axis=1) + RNG.normal(0, 0.1, 90)


def test_a_regression_is_the_librarys():
    np.save("n.npy", NUMBERS)
    options = ["--labels", "n.npy", "--regression"]
    told = train("in.npy", "m.npz", *options, "-C", 3, "--epsilon", 0.05, "--kernel", "js").stdout
    assert "90 rows of 6 features, a regression" in told
    expected = CodedSVR("js", C=3.0, epsilon=0.05).fit(X, NUMBERS)
    np.testing.assert_array_equal(load_model("m.npz").predict(X), expected.predict(X))
    # Without -C the rule finds it: by R², on rows left out.
    facts = json.loads(
        train("in.npy", "c.npz", *options, "--hold-out", 0.2, "--json", "--quiet").stdout
    )
    scores = {tried["C"]: tried["r2"] for tried in facts["cv"]}
    assert scores[facts["C"]] > max(scores.values()) - 0.05
    assert len(scores) > 4
    assert facts["hold_out"]["rows"] == 18
    assert facts["hold_out"]["r2"] > 0.8
    order = np.random.default_rng(0).permutation(90)
    held, rest = np.sort(order[:18]), np.sort(order[18:])
    model = load_model("c.npz")
    again = CodedSVR(C=facts["C"]).fit(X[rest], NUMBERS[rest])
    np.testing.assert_allclose(model.predict(X), again.predict(X), atol=0.02)
    score = r2_score(NUMBERS[held], model.predict(X[held]))
    assert facts["hold_out"]["r2"] == pytest.approx(score)
    for wrong in ("--multiclass ovo", "--kernel exp-chi2", "--loss hinge", "--penalty l1"):
        refused("train", "in.npy", "no.npz", *options, *wrong.split())
    refused("train", *OURS, "--epsilon", 1)


def test_a_model_is_not_written_under_the_name_of_another_format():
    for name in ("m.pkl", "m.joblib", "m.onnx"):
        assert ".npz" in refused("train", "in.npy", name, *OURS[2:])


def test_many_numbers_are_classes_only_when_it_is_said():
    np.save("n.npy", NUMBERS)
    message = refused("train", "in.npy", "m.npz", "--labels", "n.npy")
    assert "90 different numbers in 90 rows" in message
    assert "--regression" in message
    assert "--no-regression" in message
    np.save("ids.npy", np.arange(90) // 2)
    train("in.npy", "m.npz", "--labels", "ids.npy")
    np.save("ids.npy", np.arange(90))
    train("in.npy", "m.npz", "--labels", "ids.npy", "--no-regression", "--force")
    assert len(load_model("m.npz").classes_) == 90


def test_c_of_an_exponential_kernel_is_chosen_unless_it_is_named():
    options = ["--kernel", "exp-chi2", "-m", 20]
    told = train(*OURS, *options)
    assert "-C auto" in told.stderr
    train("in.npy", "auto.npz", *OURS[2:], *options, "-C", "auto")
    models = [load_model(name) for name in ("m.npz", "auto.npz")]
    assert models[0].C == models[1].C
    np.testing.assert_array_equal(*(model.decision_function(X) for model in models))
    train("in.npy", "one.npz", *OURS[2:], *options, "-C", 1)
    assert load_model("one.npz").C == 1
    train("in.npy", "chi2.npz", *OURS[2:])
    assert load_model("chi2.npz").C == 1


def test_a_sample_is_compared_with_all_rows_on_the_rows_held_out():
    facts = json.loads(train(*OURS, "--sample", "30", "--json").stdout)
    sample = facts["sample"]
    assert (sample["rows"], facts["rows"], facts["hold_out"]["rows"]) == (30, 72, 18)
    both = sample["right_of_all_alone"] - sample["right_of_sample_alone"]
    difference = facts["hold_out"]["accuracy"] - sample["accuracy"]
    assert both == pytest.approx(18 * difference)
    text = train(*OURS, "--sample", "30", "--hold-out", "0.5", "--force").stdout
    assert "30 rows in" in text
    assert "95 % interval" in text
    assert "--regression" in refused("train", *OURS, "--sample", "9", "--regression", "--force")


def test_rows_are_normalised_as_the_model_file_says(tmp_path):
    for name in ("l1", "max", "min-max"):
        train(*OURS, "--normalize", name, "--force")
        model = load_model("m.npz")
        assert model.normalization_.name == name
        expected = CodedSVC().fit(model.normalization_.of(X), Y)
        scores = expected.decision_function(model.normalization_.of(X))
        assert (model.decision_function(X) == scores).all()
        done = json.loads(
            kmaps("evaluate", "m.npz", "in.npy", "--labels", "y.npy", "--json").stdout
        )
        assert done["accuracy"] == np.mean(expected.classes_[scores.argmax(axis=1)] == Y)


def test_drift_is_counted_column_by_column_over_all_blocks():
    train(*OURS)
    others = X.copy()
    others[::3, 2] = 100
    others[0, 4] = -1
    np.save("others.npy", others)
    for command in (["predict", "m.npz", "others.npy", "-"], ["evaluate", "m.npz", "others.npy"]):
        arguments = [*command, "--labels", "y.npy", "--memory", "1"]
        kmaps(*arguments)  # loops may compile, and say so
        done = kmaps(*arguments)
        assert "31 of 540 values" in done.stderr
        assert done.stderr.count("values lie outside") == 1
        assert "column 2 33.3 %" in done.stderr
        assert kmaps(*arguments, "--max-drift", "0.4").stderr == done.stderr
        assert "column 2" in kmaps(*arguments, "--max-drift", "0.3", code=1).stderr
    assert "drift" in json.loads(kmaps(*arguments, "--json").stdout)
    model = load_model("m.npz")
    model.save("bare.npz")
    assert "--max-drift" in refused("predict", "bare.npz", "in.npy", "-", "--max-drift", "0.1")


def test_drift_inside_the_ranges_is_unseen_levels_and_distances_of_histograms():
    """Over all blocks at once; a file without histograms counts what lies outside alone."""
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 17, (900, 5)).astype(np.float32)
    np.save("whole.npy", whole)
    np.save("kinds.npy", (whole.sum(axis=1) > 40).astype(np.uint8))
    train("whole.npy", "m.npz", "--labels", "kinds.npy", "--force")
    others = rng.integers(0, 17, (600, 5)).astype(np.float32)
    np.save("same.npy", others)
    others[:, 1] = others[:, 1] // 4
    others[::2, 3] += 0.5
    others[:, 3] = others[:, 3].clip(0, 16)
    np.save("moved.npy", others)
    np.save("of.npy", (others.sum(axis=1) > 40).astype(np.uint8))
    labels = ["--labels", "of.npy"]
    for command in (["predict", "m.npz", "moved.npy", "-"], ["evaluate", "m.npz", "moved.npy"]):
        said = kmaps(*command, *labels, "--memory", "1").stderr
        assert "outside" not in said
        [unseen] = [line for line in said.splitlines() if "levels that training did not" in line]
        [moved] = [line for line in said.splitlines() if "histograms differ" in line]
        assert "column 3 47" in unseen
        assert "column 1" not in unseen
        assert "column 1 6" in moved
        kmaps(*command, *labels, "--max-drift", "0.8")
        assert "column 3" in kmaps(*command, *labels, "--max-drift", "0.4", code=1).stderr
    assert kmaps("predict", "m.npz", "same.npy", "-", "--max-drift", "0.1").stderr == ""
    arguments = ["predict", "m.npz", "moved.npy", "out.csv", "--json"]
    drift = json.loads(kmaps(*arguments).stdout)["drift"]
    assert [len(drift[name]) for name in ("shares", "unseen_shares", "distances")] == [5, 5, 5]
    with np.load("m.npz") as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    del header["record"]["column_histograms"]
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez("old.npz", **arrays)
    old = json.loads(kmaps("predict", "old.npz", *arguments[2:], "--force").stdout)["drift"]
    assert (old["values_outside"], old["unseen_shares"], old["distances"]) == (0, None, None)


def test_a_chosen_c_says_why_where_a_higher_accuracy_stands_below_it():
    compared = [{"C": C, "accuracy": accuracy} for C, accuracy in ((0.1, 0.9), (1.0, 0.91))]
    facts = {"cv": compared, "C": 0.1}
    assert "C = 1 gains" in _reason(facts, compared[0])
    assert _reason(facts | {"C": 1.0}, compared[1]) == ""


@pytest.mark.parametrize(
    ("y", "many"),
    [
        (np.arange(40) % 39 * 2 + 1.0, False),  # odd whole numbers are no fractions
        (np.arange(40) / 2, True),
        (np.arange(60), True),
        (np.arange(6000) % 60, False),  # a hundred rows of each
        (np.arange(300) % 30, False),
        (np.arange(60).astype(str), True),  # as the labels of a csv file are
        (np.char.add("a", np.arange(60).astype(str)), False),
    ],
)
def test_many_different_numbers_are_asked_about(y, many):
    with pytest.raises(ConfigError, match="--no-regression") if many else nullcontext():
        refuse_many_numbers(y)


def test_numbers_of_a_table_that_are_text_as_classes_are_numbers_too():
    lines = [f"{i % 7},{i}.0" for i in range(200)]
    Path("table.csv").write_text("\n".join(["a,target", *lines]) + "\n")
    message = refused("train", "table.csv", "m.npz", "--label-column", "target")
    train("table.csv", "r.npz", "--label-column", "target", "--regression", "-C", "1")
    assert "--regression" in message
    assert "CodedSVR" in message
