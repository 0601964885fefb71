"""Features by name: what is known of them before their classes are imported."""

from dataclasses import fields

import pytest

from kmaps.features import FEATURES, parameters_of


@pytest.mark.parametrize("name", FEATURES)
def test_parameters_are_the_fields_of_the_class_which_is_not_imported(name):
    assert parameters_of(name) == [field.name for field in fields(FEATURES[name])]
