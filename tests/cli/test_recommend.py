"""kmaps recommend: models measured on a sample, and the commands and the Python that make them.

The cells are measured in this process; that they have processes of their own is tested with the
runner.
"""

import json
import shlex
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cell_workers import in_this_process
from commands import kmaps, refused
from sklearn.datasets import load_digits

from kmaps import load_model
from kmaps.bench import recommend as recommending
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import load
from kmaps.bench.recommend import Limits, options_of, python_of
from kmaps.bench.records.file import read_records
from kmaps.bench.records.row import Row
from kmaps.bench.run import runner
from kmaps.errors import CellsFailed, FileNote

DIGITS = load_digits()
FEW = DIGITS.target < 3
X, Y = DIGITS.data[FEW][:90, 16:48], DIGITS.target[FEW][:90]
WORDS = np.array(["nought", "one", "two"])[Y]
GIVEN = ("digits.csv", "--label-column", "digit")


def few_models(patch):
    """Leave out what only takes time: processes, most kernels, many landmarks."""
    patch.setattr(runner, "run_batches", in_this_process)
    patch.setattr(recommending, "KERNELS", ("chi2",))
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
    header = ",".join([*(f"p{i}" for i in range(32)), "digit"])
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
    assert (told["rows"], told["features"], told["classes"]) == (90, 32, 3)
    assert (told["train_rows"], told["held_out_rows"], told["sample_rows"]) == (63, 27, 90)
    assert told["measured"] == told["within_limits"] == len(records) - 3 == 19
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
    assert "22/22  split 0 ovo" in Path("progress.txt").read_text()
    drawn = Path("front.svg").read_text()
    assert "training (fit, encode, convert, train), s" in drawn
    assert all(f">{model['name']}<" in drawn for model in shown)
    named = {*told["named"].values()}  # may be beaten by others, and come last
    assert {"BoostedTrees", "StandardizedLinearSVC", "StandardizedSVC"} == {
        model["method"].rpartition(".")[2] for model in shown if ".rivals." in model["method"]
    }
    assert "points against the best model of kmaps" in told["comparison"]
    standings = [
        model["standing"]
        for n, model in enumerate(shown, 1)
        if n not in named and ".rivals." not in model["method"]
    ]
    assert standings == sorted(standings, reverse=True)


@pytest.mark.parametrize(
    "label",
    [
        "exact-coded",
        "intersection",
        "homogeneous",
        "spline",
        "kmaps.KernelSVC",
        "kmaps.LandmarkSVC kernel=exp",
        "kmaps.LandmarkSVC kernel=rbf",
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


@pytest.mark.parametrize("name", ["StandardizedLinearSVC", "StandardizedSVC", "BoostedTrees"])
def test_the_python_of_scikit_learns_models_gives_what_was_measured(tried, name):
    records = read_records("tried")
    record = next(record for record in records if record["method"].endswith(f".{name}"))
    kind = KINDS["classification"]
    split = kind.set_up(kind.cells(load("tried/experiment.yaml"))[0])
    names = {"X": split.x_train, "y": split.y_train}
    exec(python_of(record), names)
    accuracy = np.mean(names["model"].predict(split.x_test) == split.y_test)
    assert accuracy == pytest.approx(record["accuracy"], abs=0.04)  # one row, by digits printed
    assert options_of(record) == []


def test_a_command_runs_as_it_is_printed(tried):
    told = json.loads(Path("told.json").read_text())["recommended"]
    first = next(model for model in told if model["command"])
    words = shlex.split(first["command"])
    assert [*words[:3], words[4]] == ["kmaps", "train", "digits.csv", "--label-column"]
    kmaps(*words[1:], "--quiet")
    model = load_model(words[3])
    assert model.score(X, WORDS) > 0.9
    assert first["C"] == model.C


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


def test_the_sample_is_not_spoken_of_again(monkeypatch, tmp_path):
    def run(*args, **options):
        warnings.warn("sample.npz: column 1 counts the rows", FileNote, stacklevel=1)
        return SimpleNamespace(records=[{"status": "failed", "error": "no memory"}])

    monkeypatch.setattr(recommending, "run", run)
    np.savez(tmp_path / "sample.npz", X=X, y=Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FileNote)
        with pytest.raises(CellsFailed):
            recommending.recommend(tmp_path, 3, hold_out=0.3, limits=Limits(1, 1))
