"""A column with a single value that is not zero gets no weight in models on codes.

The oracle is a model that is trained without the column: the scores are the same.
"""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import (
    CodedRidge,
    CodedSVC,
    CodedSVR,
    HomogeneousMap,
    KernelSVC,
    LowDimMap,
    NystroemMap,
    Quantizer,
    SplineMap,
    load_model,
    load_predictor,
)
from kmaps.codes.levels import RunningColumns, choose_levels
from kmaps.models import CodedSVCCV
from kmaps.svm import code_rows

RNG = np.random.default_rng(0)
X = RNG.random((400, 3))
Y = (X[:, 0] > X[:, 1]).astype(int) + (X[:, 2] > 0.7)
FILL = 1e6


def with_constant(X, value=FILL):
    """Return rows with a column of one value after the others, before which maps draw theirs."""
    return np.insert(X, 3, value, axis=1)


def test_scores_are_those_without_the_column():
    maps = ["intersection", "chi2", HomogeneousMap(), SplineMap(), NystroemMap(), LowDimMap("rbf")]
    models = [CodedSVC(map) for map in maps]
    models += [CodedSVR("chi2"), CodedRidge(SplineMap(degree=3)), CodedSVCCV("js", C=[1.0])]
    failing = []
    for model in models:
        without = model.fit(X, Y)
        scores = getattr(without, "decision_function", without.predict)(X)
        with pytest.warns(UserWarning, match="1 column .*column 3"):
            model.fit(with_constant(X), Y)
        predict = getattr(model, "decision_function", model.predict)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            # Rows with another value in the column have the same scores, and no warning.
            other = predict(with_constant(X, -3.0))
        if not (
            # Within the duality gap.
            np.allclose(predict(with_constant(X)), scores, atol=0.02)
            and np.array_equal(predict(with_constant(X)), other)
        ):
            failing.append(str(model))
    assert not failing


def test_accuracy_does_not_fall():
    train, test = slice(0, 300), slice(300, None)
    exact = KernelSVC("intersection", C=10).fit(with_constant(X[train]), Y[train])
    with pytest.warns(UserWarning, match="no weight"):
        coded = CodedSVC("intersection", C=10).fit(with_constant(X[train]), Y[train])
    rows = with_constant(X[test])
    assert coded.score(rows, Y[test]) >= exact.score(rows, Y[test]) - 0.05


def test_same_model_of_arrays_csr_and_blocks(tmp_path):
    rows = with_constant(X * (X > 0.3))
    with pytest.warns(UserWarning, match="no weight"):
        dense = CodedSVC("chi2").fit(rows, Y)
    with pytest.warns(UserWarning, match="no weight"):
        sparse = CodedSVC("chi2").fit(csr_matrix(rows), Y)
    blocks = code_rows("chi2", lambda: [rows[:1], rows[1:7], rows[7:]])
    scores = dense.decision_function(rows)
    sparse_scores = sparse.decision_function(csr_matrix(rows))
    np.testing.assert_allclose(sparse_scores, scores, atol=1e-4)  # sums in another order
    assert np.array_equal(CodedSVC("chi2").fit(blocks, Y).decision_function(rows), scores)
    dense.save(tmp_path / "m.npz")
    for model in (load_model(tmp_path / "m.npz"), load_predictor(tmp_path / "m.npz")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.array_equal(model.decision_function(rows), scores)
    assert (dense.function(3).values == 0).all()
    assert dense.importance_[3] == 0


def test_what_is_left_as_it_was():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zeros = CodedSVC("chi2").fit(with_constant(X, 0.0), Y)  # columns of zeros
        codes = Quantizer(strategy="shared").fit(with_constant(X))
        CodedSVC("chi2", levels=codes.levels_).fit(codes.transform(with_constant(X)), Y)
        CodedRidge("chi2").fit(np.ones((4, 2)), np.arange(4.0))  # no column varies
    assert zeros.model_.unweighted is None


def test_values_of_blocks_are_counted_once_their_column_varies():
    rows = np.array([[5.0, 0.0, 7.0], [5.0, 1.0, 7.0], [6.0, 0.0, 7.0], [5.0, 2.0, 7.0]])
    for cuts in ([1, 2, 3], [2], [1], []):
        columns = RunningColumns(256)
        for block in np.split(rows, cuts):
            columns.add(block)
        assert columns._values.tolist() == [0, 1, 2, 5, 6]
        assert choose_levels(columns, 256, "shared").tolist() == [[0, 1, 2, 5, 6, 7]]


def test_names_of_the_columns_are_in_the_line():
    import pandas as pd

    frame = pd.DataFrame(with_constant(X), columns=["a", "b", "c", "unit"])
    with pytest.warns(UserWarning, match="'unit'"):
        CodedSVCCV("chi2", C=[1.0]).fit(frame, Y)
