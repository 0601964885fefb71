"""The time left, from what the methods took."""

import pytest

from kmaps.bench.run.runner import Tally


def seconds_left(methods, jobs, counts):
    """Return the estimates after each count of a key and its seconds."""
    seen = []
    tally = Tally(methods, jobs, seen.append)
    for key, seconds in counts:
        tally.count(key, {"status": "ok"}, seconds)
    return [state.seconds_left for state in seen]


def test_each_method_takes_what_it_took_and_others_what_all_took():
    methods = {"a": "slow", "b": "slow", "c": "quick", "d": "quick", "e": "new"}
    found = seconds_left(methods, 2, [("a", 10.0), ("c", 2.0), ("d", 1.0)])
    # slow 10, quick 2, and of what has not been seen the mean of all: 6 and then 13 / 3.
    assert found == [None, *map(pytest.approx, (40 / 2, (10 + 2 + 6) / 2, (10 + 13 / 3) / 2))]
