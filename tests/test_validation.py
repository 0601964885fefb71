"""Every estimator, and `gram`, takes the same types of samples and refuses the same."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import kmaps
from kmaps.errors import InputError
from kmaps.validation import in_loop_types

X = np.round(np.random.default_rng(0).random((30, 4)), 2)
X[X < 0.3] = 0
LABELS = (X[:, 0] > 0.5).astype(int)

ESTIMATORS = [
    kmaps.Quantizer(),
    kmaps.HomogeneousMap(),
    kmaps.NystroemMap(),
    kmaps.AnchorMap(),
    kmaps.ExactMap(),
    kmaps.LandmarkMap(n_landmarks=5),
    kmaps.RandomFourierMap(20),
    kmaps.CodedSVC(),
    kmaps.KernelSVC(),
    kmaps.LiblinearSVC(),
    kmaps.LandmarkSVC(n_landmarks=5),
]


def results(estimator, rows):
    """Return what an estimator that is fitted to rows makes of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(rows, LABELS)
        use = getattr(estimator, "decision_function", None) or estimator.transform
        values = use(rows)
    return values.toarray() if sparse.issparse(values) else values


def with_wide_indices(values):
    matrix = sparse.csr_matrix(values)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


HALF = X.astype(np.float16)
WIDE = X.astype(np.longdouble)
FRAME = pd.DataFrame(X, columns=list("abcd"))
CONVERTED = {
    "float16": (HALF, HALF.astype(np.float32)),
    "long double": (WIDE, X),
    "long double, CSR": (sparse.csr_array(WIDE), sparse.csr_array(X)),
    "int64 indices": (with_wide_indices(X), sparse.csr_matrix(X)),
    "nullable": (FRAME.astype("Float64"), FRAME),
    "big-endian": (X.astype(">f8"), X),
    "big-endian integers": ((100 * X).astype(">i4"), (100 * X).astype(np.int32)),
}


@pytest.mark.parametrize("kind", CONVERTED)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_estimators_take_every_real_type(estimator, kind):
    rows, expected = CONVERTED[kind]
    np.testing.assert_array_equal(results(estimator, rows), results(estimator, expected))


@pytest.mark.parametrize("kernel", ["chi2", "exp-chi2", "rbf"])
@pytest.mark.parametrize("kind", CONVERTED)
def test_gram_takes_every_real_type(kind, kernel):
    rows, expected = CONVERTED[kind]
    np.testing.assert_array_equal(
        kmaps.gram(rows, kernel=kernel), kmaps.gram(expected, kernel=kernel)
    )


def test_gram_takes_columns_of_arrow():
    pytest.importorskip("pyarrow")
    rows = FRAME.convert_dtypes(dtype_backend="pyarrow")
    np.testing.assert_array_equal(kmaps.gram(rows), kmaps.gram(X))
    rows.iloc[3, 2] = None
    with pytest.raises(InputError, match="NaN"):
        kmaps.gram(rows)


REFUSED = {
    "complex": X + 1j,
    "text": X.astype(str),
    "dates": np.full(X.shape, np.datetime64("2026-01-01")),
    "a column of dates": FRAME.assign(a=pd.Timestamp("2026-01-01")),
    "columns of dates": FRAME.map(lambda _: pd.Timestamp("2026-01-01")),
}


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_what_is_no_number_is_refused_in_one_line(estimator, kind):
    for use in (lambda rows: estimator.fit(rows, LABELS), kmaps.gram):
        with pytest.raises(InputError, match="expected real numbers") as error:
            use(REFUSED[kind])
        assert "\n" not in str(error.value)


def test_the_callers_matrix_is_left_alone():
    rows = with_wide_indices(X)
    converted = in_loop_types(rows)
    assert rows.indices.dtype == rows.indptr.dtype == np.int64
    assert converted.indices.dtype == converted.indptr.dtype == np.int32
    assert (converted != rows).nnz == 0
    assert in_loop_types(X) is X
