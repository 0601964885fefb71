"""The homogeneous map without scikit-learn: the very numbers of HomogeneousMap."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import HomogeneousMap
from kmaps.maps import HomogeneousWaves, light_map

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(40, 5)) * RNG.choice([-1, 0, 1], (40, 5))
GIVEN = [
    {},
    {"kernel": "js", "order": 3, "gamma": 0.5},
    {"kernel": "intersection", "window": "uniform", "period": 7},
    {"kernel": "hellinger", "order": 0},
    {"kernel": "log-rbf", "order": 2},
    {"order": 400, "period": 60.0},  # too many harmonics for a table
]
SAMPLES = {
    "float64": X,
    "float32": X.astype(np.float32),
    "float16": X.astype(np.float16),
    "uint8": np.abs(30 * X).astype(np.uint8),
    "int16": (30 * X).astype(np.int16),
    "int64": (30 * X).astype(np.int64),
    "one row": X[:1].astype(np.float32),
    "csr": csr_matrix(X.astype(np.float32)),
    "wide csr": csr_matrix(X),
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_the_numbers_are_those_of_the_map(given, kind, compiled, monkeypatch):
    rows = SAMPLES[kind]
    expected = HomogeneousMap(**given).fit(rows).transform(rows)
    made = light_map("homogeneous", given)
    assert isinstance(made, HomogeneousWaves)
    for place in ("kmaps._loops.compiled", "kmaps.maps.waves.compiled"):
        monkeypatch.setattr(place, lambda: compiled)
    found = made.fit(rows).transform(rows)
    assert (found.dtype, found.shape, type(found)) == (
        *(expected.dtype, expected.shape),
        type(expected),
    )
    if kind.endswith("csr"):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_array_equal(found, expected)


def test_what_there_is_no_light_map_of():
    assert light_map("homogeneous", {"period": "optimal"}) is None
    assert light_map("nystroem", {}) is None
