"""Which map can do what, said once; and that each map that says so does it."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps.maps import MAPS, FeatureMap
from kmaps.maps.base import AdditiveMap
from kmaps.maps.capabilities import LocallyTabulated, Tabulated
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.maps.registry import approximated, has_local_tables, has_tables
from kmaps.svm.coded.training import learns, level_strategy

ADDITIVE = {
    *("homogeneous", "same-sign", "lowdim", "anchor", "nystroem", "intersection", "exact-table"),
    *("spline", "fourier", "hermite"),
}
RANDOM = {"random-fourier", "generalized-rbf", "radial"}
ALONE = {"lowdim-joint", "harmonic"}
X = np.random.default_rng(0).random((30, 2)).astype(np.float32)

# As the maps are made by their defaults.
HAS_CODES = {"anchor", "exact-table", "sign-cauchy"}
NEEDS_NO_DATA = {"homogeneous", "same-sign", "lowdim", "sign-cauchy", "random-fourier"}
APPROXIMATES = {"intersection": "intersection", "sign-cauchy": "chi2", "random-fourier": "rbf"}
CURVES_OF_THEIR_OWN = ADDITIVE - {"homogeneous", "same-sign", "lowdim", "exact-table"}
STORES_TABLES = ADDITIVE - {"homogeneous", "same-sign", "lowdim"}
KEEPS_ZEROS = {"homogeneous", "same-sign", "lowdim", "intersection"}


@cache
def fitted(name):
    small = {"dim": 2} if name == "lowdim-joint" else {}  # a larger one takes a minute
    return MAPS[name](**small).fit(X)


def those(names, capability):
    return {name for name in names if capability(name)}


def test_every_map_is_of_one_kind():
    assert all(issubclass(cls, FeatureMap) for cls in MAPS.values())
    assert those(MAPS, lambda name: issubclass(MAPS[name], AdditiveMap)) == ADDITIVE
    assert those(MAPS, lambda name: issubclass(MAPS[name], RandomFeatures)) == RANDOM
    assert set(MAPS) == ADDITIVE | RANDOM | ALONE | {"sign-cauchy"}


def test_what_classes_have():
    assert those(MAPS, lambda name: issubclass(MAPS[name], Tabulated)) == ADDITIVE
    assert those(MAPS, lambda name: issubclass(MAPS[name], LocallyTabulated)) == {"spline"}
    assert {name: cls.approximates for name, cls in MAPS.items() if cls.approximates} == (
        APPROXIMATES
    )
    # Said once more, for those who may not import the classes.
    assert those(MAPS, has_tables) == ADDITIVE
    assert those(MAPS, has_local_tables) == {"spline"}
    assert {name: approximated(name) for name in MAPS if approximated(name)} == APPROXIMATES


def test_what_unfitted_maps_say():
    assert those(MAPS, lambda name: not MAPS[name]().learns_from_data) == NEEDS_NO_DATA
    assert those(MAPS, lambda name: MAPS[name]().has_codes) == HAS_CODES


def test_what_fitted_maps_say():
    assert those(ADDITIVE, lambda name: not fitted(name).shared_curve_) == CURVES_OF_THEIR_OWN
    assert those(ADDITIVE, lambda name: fitted(name).zero_to_zero_) == KEEPS_ZEROS
    assert those(MAPS, lambda name: fitted(name).table_bytes_) == STORES_TABLES
    per_value = HAS_CODES - {"sign-cauchy"}  # whose bits are of projections
    assert those(MAPS, lambda name: fitted(name).code_bits_ is not None) == per_value
    assert those(RANDOM, lambda name: fitted(name).additive_) == {"generalized-rbf", "radial"}


@pytest.mark.parametrize("name", MAPS)
def test_codes_are_there_when_a_map_says_so(name):
    feature_map = fitted(name)
    assert hasattr(feature_map, "to_codes") == feature_map.has_codes
    if feature_map.has_codes:
        assert feature_map.to_codes(X).dtype == np.uint8


@pytest.mark.parametrize("name", MAPS)
def test_sparse_input_is_taken_when_a_map_says_so(name):
    feature_map = fitted(name)
    if feature_map.takes_sparse_:
        assert feature_map.transform(csr_matrix(X)).shape[0] == len(X)
    else:
        with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
            feature_map.transform(csr_matrix(X))


@pytest.mark.parametrize("name", sorted(NEEDS_NO_DATA))
def test_a_map_that_needs_no_data_is_the_same_on_others(name):
    of_one_row = MAPS[name]().fit(X[:1])
    np.testing.assert_array_equal(of_one_row.transform(X), fitted(name).transform(X))


class Bare:
    """A map from elsewhere, with no more than what training on codes needs."""

    def fit(self, X, y=None):
        return self

    def tabulate(self, levels):
        return np.sqrt(np.atleast_2d(levels))[..., None]


def test_a_map_that_says_nothing_is_taken_to_learn_a_curve_per_feature():
    assert isinstance(Bare(), Tabulated)
    assert not isinstance(Bare(), LocallyTabulated)
    assert learns(Bare())
    assert level_strategy(Bare()) == "uniform"
    assert not learns(MAPS["homogeneous"]())
    assert level_strategy(fitted("homogeneous")) == "shared"
    assert level_strategy(fitted("spline")) == "uniform"
