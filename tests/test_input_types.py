"""Containers and types of samples that people have, and estimators read alike."""

import numpy as np
import pytest
from pandas import DataFrame
from scipy import sparse
from sklearn.base import clone

from kmaps import AnchorMap, LandmarkMap, LandmarkSVC, NystroemMap, Quantizer, gram


@pytest.mark.parametrize("dtype", ["Float64", "double[pyarrow]", "Int64", "int32[pyarrow]"])
def test_columns_of_data_frames_are_their_numbers(dtype):
    X = np.random.default_rng(0).integers(0, 9, (12, 3)).astype(float)
    frame = DataFrame(X, columns=list("abc")).astype(dtype)
    np.testing.assert_allclose(gram(frame), gram(X), rtol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [LandmarkSVC(n_landmarks=9, sigma=1.0), LandmarkMap(n_landmarks=9, sigma=1.0)],
    ids=["model", "map"],
)
def test_indices_of_64_bits_and_dense_rows_give_the_same_estimator(estimator):
    X = np.random.default_rng(0).gamma(1, 1, (40, 5))
    X[X < 0.5] = 0
    y = X[:, 0] > X[:, 1]
    wide = sparse.csr_matrix(X)
    wide.indices = wide.indices.astype(np.int64)
    wide.indptr = wide.indptr.astype(np.int64)
    outputs = []
    for rows in (X, wide):
        fitted = clone(estimator).fit(rows, y)
        scores = getattr(fitted, "decision_function", None) or fitted.transform
        outputs.append(scores(X))
    np.testing.assert_allclose(outputs[1], outputs[0], atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
@pytest.mark.parametrize("estimator", [Quantizer(), NystroemMap(), AnchorMap()], ids=str)
def test_other_widths_of_numbers_are_read_as_their_numbers(estimator, dtype):
    X = np.random.default_rng(0).gamma(1, 1, (40, 5)).astype(dtype)
    outputs = clone(estimator).fit(X).transform(X)
    expected = clone(estimator).fit(X.astype(float)).transform(X.astype(float))
    np.testing.assert_allclose(np.float64(outputs), expected, atol=2e-3)
