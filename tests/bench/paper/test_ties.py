"""Rows next to one of them: which are tied with the best, and differences with intervals."""

import numpy as np
import pytest

from kmaps.bench.paper.row_differences import difference_tables
from kmaps.bench.paper.ties import ties
from kmaps.errors import ConfigError
from tests.bench.sample_records import again, record

NOISE = np.random.default_rng(0).normal(0, 0.004, 9)
BEST = [record("exact", i, accuracy=0.9) for i in range(9)]
CLOSE = [record("anchor", i, accuracy=0.899 + noise) for i, noise in enumerate(NOISE)]
WORSE = [record("linear", i, kernel="", accuracy=0.88 + noise) for i, noise in enumerate(NOISE)]


def test_a_row_is_tied_where_its_interval_contains_no_difference():
    tied = ties({})
    assert tied(CLOSE, BEST, "accuracy")
    assert not tied(WORSE, BEST, "accuracy")


def test_times_are_tied_by_the_ratio_of_their_repeats():
    [fast], [slow], [as_fast] = (
        [again(record(name, 0), *seconds)]
        for name, seconds in (
            ("exact", (1.0, 1.1, 0.9, 1.05)),
            ("anchor", (2.0, 2.1, 2.2, 1.9)),
            ("nystroem", (1.02, 0.95, 1.12, 1.0)),
        )
    )
    tied = ties({})
    assert tied([as_fast], [fast], "train")
    assert not tied([slow], [fast], "train")
    assert not tied([record("anchor", 0)], [fast], "train")  # timed once: there is no interval


def test_each_row_has_its_difference_to_the_chosen_one():
    [table] = difference_tables([*BEST, *CLOSE, *WORSE], ["accuracy"], "exact", {})
    rows = {row[0]: row[1:] for row in table.rows}
    mean = 100 * (0.899 - 0.9 + NOISE.mean())
    value, difference, interval = rows["ovo chi2 ANNFM"]
    assert value.startswith(f"{90 + mean:.2f}")
    assert difference == f"{mean:+.2f} points"
    low, high = map(float, interval.split(" to "))
    assert low < mean < high
    assert rows["ovo chi2 exact"][1:] == ["", ""]
    assert float(rows["ovo linear"][1].split()[0]) == pytest.approx(mean - 1.9, abs=0.02)
    with pytest.raises(ConfigError, match="exact"):
        difference_tables(BEST, ["accuracy"], "exat", {})
