"""Pairs of samples: errors per feature against brute force, what is stored, how errors fall."""

import numpy as np
import pytest
from measured import TOLD, cells_of, measured
from spec_text import refuses, text_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.records.columns import COLUMNS, cell_name
from kmaps.bench.report.laws import falls, falls_table
from kmaps.bench.run.clock import UNTIMED
from kmaps.bench.work.pairs import drawn_columns, uniform_samples
from kmaps.errors import ConfigError

pytestmark = pytest.mark.filterwarnings("ignore:.* lie outside the range:UserWarning")

TEXT = text_of("pairs")


@pytest.fixture(scope="module")
def done():
    kind, records = KINDS["pairs"], []
    for batch in kind.batches(cells_of(TEXT)):
        shared = kind.set_up(batch[0])
        for cell in batch:
            found = kind.measure(cell, shared, UNTIMED).columns
            records.append({**dict.fromkeys(COLUMNS), **cell.columns, "status": "ok", **found})
    return records


def test_errors_are_those_of_every_pair_and_feature():
    cell = cells_of(TEXT)[1]
    assert cell_name(cell.columns) == (
        "values uniform in 0.1:1 split 0 laplace anchor n_anchors=5 energy=1.0 shared=True"
    )
    columns = measured(cell).columns
    assert set(columns) == {*KINDS["pairs"].shown.fills, *TOLD}
    samples = uniform_samples("0.1:1", 400, 40, 30, split=0)
    anchors = np.linspace(samples.x_train.min(), samples.x_train.max(), 5)

    def kernel(x, y):
        return np.exp(-np.abs(x - y) / 0.25)

    def nearest(x):
        return anchors[np.abs(x[:, None] - anchors).argmin(axis=1)]

    error = np.zeros((30, 40))
    for x, y in zip(samples.x_test.T, samples.x_train.T, strict=True):
        error += kernel(nearest(x)[:, None], nearest(y)) - kernel(x[:, None], y)
    error /= 400
    found = [columns[name] for name in ("bias", "deviation", "rms", "linf")]
    expected = abs(error.mean()), error.std(), np.sqrt((error**2).mean()), np.abs(error).max()
    np.testing.assert_allclose(found, expected, rtol=4e-4)  # measured: 1.3e-4, float32
    assert columns["train_bytes"] == 40 * 400 * 3 // 8
    assert columns["dim"] == 400 * 5


def test_mean_errors_fall_with_the_spacing_and_spreads_with_the_features(done):
    found = {(fall.kernel, fall.quantity): fall for fall in falls(done)}
    assert len(found) == 2 * 3
    for kernel in ("chi2", "laplace"):
        assert found[kernel, "bias"].exponent == pytest.approx(2, abs=0.1)
        assert 1 < found[kernel, "rms"].exponent < 2  # both parts of the error are in it
        assert found[kernel, "deviation"].exponent == pytest.approx(-0.5, abs=0.04)
        assert found[kernel, "deviation"].at.tolist() == [10, 320]
    begin = [row[:3] for row in falls_table(done).rows if row[3].startswith("D^-0.5")]
    assert ["chi2", "ANNFM, N = 9", "spread of the error"] in begin
    assert not falls_table(one for one in done if one["params"]["n_anchors"] == 17).rows


def test_samples_of_a_dataset_have_their_own_split():
    text = TEXT.replace(TEXT[TEXT.index("uniform") : TEXT.index("splits")], "").replace(
        "kind: pairs",
        "kind: pairs\ndataset: {name: digits, train: 60, test: 50}\nfeatures: {normalize: l1}",
    )
    cell = cells_of(text.replace("320", "64"))[4]
    columns = measured(cell).columns
    assert (columns["n_train"], columns["n_test"], columns["n_features"]) == (60, 50, 64)
    assert columns["storage_form"] == "5-bit codes"
    assert columns["bias"] < columns["rms"] <= columns["linf"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("map: anchor", "map: sign-cauchy", "expected additive maps, sign-cauchy is none"),
        ("map: anchor, n_anchors: [5, 9, 17], energy: 1.0, shared: true", "map: homogeneous",
         "homogeneous does not take the kernel 'laplace' .these do: anchor, nystroem"),
        ("[10, 320]", "[0]", r"columns: expected whole numbers of at least 1, got \[0\]"),
        ("uniform: {", "dataset: {name: digits, train: 9}\nuniform: {",
         "expected either a dataset"),
        ("[chi2, laplace]", "[rbf]", "unknown kernel 'rbf'"),
        ("map: anchor", "map: anchors", "unknown map 'anchors', did you mean 'anchor'"),
    ],
)  # fmt: skip
def test_mistakes_are_told(old, new, message):
    refuses(message, TEXT, old, new)


def test_samples_and_features_are_drawn_for_a_split():
    samples = uniform_samples("0.1:1", 400, 40, 30, split=0)
    assert 0.1 <= samples.x_train.min() < 0.11 < 0.99 < samples.x_test.max() <= 1
    few, more, other = (drawn_columns(10, n, split=s) for n, s in ((2, 0), (4, 0), (4, 1)))
    assert set(few) < set(more) != set(other)


def test_more_features_than_there_are_is_an_error():
    cell = cells_of(TEXT.replace("320", "1000"))[-1]
    with pytest.raises(ConfigError, match="columns: 1000, but X has 400 features; choose fewer"):
        measured(cell)
