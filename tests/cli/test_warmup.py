"""``kmaps warmup``, and that compiling is said once and is no part of a time."""

import numpy as np
import pytest
from commands import kmaps
from numba import njit

from kmaps.cli.compiling import compile_counter
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
    with compile_counter(lambda: begun.append(1)) as compiled:
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
