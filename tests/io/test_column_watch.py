"""Columns that are no features, and values that spoil a model, found while rows are read."""

import numpy as np
import pytest
import scipy.sparse as sp

from kmaps.errors import FileNote, InputError
from kmaps.io import ColumnWatch, LabelledRows, open_reader

RNG = np.random.default_rng(0)
N = 300
NOISE = RNG.gamma(1, 1, (N, 4))
Y = np.repeat([0, 1, 2], N // 3)


def lines(X, y=None, *, size=37, **options):
    """Return what a watch says of rows in blocks."""
    watch = ColumnWatch("t", X.shape[1], list("abcdefghij")[: X.shape[1]], **options)
    for start in range(0, X.shape[0], size):
        watch.add(X[start : start + size], None if y is None else y[start : start + size])
    return watch.finish()


@pytest.mark.parametrize(("first", "step"), [(0, 1), (1, 1), (1000, 1), (N, -1), (5, 60)])
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("size", [1, 37, 1000])
def test_a_column_that_counts_the_rows(first, step, as_matrix, size):
    X = NOISE.copy()
    X[:, 2] = first + step * np.arange(N)
    (line,) = lines(as_matrix(X), Y, size=size)
    assert line == "t: column 3 of the features ('c') counts the rows: is it a feature?"


SUSPECTS = {
    "the label": lambda: Y,
    "its codes in another order": lambda: np.array([2, 0, 1])[Y],
    "the label, scaled": lambda: 0.1 * Y - 5,
    "a measure of the answer": lambda: 10 * Y + RNG.random(N),
}
INNOCENT = {
    "noise": lambda: RNG.random(N),
    "two classes of three": lambda: Y == 0,
    "one exception": lambda: np.where(np.arange(N) == 150, 0, Y),
    "constant": lambda: np.ones(N),
}


@pytest.mark.parametrize("what", [*SUSPECTS, *INNOCENT])
@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_column_that_tells_the_classes_apart(what, as_matrix, shuffled):
    order = RNG.permutation(N) if shuffled else np.arange(N)
    X = NOISE.copy()
    X[:, 1] = {**SUSPECTS, **INNOCENT}[what]()
    said = lines(as_matrix(X[order]), Y[order].astype(str))
    assert len(said) == (what in SUSPECTS)
    assert all("column 2 of the features ('b') alone tells all classes apart" in s for s in said)


def test_as_many_labels_as_a_regression_has_are_no_classes():
    y = np.repeat(np.arange(1001), 2)
    assert lines(np.stack([y + 0.5, y[::-1]], axis=1), y, size=5000) == []
    assert len(lines(y[:1000, None] + 0.5, y[:1000], size=5000)) == 1


def test_a_few_rows_are_apart_by_chance():
    for seed in range(50):
        rng = np.random.default_rng(seed)
        assert lines(rng.random((6, 10)), np.array([0, 1] * 3)) == []


@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_matrix])
def test_what_rounding_left_of_zeros_makes_no_value_large(as_matrix):
    X = np.random.default_rng(0).gamma(1.0, 0.01, (N, 4))
    X[: N // 2 + 9, 1] *= 1e-14
    assert lines(as_matrix(X)) == []


@pytest.mark.parametrize("as_matrix", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("value", [1e30, -1e30, 2.1e7])
def test_a_value_that_is_far_larger_than_its_column_is_refused(as_matrix, value):
    X = RNG.integers(0, 3, (N, 4)) * 20.0
    X[123, 1] = value
    with pytest.raises(InputError, match=r"t: X\[123, 1\], in column 2 of the features \('b'\)"):
        lines(as_matrix(X))
    assert lines(as_matrix(X), keep_large=True) == []


@pytest.mark.parametrize(
    "column",
    [
        np.r_[np.full(N - 1, 20.0), 1.9e7],
        np.r_[np.zeros(N - 1), 1e30],
        np.full(N, 1e30),
        RNG.lognormal(0, 2, N),
        np.r_[np.full(N // 2, 1e-9), np.ones(N // 2)],
    ],
)
def test_a_wide_column_is_kept(column):
    assert lines(np.column_stack([column, RNG.random(N)])) == []


def test_rows_of_a_file_are_watched_in_the_first_pass(tmp_path):
    X = NOISE.copy()
    X[:, 0] = np.arange(N)
    np.save(tmp_path / "X.npy", X)
    rows = LabelledRows(open_reader(tmp_path / "X.npy"), Y, memory=10_000)
    with pytest.warns(FileNote, match="column 1 of the features counts the rows"):
        list(rows.blocks())
    X[7, 3] = 1e12
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(InputError, match=r"X\[7, 3\]"):
        list(LabelledRows(open_reader(tmp_path / "X.npy"), Y).blocks())
    for options in ({"keep_large": True}, {"watch": False}):
        read = LabelledRows(open_reader(tmp_path / "X.npy"), Y, **options)
        assert sum(len(block) for block in read.blocks()) == N
