"""Each map does what it says it can do, and says nothing else; no list of names is kept here."""

from functools import cache
from types import UnionType
from typing import Literal, Union, get_args, get_origin

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import maps
from kmaps.codes.levels import Columns
from kmaps.svm.coded.training import _codebook, learns

X = np.random.default_rng(0).random((30, 2)).astype(np.float32)
LEVELS = np.linspace(0.1, 0.9, 5)
SMALL = {"lowdim-joint": {"dim": 4, "sigma": 0.5, "levels": 4}}  # a larger one takes seconds


@cache
def fitted(name):
    return maps.MAPS[name](**SMALL.get(name, {})).fit(X)


every_map = pytest.mark.parametrize("name", maps.MAPS)


@every_map
def test_a_map_annotates_its_parameters_as_it_takes_them(name):
    cls = maps.MAPS[name]
    assert issubclass(cls, maps.FeatureMap)
    parameters = maps.signature_of(name).parameters
    assert parameters.keys() == cls().get_params(deep=False).keys()
    for parameter in parameters.values():
        members = members_of(parameter.annotation)
        default = parameter.default
        fits = default in members if isinstance(default, str) else type(default) in members
        assert fits or (isinstance(default, str) and str in members), parameter
    assert not (parameters.get("kernel") and cls.approximates)


def members_of(annotation):
    """Return the types and, in place of a `Literal`, the words and numbers of an annotation."""
    if get_origin(annotation) is Literal:
        words = get_args(annotation)
        return {*words, *(type(word) for word in words if not isinstance(word, str))}
    if get_origin(annotation) in (Union, UnionType):
        return set().union(*map(members_of, get_args(annotation)))
    return {annotation}


@every_map
def test_a_map_says_whether_it_has_tables_and_shares_them(name):
    feature_map = fitted(name)
    assert isinstance(feature_map, maps.Tabulated) == isinstance(feature_map, maps.AdditiveMap)
    if not isinstance(feature_map, maps.AdditiveMap):
        return
    tables = feature_map.tabulate(LEVELS)
    assert len(tables) == (1 if feature_map.shared_curve_ else X.shape[1])
    at_zero = feature_map.tabulate([0.0])
    assert feature_map.zero_to_zero_ == (not at_zero.any())
    assert (feature_map.table_bytes_ > 0) >= (not feature_map.shared_curve_)


@every_map
def test_codes_are_there_when_a_map_says_so(name):
    feature_map = fitted(name)
    assert hasattr(feature_map, "to_codes") == feature_map.has_codes == maps.MAPS[name]().has_codes
    if feature_map.has_codes:
        codes = feature_map.to_codes(X)
        assert codes.dtype == np.uint8
    if feature_map.code_bits_ is not None:  # codes of single values, not of projections
        assert codes.shape == X.shape
        assert codes.max() < 2**feature_map.code_bits_


@every_map
def test_sparse_input_is_taken_when_a_map_says_so(name):
    feature_map = fitted(name)
    if feature_map.takes_sparse_:
        assert feature_map.transform(csr_matrix(X)).shape[0] == len(X)
    else:
        with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
            feature_map.transform(csr_matrix(X))


@pytest.mark.filterwarnings("ignore:.*outside")  # of the range of the other samples
@every_map
def test_a_map_says_whether_it_learns_from_data(name):
    other = maps.MAPS[name](**SMALL.get(name, {}))
    other.fit(X[:20] ** 2 if other.learns_from_data else X[:1])
    one, two = (feature_map.transform(X) for feature_map in (fitted(name), other))
    same = one.shape == two.shape and abs(one - two).max() == 0
    assert same == (not other.learns_from_data)


@every_map
def test_random_features_say_whether_an_additive_map_is_inside(name):
    feature_map = fitted(name)
    if isinstance(feature_map, maps.RandomFeatures):
        assert isinstance(feature_map.additive_, maps.AdditiveMap | None)
        assert feature_map.get_feature_names_out()[0] == "cos0"


class Bare:
    """A map from elsewhere, with no more than what training on codes needs."""

    def fit(self, X, y=None):
        return self

    def tabulate(self, levels):
        return np.sqrt(np.atleast_2d(levels))[..., None]


def test_a_map_that_says_nothing_is_taken_to_learn_a_curve_per_feature():
    assert isinstance(Bare(), maps.Tabulated)
    assert not isinstance(Bare(), maps.LocallyTabulated)
    assert learns(Bare())
    assert not _codebook(Bare(), Columns(X), 16, "auto").shared
    assert not learns(maps.MAPS["homogeneous"]())
    assert _codebook(fitted("homogeneous"), Columns(X), 16, "auto").shared
    assert not _codebook(fitted("spline"), Columns(X), 16, "auto").shared
