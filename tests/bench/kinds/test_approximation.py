"""Approximations: maps against kernels over ranges of values, of ratios, of differences."""

import numpy as np
import pytest
from measured import TOLD, cells_of, measured
from spec_text import text_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.arrays import read_arrays
from kmaps.bench.records.file import read_records
from kmaps.bench.records.row import Row
from kmaps.bench.run.runner import run
from kmaps.errors import ConfigError

APPROXIMATION = text_of("approximation")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("near")
    return folder, run(spec.parse(APPROXIMATION), folder)


def test_records_and_arrays(done):
    folder, outcome = done
    assert outcome.measured == len(outcome.records) == 2 * 2 * 3
    by_name = {(r["setting"], r["kernel"], Row.of(r).label): r for r in read_records(folder)}
    wide = by_name["x, y in 0:1", "chi2", "homogeneous order=2"]
    narrow = by_name["x, y in 0:0.1", "chi2", "homogeneous order=2"]
    assert narrow["linf"] == pytest.approx(wide["linf"] / 10, rel=1e-6)  # homogeneity
    assert (wide["dim"], wide["worst"][1]) == (5, 1.0)
    # Fitted on [0, 1], four bins say little about [0, 0.1].
    spline = by_name["x, y in 0:0.1", "intersection", "spline n_bins=4"]
    assert spline["rms"] > by_name["x, y in 0:1", "intersection", "spline n_bins=4"]["rms"] / 2
    arrays = read_arrays(folder, [record["key"] for record in outcome.records])
    assert len(arrays) == 12
    held = arrays[narrow["key"]]
    assert (held["values"].min(), held["values"].max()) == (0, 0.1)
    assert np.abs(held["approximate"] - held["exact"]).max() == narrow["linf"]


def test_measuring_fills_the_columns_of_the_kind():
    ratios = cells_of(APPROXIMATION.replace('"0:0.1"', '"ratios 1:9"'))
    differences = cells_of(SPANS)
    for cell in (ratios[0], ratios[-1], differences[0], differences[-1]):
        result = measured(cell)
        assert set(result.columns) == {*KINDS["approximation"].shown.fills, *TOLD}
        assert result.columns["train_peak_bytes"] is None
        assert {"values", "exact", "approximate"} <= set(result.arrays)


def test_an_infinite_relative_error_is_a_failure(tmp_path):
    """A spline is not zero at zero, where the kernel is."""
    text = APPROXIMATION.replace(', "0:0.1"', "").replace(", intersection", "")
    outcome = run(spec.parse(text + "relative: true\n"), tmp_path)
    assert [record["method"] for record in outcome.failed] == ["spline"]
    told = "ConfigError: relative: the kernel is zero at (0, 0), where the map is not"
    assert outcome.failed[0]["error"].startswith(told)
    assert len(outcome.records) == 3


SPANS = text_of("spans")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: approx", "kind: aprox", "2:7: kind: unknown kind 'aproximation', "),
        ("chi2, inter", "exp-chi2, inter", "unknown kernel 'exp-chi2'"),
        ("order:", "ordr:", "7:24: maps[0].ordr: unknown key, did you mean 'order'?"),
        ("[rbf]", "[chi2]", "range 'differences 0:2' is for stationary kernels"),
        ('"differences 0:2"', '"ratios 1:2"', "range 'ratios 1:2' is for homogeneous kernels"),
        ('"differences 0:2"', '"differences 1:2"', "4:10: ranges[0]: range 'differences 1:2'"),
        ("relation: smaller", "relation: about", "against: bound goes with relation: smaller"),
    ],
)
def test_mistakes_have_their_place(old, new, message):
    text = next(text for text in (APPROXIMATION, SPANS, ORDERS) if old in text)
    with pytest.raises(ConfigError) as refused:
        spec.parse(text.replace(old, new))
    assert message in str(refused.value)


ORDERS = text_of("orders")
