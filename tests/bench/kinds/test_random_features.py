"""Random features: the parts of their error on record, how they fall with their number."""

from collections import defaultdict

import numpy as np
import pytest
from measured import TOLD, cells_of, measured
from spec_text import text_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.columns import cell_name
from kmaps.bench.records.row import Row
from kmaps.bench.run.runner import run

TEXT = text_of("random-features")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    return folder, run(spec.parse(TEXT), folder)


def by_row(records):
    """Return the records of each map, that of the fewest frequencies first."""
    rows = defaultdict(list)
    for record in sorted(records, key=lambda record: record["dim"]):
        rows[record["kernel"], Row.of(record).without("n_frequencies").label].append(record)
    return rows


@pytest.mark.slow
def test_the_random_part_falls_as_one_over_the_root_of_m(done):
    rows = by_row(done[1].records)
    assert len(rows) == 2 * 2 + 3
    assert {kernel for kernel, _ in rows} == {"exp-chi2", "exp-intersection", "rbf"}
    for records in rows.values():
        logs = np.log([(record["dim"], record["random_rms"]) for record in records])
        exponent = np.polyfit(*logs.T, 1)[0]
        assert exponent == pytest.approx(-0.5, abs=0.05)


@pytest.mark.slow
def test_the_additive_part_stays_and_falls_with_the_order(done):
    rows = by_row(done[1].records)
    for kernel in ("exp-chi2", "exp-intersection"):
        first, third = (rows[kernel, f"generalized-rbf order={n} structure=dense"] for n in (1, 3))
        assert first[0]["additive_rms"] == pytest.approx(first[1]["additive_rms"], rel=1e-6)
        assert first[0]["additive_rms"] > 1.5 * third[0]["additive_rms"] > 0
    rbf = rows["rbf", "random-fourier sigma=None"]
    assert {record["additive_rms"] for record in rbf} == {0}


def test_measuring_fills_the_columns_of_the_kind():
    cell = cells_of(TEXT)[0]
    assert cell_name(cell.columns) == (
        "split 0 exp-chi2 generalized-rbf order=1 structure=dense n_frequencies=64"
    )
    columns = measured(cell).columns
    assert set(columns) == {*KINDS["random-features"].shown.fills, *TOLD}
    assert (columns["n_train"], columns["n_test"], columns["n_features"]) == (60, 50, 64)
    assert columns["dim"] == 128
