"""Growth with the number of samples: power laws fitted to records, and their table."""

import numpy as np
import pytest

from kmaps.bench.report.growth import growth, growth_table
from tests.bench.records.published import records as published
from tests.bench.sample_records import record

TIMES = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0, "train_s": 1.0}


def sized(method, n, **columns):
    sizes = {"size": n, "n_train": n, "train_peak_bytes": 1000 * n}
    return record(method, reduction="ovr", **{**TIMES, **sizes, **columns})


def test_exponents_are_those_of_the_largest_sizes():
    sizes = [100, 1000, 2000, 4000, 8000]
    # What is the same for every size hides the growth of the smallest one.
    records = [sized("exact", n, train_s=5.0 if n == 100 else 3e-6 * n**1.8) for n in sizes]
    records += [sized("exact-coded", n) for n in sizes[:1]]
    records += [sized("linear", n, status="failed") for n in sizes]
    rows = growth(reversed(records), "time")
    assert [row.name for row in rows] == ["exact on codes", "exact"]
    assert rows[1].exponent == pytest.approx(1.8)
    assert rows[1].at(16000) == pytest.approx(3e-6 * 16000**1.8)
    np.testing.assert_array_equal(rows[1].sizes, sizes)
    assert np.isnan(rows[0].exponent)


def test_solvers_and_kernels_are_rows_of_their_own():
    records = [
        sized("homogeneous", n, solver=solver, kernel=kernel)
        for n in (100, 200)
        for solver in ("liblinear", "coded")
        for kernel in ("chi2", "js")
    ]
    assert [row.name for row in growth(records, "time")] == [
        *("homogeneous, LIBLINEAR, chi2", "homogeneous, LIBLINEAR, js"),
        *("homogeneous, on codes, chi2", "homogeneous, on codes, js"),
    ]


def test_table_has_the_largest_size_of_each_row():
    records = [
        sized("exact", n, train_s=n / 2e3, convert_s=n / 2e3, accuracy=n / 1e4)
        for n in (1000, 2000, 4000)
    ]
    unmeasured = sized("linear", 1000, train_peak_bytes=None)
    assert growth_table([*records, unmeasured]).splitlines()[2:] == [
        "| exact | 4,000 | 40.00 | 4.00 | 2.00 | n^1.00 | 4.00 | n^1.00 |",
        "| linear | 1,000 | 90.00 | 1.00 | 0 | n^nan |  |  |",
    ]


@pytest.mark.parametrize(
    ("run", "start"), [("scaling-mnist", "homogeneous"), ("lac-scaling-mnist", "spline")]
)
def test_libsvm_falls_behind_additive_maps_as_n_grows(run, start):
    """Each time the images double, LIBSVM's time is a larger multiple of the map's."""
    rows = {row.name: row for row in growth(published()[run], "time")}
    exact = rows.pop("exact")
    additive = [row for name, row in rows.items() if name.startswith(start)]
    assert len(additive) == 2
    for row in additive:
        assert list(row.sizes[: len(exact.sizes)]) == list(exact.sizes)
        ratios = exact.values / row.values[: len(exact.sizes)]
        # By 1.11 at least from 1,000 images to 2,000, where calls cost the most, then by 1.59.
        assert (ratios[1:] > ratios[:-1]).all()
        assert exact.exponent - row.exponent > 0.5  # 2.13 at least, 1.24 at most
