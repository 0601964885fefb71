"""Storage: what a method has to keep, counted by hand."""

from types import SimpleNamespace

import numpy as np
from scipy import sparse

from kmaps.bench.work.storage import storage


def test_storage_of_sparse_rows_and_of_codes():
    raw = np.eye(5, dtype=np.float32)
    counted = storage(raw, None, sparse.csr_matrix(raw), 11)
    assert counted["train_bytes"] == 5 * 4 + 5 * 4 + 6 * 4
    coded = SimpleNamespace(code_bits_=5, table_bytes_=7)
    counted = storage(raw, coded, np.zeros((5, 15), np.float32), 11)
    assert counted["train_bytes"] == 16  # 125 bits
    assert counted["storage_bytes"] == 16 + 7 + 11
    assert (
        storage(raw, SimpleNamespace(code_bits_=None, table_bytes_=0), raw, 0)["train_bytes"] == 100
    )
