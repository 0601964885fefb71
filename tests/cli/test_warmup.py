"""``kmaps warmup``, and that compiling is said once and is no part of a time."""

import json
from contextlib import contextmanager
from pkgutil import resolve_name

import numpy as np
import pytest
from click.testing import CliRunner
from numba import njit

from kmaps.cli.compiling import Compiled, watched
from kmaps.cli.main import cli
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
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).random((40, 3), np.float32))
    np.save("y.npy", np.arange(40) % 2)


TRAIN = ["train", "x.npy", "m.npz", "--labels", "y.npy", "--json"]


def test_compiling_is_said_and_quiet_says_nothing(folder, monkeypatch):
    def fit(self, *given, **options):
        fresh_loop()(1)
        return real_fit(self, *given, **options)

    real_fit = CodedSVC.fit
    monkeypatch.setattr(CodedSVC, "fit", fit)
    done = CliRunner().invoke(cli, TRAIN)
    assert (done.exit_code, done.stderr) == (0, "compiling, once (`kmaps warmup` does it ahead)\n")
    assert CliRunner().invoke(cli, [*TRAIN, "--quiet", "--force"]).stderr == ""


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
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.stderr
    assert "compiling, once (`kmaps warmup` does it ahead)\n" in done.stderr


def test_compiling_is_not_counted_as_predicting(folder, monkeypatch):
    CodedSVC().fit(np.load("x.npy"), np.load("y.npy")).save("m.npz")

    @contextmanager
    def watched(begun=None):
        yield Compiled(1, 1000.0)

    monkeypatch.setattr("kmaps.cli.compiling.watched", watched)
    told = CliRunner().invoke(cli, ["predict", "m.npz", "x.npy", "p.npy", "--json"]).stdout
    assert json.loads(told)["predict_s"] < -900


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
    found = json.loads(CliRunner().invoke(cli, TRAIN).stdout)
    assert found["train_s"] < -900


def test_warmup_leaves_nothing_to_compile(monkeypatch):
    steps = []
    monkeypatch.setattr("kmaps.models.ahead._steps", lambda: [lambda: steps.append(loop(1))])
    loop = fresh_loop()
    first = CliRunner().invoke(cli, ["warmup"])
    assert first.exit_code == 0
    assert first.stderr.startswith("compiled 2 loops in ")
    assert CliRunner().invoke(cli, ["warmup"]).stderr == "nothing to do: all of it is compiled\n"
    assert CliRunner().invoke(cli, ["warmup", "--quiet"]).output == ""
    assert steps == [4, 4, 4]


@pytest.mark.slow
def test_all_steps_of_warmup_run():
    assert CliRunner().invoke(cli, ["warmup", "--quiet"]).exit_code == 0
    assert CliRunner().invoke(cli, ["warmup"]).stderr == "nothing to do: all of it is compiled\n"
