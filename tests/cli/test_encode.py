"""kmaps encode: the map's own numbers, whatever the format; mistakes in one line; nothing half."""

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Literal

import commands
import numpy as np
import psutil
import pytest
from commands import TERMINAL, kmaps
from sklearn.datasets import load_svmlight_file

from kmaps import HomogeneousMap
from kmaps.maps import MAPS, FeatureMap

KMAPS = Path(sys.executable).parent / "kmaps"
RNG = np.random.default_rng(0)
X = RNG.random((40, 6)).astype(np.float32)
X[X < 0.4] = 0
FILES = {"in.npy": X}
encode = partial(kmaps, "encode")
refused = partial(commands.refused, "encode")


@pytest.mark.parametrize("kernel", ["chi2", "js"])
@pytest.mark.parametrize("target", ["out.npy", "out.npz", "out.csv", "out.svm"])
def test_the_file_holds_what_the_map_gives(kernel, target):
    result = encode("in.npy", target, "--kernel", kernel, "--order", 2, "--window", "uniform")
    assert result.stdout == ""
    # On a machine where nothing was compiled before, that is told.
    assert result.stderr in ("", "compiling the loops, once (see `kmaps warmup`)\n")
    expected = HomogeneousMap(kernel, order=2, window="uniform").fit_transform(X)
    if target == "out.npy":
        written = np.load(target)
        assert written.dtype == np.float32
    elif target == "out.npz":
        written = np.load(target)["X"]
    elif target == "out.csv":
        written = np.loadtxt(target, delimiter=",", skiprows=1)
    else:
        written = load_svmlight_file(target, n_features=30)[0].toarray()
    np.testing.assert_allclose(written, expected, rtol=1e-7)


def test_the_precision_follows_the_input_unless_told():
    np.save("double.npy", X.astype(np.float64))
    np.save("bytes.npy", (200 * X).astype(np.uint8))
    np.save("long.npy", (200 * X).astype(np.int64))
    np.savetxt("text.csv", X, delimiter=",")
    for name, default in {
        "in.npy": "float32",
        "double.npy": "float64",
        "bytes.npy": "float32",
        "long.npy": "float64",
        "text.csv": "float32",
    }.items():
        for asked in (None, "float32", "float64"):
            encode(name, "out.npy", "--force", *(["--dtype", asked] if asked else []))
            assert np.load("out.npy").dtype == (asked or default), (name, asked)
    encode("bytes.npy", "out.npy", "--force", "--dtype", "float64")
    expected = HomogeneousMap().fit(X).transform((200 * X).astype(np.uint8).astype(float))
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_standard_input_and_output():
    text = "".join(",".join(map(str, row)) + "\n" for row in X.tolist())
    arguments = "-", "-", "--input-format", "csv", "--output-format", "svm"
    written = BytesIO(encode(*arguments, input=text).stdout_bytes)
    rows = load_svmlight_file(written, n_features=18)[0].toarray()
    np.testing.assert_allclose(rows, HomogeneousMap().fit_transform(X), rtol=1e-6)
    encode("-", "out.npy", "--input-format", "npy", input=Path("in.npy").read_bytes())
    np.testing.assert_array_equal(np.load("out.npy"), HomogeneousMap().fit_transform(X))
    assert sorted(os.listdir()) == ["in.npy", "out.npy"]


def test_paths_and_content_that_are_refused():
    Path("old.npy").write_text("old")
    os.link("in.npy", "same.npy")
    np.save("huge.npy", np.array([[1.0, -1e39]]))
    Path("ragged.csv").write_text("1.5,2\n" * 9 + "1,2,3\n")
    for arguments, message in {
        ("in.npy", "old.npy"): "old.npy: exists already; choose another name, or pass --force",
        ("in.npy", "in.npy"): "in.npy: is the input too; choose another name for OUT",
        ("in.npy", "same.npy", "--force"): "same.npy: is the input too; choose another name",
        ("old.npy", "in.npy", "--force", "--fit-on", "in.npy"): "in.npy: is the input too;",
        ("in.npy", "-"): "-: has no extension for a format; add one (npy, npz, csv, svm, libsvm,",
        ("-", "out.npy"): "-: name the format of standard input with --input-format",
        ("huge.npy", "out.npy", "--dtype", "float32"): "huge.npy: X[0, 1] is -1e+39, too large for "
        "float32; pass --dtype float64",
        ("ragged.csv", "out.npz"): "ragged.csv:10: has 3 columns, the first line has 2",
        ("in.npy", "out.npy", "--fit-on", "ragged.csv"): "ragged.csv has 2 columns, in.npy has 6",
        ("in.npy", "out.npy", "--codes"): "the homogeneous map has no codes; leave --codes out",
    }.items():
        assert refused(*arguments).startswith(message)
    assert Path("old.npy").read_text() == "old"


@pytest.mark.parametrize("form", ["npy", "npz", "parquet", "feather"])
def test_a_terminal_is_sent_no_bytes(form, monkeypatch):
    monkeypatch.setattr("kmaps.io.atomic.sys", TERMINAL)
    assert refused("in.npy", "-", "--output-format", form) == (
        f"-: {form} is not text, and standard output is a terminal; send it to a file or a pipe"
    )


