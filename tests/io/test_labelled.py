"""Rows of a file with their labels."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader

X = np.random.default_rng(0).random((500, 30))
Y = np.arange(500) % 3


@pytest.fixture
def dense(tmp_path):
    """A reader of X, which has no labels."""
    np.save(tmp_path / "X.npy", X)
    return open_reader(tmp_path / "X.npy", name="X.npy")


@pytest.fixture
def labelled(tmp_path):
    """A reader of X that has labels, and does not know its number of rows beforehand."""
    dump_svmlight_file(X, Y, str(tmp_path / "X.svm"), zero_based=False)
    return open_reader(tmp_path / "X.svm", name="X.svm")


def test_blocks_can_be_read_again(dense):
    seen = []
    rows = LabelledRows(dense, Y, memory=30_000, progress=lambda *at: seen.append(at))
    for number in (1, 2):
        blocks = [block.copy() for block in rows.blocks()]
        assert len(blocks) > 2
        np.testing.assert_array_equal(np.concatenate(blocks), X)
        assert seen[-1] == (f"read X.npy, pass {number}", 500, 500)
    assert rows.labels() is Y
    assert rows.sample().shape == (500, 30)


def test_labels_of_the_file_itself(labelled):
    rows = LabelledRows(labelled, memory=30_000)
    with pytest.raises(InputError, match=r"X\.svm: its labels are known once its blocks are read"):
        rows.labels()
    for _ in range(2):
        assert sum(block.shape[0] for block in rows.blocks()) == 500
        np.testing.assert_array_equal(rows.labels(), Y)
    assert rows.labels().dtype == np.int64
    others = LabelledRows(labelled, Y + 1)
    assert sum(block.shape[0] for block in others.blocks()) == 500
    np.testing.assert_array_equal(others.labels(), Y + 1)


def test_labels_that_are_missing_or_too_few(dense, labelled):
    with pytest.raises(InputError, match=r"^X\.npy: holds no labels; pass them as y$"):
        LabelledRows(dense)
    message = r"^499 labels, but X\.npy has 500 rows$"
    with pytest.raises(InputError, match=message):
        LabelledRows(dense, Y[1:])
    rows = LabelledRows(labelled, Y[1:])
    with pytest.raises(InputError, match=r"499 labels, but X\.svm has 500 rows"):
        list(rows.blocks())
