"""Experiment files to change, and what is wrong with one."""

from pathlib import Path

import pytest

from kmaps.bench.kinds import load as spec
from kmaps.errors import ConfigError


def text_of(name: str) -> str:
    """Return an experiment of the folder next to this file."""
    return (Path(__file__).parent / "experiments" / f"{name}.yaml").read_text()


POWERS = """\
class Powers:
    def __init__(self, power=0.5):
        self.power = power

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X**self.power
"""
"""A module of a user with a map."""

GOOD, ROWS, SMALL = map(text_of, ("small", "rows", "two-methods"))


def mistakes(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        spec.parse(text, "e.yaml")
    assert caught.value.exit_code == 2
    return str(caught.value).splitlines()


def replaced(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def refuses(message: str, text: str, old: str, new: str) -> None:
    """Assert that an experiment is refused, with words that a pattern finds, once it is changed."""
    assert old in text
    with pytest.raises(ConfigError, match=message):
        spec.parse(text.replace(old, new, 1))
