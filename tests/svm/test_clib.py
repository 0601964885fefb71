"""The solvers' own rows, against a plain loop over the documented format."""

import ctypes

import numpy as np
import pytest
from scipy import sparse

from kmaps.svm import clib
from kmaps.svm.clib import NODE, feature_rows, gram_rows


class Node(ctypes.Structure):
    _fields_ = (("index", ctypes.c_int), ("value", ctypes.c_double))


def read_back(rows):
    result = []
    for address in rows.addresses:
        pairs = []
        node = ctypes.cast(int(address), ctypes.POINTER(Node))
        while node[len(pairs)].index != -1:
            pairs.append((node[len(pairs)].index, node[len(pairs)].value))
        result.append(pairs)
    return result


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(11, 6)).astype(np.float32)
    X[rng.random(X.shape) < 0.5] = 0
    X[4] = 0
    X[10] = 0
    return X


def test_a_node_is_what_both_libraries_use():
    from liblinear.liblinear import feature_node
    from libsvm.svm import svm_node

    for node in (feature_node, svm_node):
        assert ctypes.sizeof(node) == NODE.itemsize == 16
        assert (node.index.offset, node.value.offset) == tuple(f[1] for f in NODE.fields.values())


@pytest.mark.parametrize("block_values", [1, 17, 2**18])
@pytest.mark.parametrize("bias", [0.0, 2.5])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_become_liblinear_rows(X, form, dtype, bias, block_values, monkeypatch):
    monkeypatch.setattr(clib, "_BLOCK_VALUES", block_values)
    rows = feature_rows(form(X.astype(dtype)), bias)
    tail = [(X.shape[1] + 1, bias)] if bias else []
    expected = [[(j + 1, float(x)) for j, x in enumerate(row) if x != 0] + tail for row in X]
    assert read_back(rows) == expected
    assert rows.n_columns == X.shape[1] + (bias > 0)
    assert rows.nodes.nbytes == 16 * (np.count_nonzero(X) + len(X) * (2 if bias else 1))


@pytest.mark.parametrize("block_values", [1, 20, 2**18])
def test_gram_becomes_libsvm_rows(block_values, monkeypatch):
    monkeypatch.setattr(clib, "_BLOCK_VALUES", block_values)
    gram = np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32)
    rows = gram_rows(gram)
    for serial, (row, pairs) in enumerate(zip(gram, read_back(rows), strict=True), start=1):
        assert pairs == [(0, serial), *((j + 1, float(x)) for j, x in enumerate(row))]
