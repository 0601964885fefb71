"""kmaps recommend: models measured on a sample, and the commands and the Python that make them.

The cells are measured in this process; that they have processes of their own is tested with the
runner.
"""

import gc
import json
import shlex
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from commands import kmaps, refused
from sklearn.datasets import load_digits

from kmaps import load_model
from kmaps.bench import recommend as recommending
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import load
from kmaps.bench.recommend import options_of, python_of
from kmaps.bench.records.file import read_records
from kmaps.bench.records.row import Row
from kmaps.bench.run import runner
from kmaps.bench.run.processes import Finished
from kmaps.bench.work import classify, third_party

DIGITS = load_digits()
FEW = DIGITS.target < 3
X, Y = DIGITS.data[FEW][:90], DIGITS.target[FEW][:90]
WORDS = np.array(["nought", "one", "two"])[Y]
GIVEN = ("digits.csv", "--label-column", "digit")


def here(function, batches, jobs, preloaded=()):
    """Measure cells as the runner's processes do, in this one."""
    gc.freeze()  # as they do: every measurement of memory collects
    for batch in batches:
        for key, result in function(batch):
            yield Finished(key, result, datetime.now(UTC), 0.0)


def few_models(patch):
    """Leave out what only takes time: processes, half the kernels, many landmarks."""
    patch.setattr(runner, "run_batches", here)
    patch.setattr(recommending, "KERNELS", ("chi2", "js"))
    models, fewer = recommending._MODELS[1:], {"n_landmarks": 10, "n_frequencies": 20}
    for params in (entry["params"] for entry in models):
        for name in fewer.keys() & params:
            patch.setitem(params, name, fewer[name])
    patch.setattr(recommending, "_MODELS", models)


