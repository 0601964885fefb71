"""Every check takes what is allowed and nothing next to it, and says what was expected."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from kmaps import checks
from kmaps.errors import ConfigError


@pytest.mark.parametrize("value", [0, -2, 1.5, np.float32(3), np.int64(4), Fraction(1, 3), 10**300])
def test_numbers(value):
    assert checks.is_number(value)


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), "1", None, 1j, np.nan, np.inf, -np.inf, 10**401, -(10**401)]
)
def test_what_is_no_number(value):
    assert not checks.is_number(value)
    assert not checks.is_whole(value)


TO_ONE = partial(checks.check_number, above=0, at_most=1)
FROM_ZERO = partial(checks.check_number, at_least=0, below=1, note=", or so")
FROM_ONE, ONE_TO_THREE = (partial(checks.check_whole, low=1, high=high) for high in (None, 3))
LIST, WORD = (
    partial(checks.check_whole_list, low=1),
    partial(checks.check_choice, choices=("hinge", "log")),
)
CASES = [
    (FROM_ONE, [1, 10**9, np.uint8(3)], [0, 3.0, True, "3"], "a whole number of at least 1"),
    (ONE_TO_THREE, [1, 3], [0, 4, 2.5], "a whole number from 1 to 3"),
    (LIST, [(1, 3)], [2, "12"], "a list of different whole numbers of at least 1"),
    (TO_ONE, [1, 1e-9], [0, 1.1, np.nan], "a number above 0, at most 1"),
    (FROM_ZERO, [0, 0.9], [-0.1, 1], "a number of at least 0, below 1, or so"),
    (checks.check_positive, [1e-300], [0, -1.0, np.inf, "1", True], "a positive number"),
    (WORD, ["hinge"], [None, 1, []], "'hinge' or 'log'"),
    (WORD, ["log"], ["hing"], "'hinge' or 'log', did you mean 'hinge'?"),
    (checks.check_flag, [True, np.bool_(False)], [1, "True", None], "True or False"),
]


@pytest.mark.parametrize(("check", "taken", "refused", "expected"), CASES)
def test_what_is_taken_and_refused(check, taken, refused, expected):
    for value in taken:
        check("x", value)
    for value in refused:
        with pytest.raises(ConfigError) as caught:
            check("x", value)
        assert str(caught.value) == f"x={value!r}: expected {expected}"
