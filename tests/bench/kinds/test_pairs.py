"""Pairs of samples: errors per feature against brute force, what is stored, how errors fall."""

import numpy as np
import pytest
from measured import TOLD, cells_of, measured
from spec_text import refuses, text_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.records.columns import cell_name
from kmaps.bench.work.pairs import uniform_samples

pytestmark = pytest.mark.filterwarnings("ignore:.* lie outside the range:UserWarning")

TEXT = text_of("pairs")


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
