"""Docstrings of the public classes say when to use which, point to others, and have an example."""

import inspect
import re

import pytest

import kmaps

CLASSES = [name for name in kmaps.__all__ if inspect.isclass(getattr(kmaps, name))]


def section(text, title):
    """Return the lines of a section of a numpydoc docstring."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", text, re.M | re.S)
    return found[1].strip().splitlines() if found else []


@pytest.mark.parametrize("name", CLASSES)
def test_when_to_use_which(name):
    text = inspect.getdoc(getattr(kmaps, name))
    before = text.split("\nParameters\n")[0]
    assert re.search(r"^(Use it (for|where) |It is the first choice for )", before, re.M)
    assert any(line.startswith(">>>") for line in section(text, "Examples"))
    others = [line.split(" : ") for line in section(text, "See Also")]
    assert others
    assert all(len(pair) == 2 and pair[1].endswith(".") for pair in others)
    for other, _ in others:
        home, _, own = other.removeprefix("kmaps.").rpartition(".")
        assert other != name
        assert hasattr(getattr(kmaps, home) if home else kmaps, own), other


def test_the_classes_are_all_there():
    assert {"CodedSVC", "HomogeneousMap", "Quantizer", "TableKernel"} <= set(CLASSES)
