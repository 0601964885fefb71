"""Accuracies test set by test set."""

import numpy as np

from kmaps.bench.report.by_test_set import by_test_set, has_test_sets
from tests.bench.records.published import records

DAIMLER = "levels-daimler"


def test_each_test_set_has_its_mean_and_the_spread_of_the_training_sets():
    """Combinations count test sets first: 0, 2 and 4 are of T1, 1, 3 and 5 of T2."""
    held = records()[DAIMLER]
    assert has_test_sets(held)
    table = by_test_set(held)
    mine = [r for r in held if r["kernel"] == "chi2" and r["solver"] == "coded"]
    assert [(*r["protocol"]["test"], r["split"]) for r in mine][1] == ("T1", "T2", 1)
    cells = []
    for test in (0, 1):
        values = [100 * r["accuracy"] for r in mine if r["split"] % 2 == test]
        cells.append(f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}")
    assert ["ovr chi2 homogeneous, r = 3, on codes", *cells] in table.rows
    assert table.head == ["accuracy, %; mean ± std over the training sets", "T1", "T2"]
