"""Names of columns: in every model, through every file, and in every way back in."""

import numpy as np
import pandas as pd
import pytest

import kmaps
from kmaps.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(80, 3))
Y = np.where(X[:, 0] > X[:, 2], "left", "right")
F = pd.DataFrame(X, columns=list("abc"))

MODELS = {
    "codes": kmaps.CodedSVC(),
    "regression": kmaps.CodedRidge(),
    "kernel": kmaps.KernelSVC("chi2"),
    "frequencies": kmaps.RandomFeatureSVC(n_frequencies=20, sigma=None),
    "landmarks": kmaps.LandmarkSVC(n_landmarks=9, sigma=None),
    "landmarks and width": kmaps.LandmarkSVC(n_landmarks=9, sigma="auto"),
    "kernel and width": kmaps.KernelSVCCV("exp-chi2", C=1.0),
}


@pytest.fixture(params=MODELS)
def saved(request, tmp_path):
    model = MODELS[request.param]
    model.fit(F, X[:, 0] if request.param == "regression" else Y)
    model.save(tmp_path / "m.npz")
    return model, tmp_path / "m.npz"


@pytest.mark.filterwarnings("error:X does not have valid feature names")
@pytest.mark.parametrize("load", [kmaps.load_model, kmaps.load_predictor])
def test_names_are_kept_in_files_and_compared(saved, load):
    model, path = saved
    loaded = load(path)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(loaded.predict(F), model.predict(F))
    for wrong in (F[["c", "b", "a"]], F.rename(columns={"a": "z"})):
        with pytest.raises(InputError):
            loaded.predict(wrong)


@pytest.mark.parametrize("load", [kmaps.load_model, kmaps.load_predictor])
def test_columns_on_record_are_names(tmp_path, load):
    """`kmaps train` records the columns of its file."""
    kmaps.CodedSVC().fit(X, Y).save(tmp_path / "m.npz", record={"columns": ["a", "b", "c"]})
    loaded = load(tmp_path / "m.npz")
    with pytest.raises(InputError):
        loaded.predict(F[["c", "b", "a"]])
    assert len(loaded.predict(F)) == 80


def test_what_is_on_record_need_not_be_names(tmp_path):
    kmaps.CodedSVC().fit(X, Y).save(tmp_path / "m.npz", record={"columns": ["a", 2, None]})
    assert not hasattr(kmaps.load_model(tmp_path / "m.npz"), "feature_names_in_")


def test_rows_prepared_beforehand_have_no_names():
    model = kmaps.KernelSVC("precomputed").fit(pd.DataFrame(X @ X.T).rename(columns=str), Y)
    assert len(model.feature_names_in_) == 80
    landmarks = kmaps.LandmarkSVC(n_landmarks=9, sigma=1.0).fit(F, Y)

    class Source:
        blocks = staticmethod(lambda: [X])
        sample = staticmethod(lambda: X)

    landmarks.fit(landmarks.prepare_rows(Source()), Y)
    assert not hasattr(landmarks, "feature_names_in_")


@pytest.mark.parametrize("name", ["codes", "kernel", "frequencies", "landmarks"])
def test_numbered_columns_in_another_order_are_refused(name):
    numbered = pd.DataFrame(X)
    model = MODELS[name].fit(numbered, Y)
    expected = model.predict(numbered)
    with pytest.raises(InputError, match="another order"):
        model.predict(numbered[[2, 1, 0]])
    np.testing.assert_array_equal(model.predict(X), expected)
    shifted = numbered.rename(columns={0: 10, 1: 11, 2: 12})  # other numbers say nothing
    np.testing.assert_array_equal(model.predict(shifted), expected)
