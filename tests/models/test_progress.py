"""Long work shows how far it is: in lines, in bars, and to a function that asks."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from commands import kmaps

from kmaps import (
    AnchorMap,
    CodedSVC,
    ExactMap,
    LandmarkSVC,
    NystroemMap,
    RandomFeatureSVC,
    RandomFourierMap,
    SignCauchyMap,
    showing,
)
from kmaps.cli import progress
from kmaps.models import train_model
from kmaps.progress import ProgressReporter

X = np.random.default_rng(0).random((90, 4)).astype(np.float32)
MAPS = {
    ExactMap(n_levels=16): ["decomposed"],
    AnchorMap(n_anchors=4, anchors="kmeans"): ["clustered", "decomposed"],
    NystroemMap(): ["sampled", "decomposed", "tabulated"],
}


@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_long_loops_over_features_say_how_far_they_are(feature_map, monkeypatch, capsys):
    for name in ("kmaps.mercer._BLOCK_VALUES", "kmaps.maps.nystroem._BLOCK_KNOTS"):
        monkeypatch.setattr(name, 1)  # a feature at a time
    X, seen = np.random.default_rng(0).random((30, 8)), []
    feature_map.fit(X)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("kmaps.progress._UNASKED_INTERVAL_S", 0.0)
    feature_map.fit(X)
    line = r"\[kmaps\] (\d) of 8 features (\w+), about \d:\d\d left\n"
    told = re.findall(line, capsys.readouterr().err)
    assert told == [(f"{k}", what) for what in MAPS[feature_map] for k in range(1, 9)]
    with showing(lambda what, done, total: seen.append((what, 8 * done / total))):
        feature_map.fit(X)
    assert seen == [(f"features {what}", int(k)) for k, what in told]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("feature_map", "told"),
    [
        (SignCauchyMap(24), [f"{n} of 24 projections made" for n in (8, 16, 24)]),
        (
            RandomFourierMap(8, structure="orthogonal"),  # two groups, in two panels each
            [f"{part}% of the frequencies made orthogonal" for part in (12, 50, 62, 100)],
        ),
    ],
    ids=str,
)
def test_long_encoding_says_how_far_it_is(feature_map, told, monkeypatch, capsys):
    for module in ("random", "frequencies"):
        monkeypatch.setattr(f"kmaps.maps.{module}._BLOCK_VALUES", 8)
    monkeypatch.setattr("kmaps.progress._UNASKED_INTERVAL_S", 0.0)
    feature_map.fit_transform(X)
    assert re.findall(r"\[kmaps\] (.*), about \d:\d\d left\n", capsys.readouterr().err) == told


def test_no_time_is_estimated_from_less_than_a_hundredth(monkeypatch, capsys):
    monkeypatch.setattr("kmaps.progress._ASKED_INTERVAL_S", 0.0)
    work = ProgressReporter("model")
    work.report(0.009, "begun")
    work.report(0.01, "going on")
    assert re.fullmatch(r"\[model\] begun\n\[model\] .*, about .* left\n", capsys.readouterr().out)
    bars, make = [], progress._bar
    monkeypatch.setattr(progress, "_bar", lambda: bars.append(make()) or bars[0])
    monkeypatch.setattr(progress, "_PATIENCE_S", -1.0)
    with progress.progress_bar("work") as report:
        for done, known in ((8, False), (9, False), (10, True), (11, True)):
            report(done, 1000)
            assert (bars[0].tasks[0].time_remaining is not None) == known


OF_MAP = ["features sampled", "features decomposed", "features tabulated"]
COMPARED, FIRST, SOLVED = "values of C compared", "the first pass", "problems solved"
FOLDS = "probabilities: trained without a fold"
SHOWN = {
    CodedSVC(multiclass="ovo", tol=0.1): [COMPARED, SOLVED],
    CodedSVC(NystroemMap(), probability="sigmoid"): [*OF_MAP, COMPARED, FOLDS, SOLVED],
    RandomFeatureSVC(n_frequencies=20, sigma="auto"): ["widths compared", COMPARED, FIRST, SOLVED],
    LandmarkSVC(n_landmarks=20, sigma=1.0): [COMPARED, FIRST, SOLVED],
}


@pytest.mark.parametrize("model", SHOWN, ids=str)
def test_every_long_stage_shows_how_far_it_is(model, monkeypatch):
    for name in ("kmaps.mercer._BLOCK_VALUES", "kmaps.maps.nystroem._BLOCK_KNOTS"):
        monkeypatch.setattr(name, 1)
    y, seen = np.arange(90) % 5, {}
    source = SimpleNamespace(blocks=lambda: [X], sample=lambda: X, labels=lambda: y)

    def report(what, done, total):
        seen.setdefault(what, []).append(done / total)

    train_model(model, source, [0.1, 1.0], report=report)
    assert list(seen) == SHOWN[model]
    assert seen[SOLVED] == sorted(seen[SOLVED])
    assert {parts[-1] for parts in seen.values()} == {1}


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        ("train in.npy out.npz --labels y.npy --multiclass ovo", SOLVED),
        ("encode in.npy out.npy --map nystroem", "features decomposed"),
        ("encode in.npy out.npy --map sign-cauchy", "projections made"),
    ],
)
def test_a_terminal_shows_long_work_with_the_time_left(command, stage, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", X)
    np.save("y.npy", np.arange(90) % 3)
    monkeypatch.setattr("kmaps.cli.progress._PATIENCE_S", 0.0)
    monkeypatch.setattr("kmaps.progress._UNASKED_INTERVAL_S", 0.0)
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm"}
    shown = kmaps(*command.split(), env=terminal).stderr
    assert re.search(rf"{stage}(, about 0:00 left| .*100%.*0:00:00)", shown)
    assert stage not in kmaps(*command.split(), "--force", "--quiet", env=terminal).stderr