def recommend(*args, **options):
    return kmaps("recommend", *args, **options)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A folder with a table of digits, and all models measured on it."""
    folder = tmp_path_factory.mktemp("recommend")
    header = ",".join([*(f"p{i}" for i in range(64)), "digit"])
    lines = [f"{','.join(map(str, row))},{word}" for row, word in zip(X, WORDS, strict=True)]
    (folder / "digits.csv").write_text("\n".join([header, *lines]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        few_models(patch)
        done = recommend(*GIVEN, "--json", "--out", "tried", "--plot", "front.svg")
    (folder / "told.json").write_text(done.stdout)
    (folder / "progress.txt").write_text(done.stderr)
    return folder


@pytest.fixture
def tried(digits, monkeypatch):
    """That folder as the current one, with its models as the grid."""
    monkeypatch.chdir(digits)
    few_models(monkeypatch)
    return digits


def test_what_is_told(tried):
    told = json.loads(Path("told.json").read_text())
    records = {record["key"]: record for record in read_records("tried")}
    assert (told["rows"], told["features"], told["classes"]) == (90, 64, 3)
    assert (told["train_rows"], told["held_out_rows"], told["sample_rows"]) == (63, 27, 90)
    assert told["measured"] == told["within_limits"] == len(records) == 18
    assert told["failed"] == {}
    shown = told["recommended"]
    assert (
        max(model["accuracy"] for model in shown)
        == max(record["accuracy"] for record in records.values())
        > 0.9
    )
    smallest = min(record["storage_bytes"] for record in records.values())
    assert smallest in [model["storage_bytes"] for model in shown]
    for model in shown:
        low, high = model["interval"]
        assert 0 < low < model["accuracy"] <= high <= 1
        assert 0 < model["model_bytes"] < model["storage_bytes"]
    assert "18/18  split 0 ovo" in Path("progress.txt").read_text()
    drawn = Path("front.svg").read_text()
    assert "training (fit, encode, convert, train), s" in drawn
    assert all(f">{model['name']}<" in drawn for model in shown)
    named = {*told["named"].values()}  # may be beaten by others, and come last
    standings = [model["standing"] for n, model in enumerate(shown, 1) if n not in named]
    assert standings == sorted(standings, reverse=True)


@pytest.mark.parametrize(
    "label",
    [
        *("exact-coded", "intersection", "homogeneous", "spline", "kmaps.KernelSVC"),
        *("kmaps.LandmarkSVC kernel=exp", "kmaps.LandmarkSVC kernel=rbf"),
        "kmaps.RandomFeatureSVC",
    ],
)
@pytest.mark.parametrize("reduction", ["ovr", "ovo"])
def test_the_command_and_the_python_give_the_model_that_was_measured(tried, label, reduction):
    records = [r for r in read_records("tried") if r["reduction"] == reduction]
    record = next(record for record in records if Row.of(record).label.startswith(label))
    kind = KINDS["classification"]
    split = kind.set_up(kind.cells(load("tried/experiment.yaml"))[0])
    np.savez("part.npz", X=split.x_train, y=split.y_train)
    names = {"X": split.x_train, "y": split.y_train}
    exec(python_of(record), names)
    predicted = names["model"].predict(split.x_test)
    if options := options_of(record):
        kmaps("train", "part.npz", "part-model.npz", *options, "--force", "--quiet")
        assert (load_model("part-model.npz").predict(split.x_test) == predicted).all()
    assert bool(options) is (label != "kmaps.KernelSVC")
    assert np.mean(predicted == split.y_test) == record["accuracy"]


def test_what_users_want_is_named(tried):
    told = json.loads(Path("told.json").read_text())
    models = dict(enumerate(told["recommended"], 1))
    standings = {number: model["standing"] for number, model in models.items()}
    most = models[told["named"]["as accurate as possible"]]
    assert most["standing"] == max(standings.values())
    quick = [n for n, model in models.items() if model["us_per_row"] <= 10]
    fast = told["named"]["within 10 µs per row"]
    assert standings.get(fast) == max((standings[n] for n in quick), default=None)
    exact = models[told["named"]["exact"]]
    assert exact["method"] in ("exact-coded", "kmaps.KernelSVC")
    records = [r for r in read_records("tried") if r["method"] == exact["method"]]
    assert exact["accuracy"] >= max(record["accuracy"] for record in records) - 0.1
    shown = recommend(*GIVEN, "--out", "tried").stdout
    for wanted, number in told["named"].items():
        assert f"\n{wanted}: {number or 'none'}\n" in shown


def test_a_command_runs_as_it_is_printed(tried):
    told = json.loads(Path("told.json").read_text())["recommended"]
    first = next(model for model in told if model["command"])
    words = shlex.split(first["command"])
    assert [*words[:3], words[4]] == ["kmaps", "train", "digits.csv", "--label-column"]
    kmaps(*words[1:], "--quiet")
    model = load_model(words[3])
    assert model.score(X, WORDS) > 0.9
    assert first["C"] == model.C


def test_the_same_command_measures_nothing_again(tried):
    before = Path("tried/records.jsonl").read_bytes()
    done = recommend(*GIVEN, "--out", "tried")
    assert Path("tried/records.jsonl").read_bytes() == before
    assert done.stdout.startswith(
        "90 rows of 64 features, 3 classes; of 90 63 trained on, 27 held out\n"
        "18 models measured, 18 within the limits; no other model beats these, except named ones:\n"
        "\n"
        "   accuracy, %    95 % interval  train, s"
    )
    told = json.loads(Path("told.json").read_text())["recommended"]
    for number, model in enumerate(told, 1):
        name = "; ".join([model["name"], *model["warned"]])
        command = f"    {model['command']}\n" if model["command"] else ""
        assert f"\n{number}  {name}\n{command}    from kmaps import" in done.stdout
        assert model["python"].replace("\n", "\n    ") in done.stdout


def test_limits_leave_out_what_does_not_keep_them(tried):
    records = read_records("tried")
    median = int(np.median([record["storage_bytes"] for record in records]))
    told = json.loads(recommend(*GIVEN, "--json", "--max-bytes", median, "--out", "tried").stdout)
    assert 0 < told["within_limits"] < 18
    assert all(model["storage_bytes"] <= median for model in told["recommended"])
    told = recommend(*GIVEN, "--max-bytes", 2000, "--out", "tried", code=5).stderr
    assert "none of 18 models is within --max-bytes 2000; the smallest stores " in told
    us = sorted(1e6 * record["predict_s"] / record["n_test"] for record in records)[5]
    told = json.loads(recommend(*GIVEN, "--json", "--max-us", us, "--out", "tried").stdout)
    assert told["within_limits"] == 6
    assert all(model["us_per_row"] <= us for model in told["recommended"])
    done = recommend(*GIVEN, "--max-us", "1e-6", "--out", "tried", "--quiet", code=5)
    assert done.stderr.startswith("error: none of 18 models is within --max-us 1e-06; ")
    told = json.loads(recommend(*GIVEN, "--json", "--exact-only", "--out", "tried").stdout)
    assert {m["method"] for m in told["recommended"]} <= {"exact-coded", "kmaps.KernelSVC"}
    assert told["measured"] == 6


def test_a_model_that_fails_is_told_and_the_others_go_on(tried, monkeypatch):
    def refusing(model, *given, **options):
        if model.kernel == "js":
            raise ValueError("no js today")
        return made(model, *given, **options)

    made = classify._coded
    monkeypatch.setattr(classify, "_coded", refusing)
    done = recommend(*GIVEN, "--json", "--exact-only", "--rows", "60")
    told = json.loads(done.stdout)
    assert told["failed"] == {
        "split 0 ovr js exact-coded": "ValueError: no js today",
        "split 0 ovo js exact-coded": "ValueError: no js today",
    }
    assert told["measured"] == 4
    assert "\nwarning: 2 of 6 models failed: split 0 ovr js exact-coded (ValueError" in done.stderr
    assert "js" not in {model["kernel"] for model in told["recommended"]}
    monkeypatch.setattr(classify, "_coded", None)
    monkeypatch.setattr(third_party, "make", None)
    done = recommend(*GIVEN, "--exact-only", "--rows", "60", "-q", code=3)
    assert done.stderr.startswith("error: all 6 models failed; first error: TypeError: ")


def test_of_a_sample_it_is_said_where_C_is_from(tried):
    done = recommend(*GIVEN, "--exact-only", "--rows", "60", "-q")
    assert done.stdout.startswith("90 rows of 64 features, 3 classes; of 60 42 trained on, 18 held")
    assert done.stdout.endswith(
        "C was chosen on the sample; -C auto chooses it again, on all rows.\n"
    )


def test_standard_input_and_labels_of_their_own(tried, monkeypatch, tmp_path):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))
    np.save("y.npy", Y)
    content = "".join(",".join(map(str, row)) + "\n" for row in X).encode()
    given = ["-", "--input-format", "csv", "--labels", "y.npy", "--exact-only", "--rows", "60"]
    done = recommend(*given, "--json", "-q", input=content)
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert (told["rows"], told["sample_rows"]) == (90, 60)
    for model in (model for model in told["recommended"] if model["command"]):
        given = " - model-", " --labels y.npy", " --input-format csv"
        assert all(part in model["command"] for part in given)
    assert not (tmp_path / "cache").exists()  # nothing of the sample stays


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere.csv"], "nowhere.csv: no such file"),
        (["digits.csv", "--label-column", "nothing"], "digits.csv: its header has no column 'noth"),
        ([*GIVEN, "--plot", "front.jpg"], "front.jpg: the name of a figure ends in .png"),
        ([*GIVEN, "--plot", "front.svg"], "front.svg: exists already"),
        (["-"], "-: name the format of standard input with --input-format"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tried, args, message):
    assert message in refused("recommend", *args)
