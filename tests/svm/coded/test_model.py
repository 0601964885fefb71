"""Model files: what comes back, and what is refused."""

import json

import numpy as np
import pytest

from kmaps import AnchorMap, CodedSVC, SplineMap
from kmaps.errors import InputError
from kmaps.svm.model_file import write_model


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(90, 7)).astype(np.float32)
    return X, np.digitize(X[:, 0] + X[:, 1] + rng.normal(0, 0.3, 90), [1, 2])


KINDS = {
    "kernel": {"map": "chi2"},
    "one-vs-one": {"map": "js", "multiclass": "ovo", "C": np.float64(2.0)},
    "anchors of each feature": {"map": AnchorMap(n_anchors=9, anchors="kmeans")},
    "full": {"map": "intersection", "form": "full", "n_levels": np.int64(32)},
    "local": {"map": SplineMap(n_bins=20), "form": "local", "calibrate": True, "C": 0.1},
    "weights": {
        "map": "chi2",
        "class_weight": "balanced",
        "random_state": np.random.RandomState(1),
    },
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [np.array([3, 1, 2]), np.array(["a", "bb", "c"], object)])
def test_what_is_saved_comes_back(samples, kind, labels, tmp_path):
    X, y = samples
    model = CodedSVC(**KINDS[kind]).fit(X, labels[y])
    model.save(tmp_path / "model.npz")
    loaded = CodedSVC.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.model_bytes_ == model.model_bytes_
    assert loaded.n_features_in_ == 7
    parameters = loaded.get_params()
    assert parameters["C"] == model.C
    assert parameters["multiclass"] == model.multiclass
    assert str(model.map) == parameters["map"]
    with pytest.raises(InputError, match="X has 6 features, but CodedSVC is expecting 7"):
        loaded.predict(X[:, :6])


def test_a_model_of_codes_stays_one(samples, tmp_path):
    X, y = samples
    codes = np.minimum(10 * X, 40).astype(np.uint8)
    model = CodedSVC(levels=np.arange(41)).fit(codes, y)
    model.save(tmp_path / "model.npz")
    loaded = CodedSVC.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(codes), model.decision_function(codes))
    with pytest.raises(InputError, match="codes: expected uint8"):
        loaded.predict(X)


def test_the_file_is_plain_arrays(samples, tmp_path):
    CodedSVC().fit(*samples).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        arrays = set(file.files) - {"header"}
    assert arrays == {"levels", "ends", "zero", "basis", "weights", "intercept", "classes"}
    assert (header["format"], header["version"], header["map"]) == ("kmaps model", 1, "chi2")


def test_a_file_is_replaced_only_by_force(samples, tmp_path):
    model = CodedSVC().fit(*samples)
    model.save(tmp_path / "model.npz")
    with pytest.raises(InputError, match="exists already"):
        model.save(tmp_path / "model.npz")
    model.save(tmp_path / "model.npz", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


def test_labels_that_no_file_holds(samples, tmp_path):
    X, y = samples
    model = CodedSVC().fit(X, y)
    model.classes_ = np.array([1, "a", None], object)
    with pytest.raises(InputError, match="classes: of Python objects, which no model file holds"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_damaged_files(samples, tmp_path):
    path = tmp_path / "model.npz"
    CodedSVC().fit(*samples).save(path)
    whole = path.read_bytes()
    damaged = r"model\.npz: no kmaps model, or a damaged one \(cut off\?\); train and save it again"
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=damaged):
            CodedSVC.load(path)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    path.write_bytes(flipped)
    with pytest.raises(InputError, match=damaged):
        CodedSVC.load(path)
    path.write_text("not a model")
    with pytest.raises(InputError, match=damaged):
        CodedSVC.load(path)
    np.savez(path, a=np.ones(3))
    with pytest.raises(InputError, match=damaged):
        CodedSVC.load(path)
    np.save(tmp_path / "a.npy", np.ones(3))
    with pytest.raises(InputError, match="no kmaps model"):
        CodedSVC.load(tmp_path / "a.npy")
    with pytest.raises(InputError, match="cannot be read"):
        CodedSVC.load(tmp_path / "none.npz")
    with pytest.raises(InputError, match="cannot be read"):
        CodedSVC.load(tmp_path)


def test_files_of_another_kind_or_version(tmp_path):
    for header, message in (
        ({"version": 2}, "a model of version 2, this kmaps reads version 1; train it again"),
        ({"format": "other"}, "no kmaps model, or a damaged one"),
    ):
        write_model(tmp_path / "m.npz", header, {}, force=True)
        with pytest.raises(InputError, match=message):
            CodedSVC.load(tmp_path / "m.npz")


def test_a_model_without_one_of_its_arrays(samples, tmp_path):
    model = CodedSVC().fit(*samples)
    for name in ("classes", "weights"):
        model.save(tmp_path / "m.npz", force=True)
        with np.load(tmp_path / "m.npz") as file:
            arrays = {key: file[key] for key in file.files if key != name}
        np.savez(tmp_path / "m.npz", **arrays)
        with pytest.raises(InputError, match="no kmaps model, or a damaged one"):
            CodedSVC.load(tmp_path / "m.npz")
