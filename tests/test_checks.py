"""Every check takes what is allowed and nothing beside it."""

from fractions import Fraction

import numpy as np
import pytest

from kmaps.checks import (
    check_choice,
    check_flag,
    check_number,
    check_positive,
    check_whole,
    check_whole_list,
    is_number,
    is_whole,
)
from kmaps.errors import ConfigError


@pytest.mark.parametrize("value", [0, -2, 1.5, np.float32(3), np.int64(4), Fraction(1, 3), 10**300])
def test_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), "1", None, 1j, np.nan, np.inf, -np.inf, 10**401, -(10**401)]
)
def test_what_is_no_number(value):
    assert not is_number(value)
    assert not is_whole(value)


def test_whole_numbers_have_limits():
    assert is_whole(np.uint8(3), 3, 3)
    for value in (2, 4, 3.0, True, "3"):
        assert not is_whole(value, 3, 3)
    check_whole("n", 10**9, 1)
    with pytest.raises(ConfigError, match=r"^n=0: expected a whole number of at least 1$"):
        check_whole("n", 0, 1)
    with pytest.raises(ConfigError, match=r"^n=9: expected a whole number from 1 to 8$"):
        check_whole("n", 9, 1, 8)
    message = r"^n=9{200}…: expected a whole number from 1 to 9223372036854775807$"
    with pytest.raises(ConfigError, match=message):
        check_whole("n", 10**401 - 1, 1)


@pytest.mark.parametrize("value", [(), (0,), (2, 2), (2, 3.0), [2, 3], 2, (2, [])])
def test_lists_of_whole_numbers(value):
    check_whole_list("cells", (1, 3), 1)
    with pytest.raises(ConfigError, match="expected a list of different whole numbers of at least"):
        check_whole_list("cells", value, 1)


def test_numbers_have_open_and_closed_limits():
    check_number("x", 1, above=0, at_most=1)
    check_number("x", 0, at_least=0, below=1)
    for value in (0, 1.1, np.nan):
        with pytest.raises(ConfigError, match=r"expected a number above 0, at most 1$"):
            check_number("x", value, above=0, at_most=1)
    for value in (-0.1, 1):
        with pytest.raises(ConfigError, match=r"expected a number of at least 0, below 1, or so$"):
            check_number("x", value, at_least=0, below=1, note=", or so")


@pytest.mark.parametrize("value", [0, -1.0, np.inf, "1", True])
def test_positive_numbers(value):
    check_positive("C", 1e-300)
    with pytest.raises(ConfigError, match=r"^C=.*: expected a positive number$"):
        check_positive("C", value)


def test_words_and_flags():
    check_choice("loss", "hinge", {"hinge": 1, "logistic": 2})
    message = r"^loss='hing': expected 'hinge', 'log' or 'square', did you mean 'hinge'\?$"
    with pytest.raises(ConfigError, match=message):
        check_choice("loss", "hing", ("hinge", "log", "square"))
    for value in (None, 1, ["hinge"], np.array(["hinge", "log"])):
        with pytest.raises(ConfigError, match="expected 'hinge' or 'log'"):
            check_choice("loss", value, ("hinge", "log"))
    check_flag("sparse", np.bool_(False))
    for value in (1, "True", None):
        with pytest.raises(ConfigError, match=r"expected True or False$"):
            check_flag("sparse", value)
