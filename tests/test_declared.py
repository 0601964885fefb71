"""What is read from a class's source is what importing it gives."""

import inspect
from dataclasses import fields

import pytest

from kmaps.declared import declared
from kmaps.features import FEATURES
from kmaps.maps import MAPS, place_of


@pytest.mark.parametrize("name", MAPS)
def test_maps_say_the_same_without_being_imported(name):
    cls, told = MAPS[name], declared(place_of(name))
    signature = inspect.signature(cls).parameters
    assert told.parameters == {key: one.default for key, one in signature.items()}
    assert (told.name, told.attributes["source"]) == (cls.__name__, cls.source)
    assert told.doc == inspect.cleandoc(cls.__doc__)
    itself = declared(cls)
    assert (itself.parameters, itself.doc, itself.name) == (told.parameters, told.doc, told.name)
    assert itself.attributes["source"] == cls.source


@pytest.mark.parametrize("name", FEATURES)
def test_features_say_the_same_without_being_imported(name):
    cls, told = FEATURES[name], declared(FEATURES.places[name])
    assert (
        declared(cls).fields == told.fields == {field.name: field.default for field in fields(cls)}
    )
    assert list(told.fields) == [field.name for field in fields(cls)]
    assert told.attributes["name"] == cls.name == name
    assert told.doc == inspect.cleandoc(cls.__doc__)


def test_a_class_that_is_not_there():
    with pytest.raises(LookupError, match=r"no class NoMap in kmaps.maps.spline"):
        declared("kmaps.maps.spline.NoMap")
