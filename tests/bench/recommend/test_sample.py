"""The sample that machines are compared on."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse, save_npz

from kmaps.bench.recommend.sample import FILE, draw_sample
from kmaps.errors import InputError
from kmaps.io import LabelledRows, open_reader

Y = np.repeat(["a", "b", "c"], [60, 30, 10])
X = np.arange(100)[:, None] + np.array([0.0, 0.5])


def rows_of(folder, matrix=X, labels=Y, memory=24 << 20):
    path = folder / "X.npz"
    if issparse(matrix):
        save_npz(path, matrix)
    else:
        np.savez(path, X=matrix)
    return LabelledRows(open_reader(path), labels, memory=memory)


def test_every_class_has_its_share_and_every_row_its_label(tmp_path):
    sample = draw_sample(rows_of(tmp_path, memory=200), 50)  # many blocks
    assert np.unique(sample.y, return_counts=True)[1].tolist() == [30, 15, 5]
    places = sample.X[:, 0].astype(int)
    assert (np.diff(places) > 0).all()
    assert (Y[places] == sample.y).all()
    assert (X[places] == sample.X).all()
    assert (sample.n_rows, sample.n_classes) == (100, 3)
    whole = draw_sample(rows_of(tmp_path), 1000)
    assert (whole.X == X).all()


def test_sparse_rows_stay_sparse(tmp_path):
    X = np.random.default_rng(0).random((100, 7))
    matrix = csr_matrix(np.where(X < 0.3, X, 0))
    sample = draw_sample(rows_of(tmp_path, matrix), 40)
    rows = {tuple(row) for row in matrix.toarray()}
    assert issparse(sample.X)
    assert {tuple(row) for row in sample.X.toarray()} <= rows
    sample.write(tmp_path / "kept")
    again = open_reader(tmp_path / "kept" / FILE)
    assert (again.sparse, again.has_labels, again.n_rows) == (True, True, 40)


def test_the_same_rows_make_the_same_file(tmp_path):
    for folder in ("one", "two"):
        draw_sample(rows_of(tmp_path), 50).write(tmp_path / folder)
    one, two = ((tmp_path / folder / FILE).read_bytes() for folder in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    ("labels", "n_rows", "told"),
    [
        (np.repeat("a", 100), 50, "all 100 labels are a; two classes are needed"),
        (
            np.repeat(["a", "b"], [99, 1]),
            50,
            "class b has one row; expected one to train on and one to hold out: leave the class "
            "out, or add rows of it",
        ),
        (
            np.repeat(["a", "b"], [98, 2]),
            50,
            "n_rows=50: class b would have 1 rows in the sample, expected two; draw more",
        ),
    ],
)
def test_classes_of_which_nothing_can_be_measured_are_refused(tmp_path, labels, n_rows, told):
    with pytest.raises(InputError) as refused:
        draw_sample(rows_of(tmp_path, labels=labels), n_rows)
    assert str(refused.value) == told
