"""Power laws of records: errors of random maps, growth with the samples."""

import numpy as np
import pytest

from kmaps.bench.report.laws import _pairs_place, convergence, falls, falls_table, growth
from tests.bench.records.published import records as published
from tests.bench.sample_records import record


def sized(method, n, train_s=1.0, **columns):
    times = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0, "train_s": train_s}
    return record(method, size=n, n_train=n, train_peak_bytes=1000 * n, **times, **columns)


def test_exponents_are_those_of_the_largest_sizes():
    sizes = [100, 1000, 2000, 4000, 8000]
    # What is the same for every size hides the growth of the smallest one.
    records = [sized("exact", n, train_s=5.0 if n == 100 else 3e-6 * n**1.8) for n in sizes]
    records += [sized("exact-coded", n) for n in sizes[:1]]
    records += [sized("linear", n, status="failed") for n in sizes]
    rows = growth(reversed(records))
    assert list(rows) == ["exact on codes", "exact"]
    law = rows["exact"]["time"]
    assert law.exponent == pytest.approx(1.8)
    assert law.value(16000) == pytest.approx(3e-6 * 16000**1.8)
    np.testing.assert_array_equal(law.at, sizes)
    assert np.isnan(rows["exact on codes"]["time"].exponent)


@pytest.mark.parametrize(
    ("run", "start"), [("scaling-mnist", "homogeneous"), ("lac-scaling-mnist", "spline")]
)
def test_libsvm_falls_behind_additive_maps_as_n_grows(run, start):
    """Each time the images double, LIBSVM's time is a larger multiple of the map's."""
    rows = {name: laws["time"] for name, laws in growth(published()[run]).items()}
    exact = rows.pop("exact")
    additive = [row for name, row in rows.items() if name.startswith(start)]
    assert len(additive) == 2
    for row in additive:
        assert list(row.at[: len(exact.at)]) == list(exact.at)
        ratios = exact.values / row.values[: len(exact.at)]
        # By 1.11 at least from 1,000 images to 2,000, where calls cost the most, then by 1.59.
        assert (ratios[1:] > ratios[:-1]).all()
        assert exact.exponent - row.exponent > 0.5  # 2.13 at least, 1.24 at most


@pytest.mark.parametrize(
    ("params", "columns", "place"),
    [
        ({"n_anchors": 2}, None, 1.0),
        ({"n_anchors": 5}, None, 0.25),
        ({"n_anchors": 5}, 16, 16),
        ({"n_anchors": 1}, None, None),
        ({"n_anchors": 5, "anchors": "kmeans"}, None, None),
        ({"order": 1}, None, None),
    ],
)
def test_errors_of_pairs_fall_with_the_features_or_the_spacing_of_anchors(params, columns, place):
    found = _pairs_place(record("anchor", params=params, options={"columns": columns}))
    assert (found and found[2]) == place


def test_a_row_of_falls_has_both_ends():
    records = published()["annfm-theorem1"]
    lines = falls_table(records).rows
    assert len(lines) > 0
    for line, fall in zip(lines, falls(records), strict=True):
        assert line[-2].startswith(f"{fall.values[0]:.3g} at ")
        assert line[-1].startswith(f"{fall.values[-1]:.3g} at ")


def test_a_map_without_outputs_converges_to_nothing():
    assert convergence([record("generalized-rbf", dim=dim, rms=0.1) for dim in (None, 1)]) == []
