"""Maps of collections, against the map of the whole array."""

import dask
import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import AnchorMap, HomogeneousMap, IntersectionMap
from kmaps.dask import BlockwiseMap


@pytest.fixture
def X():
    return np.random.default_rng(0).random((500, 6)).astype(np.float32)


@pytest.fixture
def read(X):
    """Delayed blocks of 100 rows, and the list of those that were read."""
    found = []

    @dask.delayed
    def block(k):
        found.append(k)
        return X[k : k + 100]

    return [block(k) for k in range(0, 500, 100)], found


@pytest.mark.parametrize("map", [HomogeneousMap(), AnchorMap(), IntersectionMap()])
def test_blocks_are_mapped_as_the_whole(X, map):
    blocks = da.from_array(X, (120, 3))
    fitted = BlockwiseMap(map).fit(blocks)
    found = fitted.transform(blocks)
    assert isinstance(found, da.Array)
    assert found.dtype == np.float32
    assert found.chunks[0] == (120, 120, 120, 120, 20)
    expected = fitted.map_.transform(X)
    dense = expected if isinstance(expected, np.ndarray) else expected.toarray()
    np.testing.assert_array_equal(found.compute(), dense)


def test_nothing_is_computed_before_it_is_asked_for(X, read):
    blocks, found = read
    parts = BlockwiseMap(HomogeneousMap()).fit(da.from_array(X, 100)).transform(blocks)
    assert found == []
    assert parts[1].compute().shape == (100, 18)
    assert found == [100]


def test_one_pass_learns_from_few_rows_what_all_rows_tell(X, read):
    """500 rows are all in the sample; the ends of the range stand in it once more."""
    blocks, found = read
    fitted = BlockwiseMap(AnchorMap()).fit(blocks).map_
    assert sorted(found) == [0, 100, 200, 300, 400]
    ends = np.stack([X.min(axis=0), X.max(axis=0)])
    expected = AnchorMap().fit(np.concatenate([X, ends]))
    np.testing.assert_array_equal(fitted.transform(X[:9]), expected.transform(X[:9]))


def test_sparse_blocks_and_empty_ones(X):
    X = X * (X > 0.7)
    blocks = [dask.delayed(csr_matrix(part)) for part in (X[:200], X[:0], X[200:])]
    fitted = BlockwiseMap(HomogeneousMap()).fit(blocks)
    found = np.concatenate(dask.compute(*fitted.transform(blocks)))
    np.testing.assert_array_equal(found, HomogeneousMap().fit(X).transform(X))
