"""100,000 features: trained, scored, written, read and explained, in memory that is bounded."""

import tracemalloc

import numpy as np
import pytest

from kmaps import CodedSVC, load_model
from kmaps.models import explanation
from kmaps.svm.coded.model import code_counts
from kmaps.svm.coded.training import rows_of

N, D = 40, 100_000


@pytest.mark.slow  # makes tables of all features several times
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_of_100_000_features(tmp_path):
    X = np.random.default_rng(0).random((N, D), dtype=np.float32)
    X[:, 77] = y = np.arange(N) % 2
    model = CodedSVC(max_iter=5, C=1e-3)
    tracemalloc.start()
    model.fit(X, y)
    scores = model.decision_function(X)
    model.save(tmp_path / "m.npz")
    page = explanation(model, X, rows=[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(load_model(tmp_path / "m.npz").decision_function(X), scores)
    assert '"name": "x77"' in page
    assert peak < 8e8  # measured: 0.63; what counts the levels takes 205 MB


def test_levels_are_counted_in_the_memory_of_the_counts():
    """Not once for each of eight blocks, and all of them again to add them up."""
    rng, n, shape = np.random.default_rng(0), 500, (50_000, 256)
    codes = rng.integers(0, 256, (n, shape[0]), np.uint8)
    rows, weights = rows_of(codes, np.empty(0, np.intp)), np.ones(n)
    tracemalloc.start()
    counts = code_counts(rows, np.arange(n), weights, shape, np.empty(0, np.intp))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.2 * counts.nbytes
    np.testing.assert_array_equal(counts[7], np.bincount(codes[:, 7], minlength=256))
    assert counts.sum() == codes.size
