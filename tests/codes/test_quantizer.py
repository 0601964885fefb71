"""Codes and levels, and the maps tabulated on them."""

import numpy as np
import pytest
from contract import contract

from kmaps.codes import LookupTable, Quantizer
from kmaps.errors import ConfigError, InputError
from kmaps.maps import HomogeneousMap, SplineMap


@contract([Quantizer()])
def test_follows_scikit_learn(estimator, check):
    check(estimator)


RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (200, 5)) / 255
FLOATS = RNG.normal(size=(400, 3)) * [1, 9, 0.1]


def test_few_values_come_back_as_they_were():
    quantizer = Quantizer().fit(BYTES)
    codes = quantizer.transform(BYTES)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(quantizer.inverse_transform(codes), BYTES)
    assert quantizer.levels_.shape == (1, len(np.unique(BYTES)))
    assert (quantizer.code_bits_, Quantizer(32).fit(FLOATS).code_bits_) == (8, 5)


FLOATS[::7] = 0


@pytest.mark.parametrize("feature_map", [HomogeneousMap(order=3), SplineMap()], ids=str)
@pytest.mark.parametrize("values", [BYTES, np.abs(FLOATS)], ids=["shared", "own"])
def test_a_map_tabulated_on_the_levels_encodes_the_codes(feature_map, values):
    quantizer = Quantizer().fit(values)
    table = LookupTable(feature_map.fit(values).tabulate(quantizer.levels_))
    codes = quantizer.transform(values)
    expected = feature_map.transform(quantizer.inverse_transform(codes))
    np.testing.assert_allclose(table.take(codes), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_levels": 1}, "n_levels=1: expected a whole number from 2 to 256"),
        ({"n_levels": 257}, "n_levels=257: expected a whole number from 2 to 256"),
        ({"n_levels": 8.0}, "n_levels=8.0: expected a whole number from 2 to 256"),
        ({"strategy": "quantil"}, "did you mean 'quantile'"),
        ({"strategy": "exact"}, "feature 0 has 343 distinct values, more than n_levels=256"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises((ConfigError, InputError), match=message):
        Quantizer(**parameters).fit(FLOATS)