def test_names_and_values_that_are_refused():
    for arguments, message in {
        ("--map", "homogenous"): "unknown map 'homogenous', did you mean 'homogeneous'? (maps: ",
        ("--map=homogenous",): "unknown map 'homogenous', did you mean 'homogeneous'? (maps: ",
        ("--kernel", "ch2"): "unknown kernel 'ch2', did you mean 'chi2'?",
        ("--window", "uniformly"): "--window uniformly: expected 'rectangular' or",
        ("--order", "-1"): "--order -1: expected a whole number from 0 to 10000",
        ("--order", "9" * 401): "…: expected a whole number from 0 to 10000",
        ("--period", "9" * 401): "--period inf: expected a positive number",
        ("--period", "wide"): "--period wide: expected a positive number",
    }.items():
        assert message in refused("in.npy", "out.npy", *arguments)
    for arguments, message in {
        # With or without quotes, by the version of click; the nearest option is named.
        ("--ordr", "2"): r"No such option:? '?--ordr'?.*--order",
        ("--order", "two"): "'two' is not a valid integer",
        ("--memory", "inf"): "'--memory': inf is not in the range",
        ("--threads", "9" * 401): "is not in the range 1<=x<=65536",
        ("--n-anchors", "3"): "No such option:? '?--n-anchors'?",
    }.items():
        result = encode("in.npy", "out.npy", *arguments, code=2)
        assert re.search(message, result.stderr, re.DOTALL)


class Toy(FeatureMap):
    """Subtract the fitted minimum.

    Parameters
    ----------
    n_copies : int
        How often. And more.
    sign : {"plus", "minus"}
        Which one:

        - a list
    level
        The level; more.
    strict : bool
        Whether.

    Attributes
    ----------
    low_ : float
    """

    has_codes = True
    takes_sparse_ = False

    def __init__(
        self,
        n_copies: int = 1,
        sign: Literal["plus", "minus"] = "plus",
        level: float | None = None,
        strict=False,  # typed by its default
        inside: FeatureMap | None = None,  # no option: text gives no map
    ):
        self.n_copies = n_copies
        self.sign = sign
        self.level = level
        self.strict = strict
        self.inside = inside

    def fit(self, X, y=None):
        Toy.fitted_on = X
        self.low_ = X.min(axis=0)
        return self

    def transform(self, X):
        if self.strict:
            raise ValueError("too\nstrict")
        assert isinstance(X, np.ndarray)
        Toy.blocks.append(len(X))
        return np.repeat(X - (self.low_ if self.level is None else self.level), self.n_copies, 1)

    def to_codes(self, X):
        return (10 * X).astype(np.uint8)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setitem(MAPS, "toy", Toy)
    Toy.blocks = []
    return Toy


def test_a_map_that_learns_is_fitted_on_the_input_or_on_another_file(toy):
    encode("in.npy", "out.npy", "--map", "toy")
    np.testing.assert_array_equal(toy.fitted_on, X)
    np.save("train.npy", X[:7] + 1)
    encode("in.npy", "out.npy", "--map", "toy", "--fit-on", "train.npy", "--force")
    np.testing.assert_array_equal(toy.fitted_on, X[:7] + 1)
    np.testing.assert_array_equal(np.load("out.npy"), X - (X[:7] + 1).min(0))


def test_codes(toy):
    encode("in.npy", "out.npy", "--map", "toy", "--codes")
    written = np.load("out.npy")
    assert (written.dtype, written.tolist()) == (np.uint8, (10 * X).astype(np.uint8).tolist())


def test_a_warning_is_printed_once_for_all_blocks(toy, monkeypatch):
    import warnings

    transform = toy.transform

    def warn(self, X):
        warnings.warn(f"{len(X)} values clamped", stacklevel=1)
        return transform(self, X)

    monkeypatch.setattr(toy, "transform", warn)
    np.save("wide.npy", np.ones((300, 1000), np.float32))
    result = encode("wide.npy", "out.npy", "--map", "toy", "--memory", 1)
    assert len(toy.blocks) > 3
    rows, more = toy.blocks[1], len(toy.blocks) - 2  # the first call is for the shape
    assert result.stderr == f"warning: {rows} values clamped (and in {more} more blocks)\n"
    assert encode("wide.npy", "out.npy", "--map", "toy", "--force", "--quiet").stderr == ""


def test_no_parameter_of_a_map_collides_with_an_option_of_the_command():
    from inspect import signature

    from kmaps.cli.encode import command

    own = {param.name for param in command.params}
    for name, cls in MAPS.items():
        assert not own & set(signature(cls).parameters), name


def test_memory_is_bounded_and_the_file_whole():
    """The limit for 100,000 × 784; a quarter of the rows already breaks it when held in memory."""
    n = 25_000
    block = RNG.random((1000, 784), dtype=np.float32)
    np.lib.format.open_memmap("big.npy", "w+", "<f4", (n, 784)).reshape(-1, 1000, 784)[:] = block
    peak = 0
    with psutil.Popen([KMAPS, "encode", "big.npy", "out.npy"], stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                peak = max(peak, process.memory_info().rss)
            time.sleep(0.005)
        assert (process.returncode, process.stderr.read()) == (0, b"")
    assert 50e6 < peak < 360e6  # 306e6 measured, of which pandas has 66e6
    written = np.load("out.npy", mmap_mode="r")
    assert written.shape == (n, 3 * 784)
    np.testing.assert_array_equal(written[-1000:], HomogeneousMap().fit_transform(block))
