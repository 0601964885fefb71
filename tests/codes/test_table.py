"""Look-up against NumPy's own indexing, and codes that are none."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import threads
from kmaps.codes import LookupTable
from kmaps.errors import InputError

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 40, (500, 6)).astype(np.uint8)


@pytest.mark.parametrize("tables", [1, 6])
@pytest.mark.parametrize("r", [1, 3, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_takes_the_rows_of_each_feature(tables, r, dtype):
    values = np.random.default_rng(1).random((tables, 40, r)).astype(dtype)
    table = LookupTable(values)
    row = np.arange(6) if tables > 1 else 0
    with threads(2):
        taken = table.take(CODES)
    assert taken.dtype == dtype
    np.testing.assert_array_equal(taken, values[row, CODES].reshape(500, -1))
    np.testing.assert_array_equal(table.take(CODES[:1]), taken[:1])
    np.testing.assert_array_equal(table.take(np.asfortranarray(CODES)), taken)
    assert table.nbytes == values.nbytes


@pytest.mark.parametrize("tables", [1, 6])
def test_blocks_and_single_codes_as_numpy_indexes_them(tables):
    values = np.random.default_rng(1).random((tables, 40, 3))
    table, row = LookupTable(values), np.arange(6) if tables > 1 else 0
    out = np.empty((9, 18))
    table.fill(CODES[:9], np.arange(6), out)
    np.testing.assert_array_equal(out, values[row, CODES[:9]].reshape(9, 18))
    # A single row is of any features, in any order.
    feature = np.array([5, 0, 0, 3])
    own = feature if tables > 1 else 0
    table.fill(CODES[:1, :4], feature, out[:1, :12])
    np.testing.assert_array_equal(out[0, :12].reshape(4, 3), values[own, CODES[0, :4]])
    np.testing.assert_array_equal(table.at(CODES[0, :4], feature), values[own, CODES[0, :4]])


@pytest.mark.parametrize("shape", [(3,), (1, 257, 2), (2, 0, 3), (1, 2, 3, 4)])
def test_shapes_that_are_no_table(shape):
    assert LookupTable([[0], [1]]).take(np.array([[1]], np.uint8)).dtype == np.float64
    with pytest.raises(InputError, match=r"at most 256 codes"):
        LookupTable(np.zeros(shape))


def test_codes_that_are_none():
    table = LookupTable(np.zeros((6, 40, 2)))
    with pytest.raises(InputError, match="codes go up to 41: the table has 40"):
        table.take(CODES + np.uint8(2))
    with pytest.raises(InputError, match="codes go up to 41: the table has 40"):
        table.take(csr_matrix(CODES + np.uint8(2)))
    with pytest.raises(InputError, match=r"expected uint8 .*got int64"):
        table.take(CODES.astype(np.int64))
    with pytest.raises(InputError, match=r"got uint8 of shape \(6,\)"):
        table.take(CODES[0])
    with pytest.raises(InputError, match="5 features: the table has 6"):
        table.take(CODES[:, :5])
