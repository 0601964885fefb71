"""A model keeps the normalisation of its rows, and predicts on rows that are normalised alike."""

import json
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, normalize

from kmaps import CodedRidge, CodedSVC, load_model, to_onnx
from kmaps.errors import ConfigError, InputError
from kmaps.models import NormalizedRows, load_predictor
from kmaps.svm.normalization import Normalization

X = np.random.default_rng(0).random((60, 3)) * [1, 1000, 0.01] + [0, 100, 0]
Y = (X[:, 1] > 600).astype(int)
OTHERS = {
    "l1": lambda X, new: normalize(new, "l1"),
    "l2": lambda X, new: normalize(new, "l2"),
    "max": lambda X, new: MaxAbsScaler().fit(X).transform(new),
    "min-max": lambda X, new: MinMaxScaler(clip=True).fit(X).transform(new),
}


class Blocks:
    """Labelled rows in two blocks."""

    def blocks(self):
        yield X[:25]
        yield X[25:]

    def sample(self):
        return X

    def labels(self):
        return Y


@pytest.mark.parametrize("name", OTHERS)
def test_rows_are_normalised_as_by_scikit_learn(name):
    rows = NormalizedRows(Blocks(), name)
    expected = OTHERS[name](X, X)
    np.testing.assert_allclose(np.vstack(list(rows.blocks())), expected, atol=1e-15)
    new = np.array([[2.0, 5.0, 0.02], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(rows.normalization.of(new), OTHERS[name](X, new), atol=1e-15)
    if name != "min-max":
        sparse = rows.normalization.of(csr_matrix(new))
        np.testing.assert_allclose(sparse.toarray(), rows.normalization.of(new), atol=1e-15)
    else:
        with pytest.raises(InputError):
            rows.normalization.of(csr_matrix(new))


def test_a_file_keeps_the_normalisation_and_all_that_read_it_apply_it(tmp_path):
    rows = NormalizedRows(Blocks(), "min-max")
    model = CodedSVC("chi2").fit(np.vstack(list(rows.blocks())), Y)
    expected = model.decision_function(MinMaxScaler(clip=True).fit(X).transform(X))
    model.normalization_ = rows.normalization
    model.save(tmp_path / "m.npz")
    for read in (load_model, load_predictor):
        assert (read(tmp_path / "m.npz").decision_function(X) == expected).all()
    loaded = load_model(tmp_path / "m.npz")
    with pytest.raises(ConfigError):
        to_onnx(loaded)
    loaded.map = "chi2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "normalization_" not in vars(loaded.fit(X, Y))  # samples are taken as they are


@pytest.mark.parametrize(
    "change",
    [
        {"name": "none"},
        {"size": [1.0, 0.0, 1.0]},
        {"low": [0.0]},
        {"size": ["1", 1, 1]},
        {"low": None},
        {"size": [1e999, 1.0, 1.0]},
    ],
)
def test_a_damaged_normalisation_is_refused(change):
    stored = Normalization.learnt("max", X.min(axis=0), X.max(axis=0)).as_json()
    assert Normalization.from_json(json.loads(json.dumps(stored)), 3).of(X).max() == 1
    with pytest.raises(ValueError):
        Normalization.from_json(stored | change, 3)


def test_numbers_with_fractions_are_refused_as_classes_and_name_the_regressors():
    with pytest.raises(InputError, match="CodedSVR"):
        CodedSVC().fit(X, np.linspace(0, 1, 60))


def test_values_beyond_the_levels_are_warned_of_by_the_name_of_the_model():
    model = CodedRidge().fit(X, np.arange(60.0))
    with pytest.warns(UserWarning, match="CodedRidge was fitted on"):
        model.predict(2 * X)
