"""Model files: what comes back, and what is refused."""

import json
import shutil

import numpy as np
import pytest

from kmaps import AnchorMap, CodedSVC, SplineMap
from kmaps.errors import InputError


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
    "sigmoid": {"map": "chi2", "probability": "sigmoid"},
    "temperature": {"map": "chi2", "probability": "temperature"},
    "isotonic": {"map": "js", "probability": "isotonic", "multiclass": "ovo"},
    "weights": {
        "map": "chi2",
        "class_weight": "balanced",
        "random_state": np.random.RandomState(1),
    },
}


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] * (k == "local")) for k in KINDS]
)
@pytest.mark.parametrize("labels", [np.array([3, 1, 2]), np.array(["a", "bb", "c"], object)])
def test_what_is_saved_comes_back(samples, kind, labels, tmp_path):
    X, y = samples
    model = CodedSVC(**KINDS[kind]).fit(X, labels[y])
    model.save(tmp_path / "model.npz")
    loaded = CodedSVC.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    if model.probability:
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.model_bytes_ == model.model_bytes_
    assert loaded.n_features_in_ == 7
    parameters = loaded.get_params()
    assert parameters["C"] == model.C
    assert parameters["multiclass"] == model.multiclass
    assert str(model.map) == parameters["map"]
    with pytest.raises(InputError, match=r"6 features, .* expecting 7"):
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


def rewrite(path, **changes):
    """Replace arrays of a model file; one that is None is left out."""
    with np.load(path) as file:
        arrays = dict(file) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.fixture(scope="module")
def every_array(samples, tmp_path_factory):
    """A model that has every array: 3 classes, 7 features, tables of 9 anchors, log-odds."""
    path = tmp_path_factory.mktemp("every-array") / "model.npz"
    feature_map = KINDS["anchors of each feature"]["map"]
    CodedSVC(feature_map, calibrate=True, probability="sigmoid").fit(*samples).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    assert (arrays["weights"].shape, arrays["basis"].shape) == ((3, 7, 3), (7, 9, 3))
    assert (arrays["cells"].shape, arrays["cells"].max()) == ((7, 256), 8)
    assert arrays["ends"].shape == (2, 7)
    return path, arrays


@pytest.fixture
def saved(every_array, tmp_path):
    """A copy of its file, and the arrays in it."""
    path, arrays = every_array
    return shutil.copy(path, tmp_path / "model.npz"), dict(arrays)


def with_one(place, value):
    """Return what puts one other value into a copy of an array."""

    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


# An array, what takes its place (None: nothing) and what is said of it.
BROKEN = [
    ("weights", None, "it has no weights"),
    ("levels", None, "it has no levels"),
    ("classes", None, "it has no classes"),
    ("importance", None, "it has no importance"),
    ("probability_x", None, "it has no probability_x"),
    ("cells", None, "256 levels, but 9 rows of tables"),
    ("more", np.ones(3), "CodedSVC has no more"),
    ("weights", lambda w: w.astype(float), "weights is float64 of shape (3, 7, 3), expected float"),
    ("weights", lambda w: w.astype(">f4"), "weights is >f4 of"),
    ("weights", lambda w: w[:2], "weights is float32 of"),
    ("weights", lambda w: w[:, :6], "basis is float32 of shape (7, 9, 3), expected float32 of s"),
    ("weights", lambda w: w[:, :0], "weights is float32 of shape (3, 0"),
    ("weights", with_one((0, 0, 0), np.nan), "weights has values that are not finite"),
    ("weights", with_one((0, 0, 0), np.inf), "weights has values that are not finite"),
    ("cells", with_one((3, 4), 9), "cells has values that are not from"),
    ("cells", with_one((2, 0), 1), "cells: the row of the first level is not the first"),
    ("cells", lambda c: c[:, :9], "cells is uint8 of shape"),
    ("zero", np.array([9]), "zero has values that are not"),
    ("zero", np.array([0, 1]), "zero is int64 of shape (2,), expected"),
    ("ends", lambda e: e[:, :1], "ends is float64 of shape"),
    ("ends", lambda e: e[::-1], "ends: the low end of a range is above"),
    ("levels", lambda v: v[:, ::-1], "levels are not in ascending"),
    ("levels", lambda v: np.tile(v, (2, 1)), "levels is float64 of shape (14, 256), expected flo"),
    ("basis", np.ones((1, 9, 8), np.float32), "basis is float32 of shape (1, 9, 8), expected flo"),
    ("intercept", lambda i: i[:2], "intercept is float64 of"),
    ("calibration", lambda c: c[:, :1], "calibration is float64 of shape (3, 1), expected float"),
    ("probability_p", lambda p: p[:2], "probability_p is float64 of shape (2,), expected float64"),
    ("probability_bounds", np.array([0, 2, 2, 3]), "probability_bounds do not cut probability_x"),
    ("importance", lambda i: -i, "importance has values that are not from 0"),
    ("classes", lambda c: c[:1], "classes is int64 of shape (1,), expect"),
    ("classes", lambda c: c[[0, 1, 1]], "classes are not different labels in ascending order"),
    ("classes", np.ones((3, 1)), "classes is float64 of shape (3,"),
]


@pytest.mark.parametrize(("name", "change", "message"), BROKEN)
def test_arrays_that_do_not_fit_are_refused(saved, name, change, message):
    path, arrays = saved
    rewrite(path, **{name: change(arrays[name]) if callable(change) else change})
    with pytest.raises(InputError) as caught:
        CodedSVC.load(path)
    assert str(caught.value).startswith(f"{path}: the model is damaged: {message}")
    assert str(caught.value).endswith("; train and save it again")


def test_more_levels_than_a_code_can_tell_apart_are_refused(saved):
    path, arrays = saved
    rewrite(path, **{name: np.repeat(arrays[name], 2, axis=1) for name in ("levels", "cells")})
    with pytest.raises(InputError, match=r"512 levels, .* 256"):
        CodedSVC.load(path)


def test_every_array_is_needed_or_may_be_missing(saved, samples):
    """What is optional changes the model, and it still scores."""
    path, arrays = saved
    rewrite(path, calibration=None)
    assert CodedSVC.load(path).model_.calibration is None
    rewrite(path, weights=np.asfortranarray(arrays["weights"]), calibration=arrays["calibration"])
    scores = CodedSVC.load(path).decision_function(samples[0])
    rewrite(path, weights=arrays["weights"])
    np.testing.assert_array_equal(CodedSVC.load(path).decision_function(samples[0]), scores)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": "1"}, "C='1': expected a positive number"),
        ({"multiclass": "all"}, "multiclass='all': expected 'ovr' or 'ovo'"),
        ({"multiclass": ["ovr"]}, "multiclass=['ovr']: expected 'ovr' or 'ovo'"),
        ({"n_levels": 1e9}, "n_levels=1000000000.0: expected a whole number from 2 to 256"),
        ({"ordr": 1}, "its parameters do not fit CodedSVC (ordr)"),
        (
            {"calibrate": True, "multiclass": "ovo"},
            "calibrate=True: one-vs-one has no class scores",
        ),
    ],
)
def test_parameters_that_it_cannot_have(saved, changes, message):
    path, arrays = saved
    header = json.loads(arrays["header"].tobytes())
    header["parameters"] |= changes
    rewrite(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8))
    with pytest.raises(InputError) as caught:
        CodedSVC.load(path)
    assert str(caught.value).startswith(f"{path}: the model is damaged: {message}")
