"""``kmaps warmup``, and that compiling is said once and is no part of a time."""

import json
from contextlib import contextmanager
from pkgutil import resolve_name

import numpy as np
import pytest
from commands import kmaps
from numba import njit

from kmaps.cli.compiling import Compiled, watched
from kmaps.svm import CodedSVC


def fresh_loop():
    """Return a function that is compiled when it is called."""

    @njit
    def inner(x):
        return x + 1

    return njit(lambda x: inner(x) * 2)


def test_what_compiles_is_counted_and_told_once():
    begun = []
    loop = fresh_loop()
    with watched(lambda: begun.append(1)) as compiled:
        loop(1)
        first = compiled.loops, compiled.seconds
        loop(2)
        assert (compiled.loops, compiled.seconds) == first
        loop(1.5)
    assert begun == [1]
    assert (first[0], compiled.loops) == (2, 4)  # each with the one that it calls
    assert 0 < first[1] < compiled.seconds
    loop(1j)
    assert compiled.loops == 4


def test_a_loop_inside_another_takes_no_time_of_its_own(monkeypatch):
    ticks = iter(range(100))
    monkeypatch.setattr("kmaps.cli.compiling.perf_counter", lambda: next(ticks))
    with watched() as compiled:
        fresh_loop()(1)
    assert (compiled.loops, compiled.seconds) == (2, 1)


@pytest.fixture
def folder(_in_a_folder):
    np.save("x.npy", np.random.default_rng(0).random((40, 3), np.float32))
    np.save("y.npy", np.arange(40) % 2)


TRAIN = ["train", "x.npy", "m.npz", "--labels", "y.npy", "--json"]


def test_compiling_is_said_and_quiet_says_nothing(folder, monkeypatch):
    def fit(self, *given, **options):
        fresh_loop()(1)
        return real_fit(self, *given, **options)

    real_fit = CodedSVC.fit
    monkeypatch.setattr(CodedSVC, "fit", fit)
    assert kmaps(*TRAIN).stderr == "compiling the loops, once (see `kmaps warmup`)\n"
    assert kmaps(*TRAIN, "--quiet", "--force").stderr == ""


@pytest.mark.parametrize(
    ("where", "arguments"),
    [
        ("kmaps.bench.work.errors.approximate", ["error", "--range", "0:3", "--integers"]),
        ("kmaps.features.Extractor.fill_cache", ["features", "digits", "--features", "intensity"]),
        ("kmaps.models.explanation", ["explain", "m.npz"]),
    ],
)
def test_commands_without_models_of_their_own_say_it_too(folder, monkeypatch, where, arguments):
    CodedSVC().fit(np.load("x.npy"), np.load("y.npy")).save("m.npz")
    monkeypatch.setenv("KMAPS_DATA_DIR", "cache")
    package, _, name = where.rpartition(".")
    owner = resolve_name(package)
    real = getattr(owner, name)

    def compiles(*given, **options):
        fresh_loop()(1)
        return real(*given, **options)

    monkeypatch.setattr(owner, name, compiles)
    assert "compiling the loops, once (see `kmaps warmup`)\n" in kmaps(*arguments).stderr


def test_compiling_is_not_counted_as_predicting(folder, monkeypatch):
    CodedSVC().fit(np.load("x.npy"), np.load("y.npy")).save("m.npz")

    @contextmanager
    def watched(begun=None, **_):
        yield Compiled(1, 1000.0)

    monkeypatch.setattr("kmaps.cli.compiling.watched", watched)
    told = json.loads(kmaps("predict", "m.npz", "x.npy", "p.npy", "--json").stdout)
    assert told["predict_s"] < -900


def test_compiling_is_not_counted_as_training(folder, monkeypatch):
    compiled = Compiled()

    @contextmanager
    def compiling(quiet):
        yield compiled

    def fit(self, *given, **options):
        compiled.seconds += 1000
        return real_fit(self, *given, **options)

    real_fit = CodedSVC.fit
    monkeypatch.setattr("kmaps.cli.train.compiling", compiling)
    monkeypatch.setattr(CodedSVC, "fit", fit)
    assert json.loads(kmaps(*TRAIN).stdout)["train_s"] < -900


def test_warmup_leaves_nothing_to_compile(monkeypatch):
    steps = []
    monkeypatch.setattr("kmaps.models.ahead._steps", lambda: [lambda: steps.append(loop(1))])
    loop = fresh_loop()
    assert kmaps("warmup").stderr.startswith("compiled 2 loops in ")
    assert kmaps("warmup").stderr == "nothing to do: all loops are compiled\n"
    assert kmaps("warmup", "--quiet").output == ""
    assert steps == [4, 4, 4]


@pytest.mark.slow
def test_all_steps_of_warmup_run():
    kmaps("warmup", "--quiet")
    assert kmaps("warmup").stderr == "nothing to do: all loops are compiled\n"
