"""load_predictor: what files of models on codes predict, by NumPy alone, against the estimator."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import python
from scipy.sparse import csr_matrix

import kmaps
from kmaps.errors import ConfigError, InputError
from tests.models.test_files import change

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 7)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
WORDS = np.array(["low", "middle", "high"], object)[Y]
MANY = np.arange(90) % 8
FEW = np.where(X > 1.5, X, 0).astype(np.float32)  # codes are listed
CODES = (25 * X).astype(np.uint8)
WIDE = np.zeros((90, 300), np.float32)
WIDE[:, :7] = FEW

KINDS = {
    "exact": (kmaps.CodedSVC(), X, Y),
    "named": (kmaps.CodedSVC("js"), pd.DataFrame(X, columns=list("abcdefg")), Y),
    "few": (kmaps.CodedSVC(bias=0.0), FEW, WORDS),
    "wide": (kmaps.CodedSVC("js"), WIDE, Y),
    "float64": (kmaps.CodedSVC("hellinger"), X.astype(np.float64), Y),
    "bytes": (kmaps.CodedSVC(), CODES, Y),
    "map": (
        kmaps.CodedSVC(kmaps.HomogeneousMap(), multiclass="ovo", probability="isotonic"),
        X,
        WORDS,
    ),
    "learned": (kmaps.CodedSVC(kmaps.NystroemMap(), probability="temperature"), FEW, Y),
    "splines": (kmaps.CodedSVC(kmaps.SplineMap(), calibrate=True), X, Y > 0),
    "pairs": (kmaps.CodedSVC(multiclass="ovo", probability="sigmoid"), X, MANY),
    "sparse": (kmaps.CodedSVC(penalty="l1", loss="squared_hinge"), X, Y),
    "codes": (kmaps.CodedSVC(levels=np.arange(256.0)[None] / 25), CODES, Y),
    "svr": (kmaps.CodedSVR(), X, X[:, 0]),
    "ridge": (kmaps.CodedRidge("js"), FEW, X[:, 0]),
}
BLOCKED = ("sklearn", "scipy", "numba", "pandas", "joblib", "threadpoolctl", "psutil")
PROGRAM = f"""
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(name)

sys.meta_path.insert(0, Refusing())
import json, warnings
import numpy as np
import kmaps

warnings.simplefilter("ignore")
for name in json.loads(sys.argv[1]):
    predictor = kmaps.load_predictor(f"{{name}}.npz")
    with np.load(f"samples-{{name}}.npz") as samples:
        for kind, X in samples.items():
            found = {{"labels": predictor.predict(X)}}
            if predictor.classes_ is not None:
                found["scores"] = predictor.decision_function(X)
            if predictor._curves is not None:
                found["proba"] = predictor.predict_proba(X)
            np.savez(f"{{name}}-{{kind}}.npz", **found)
assert not [name for name in {BLOCKED} if name in sys.modules]
"""


def samples(X):
    """Return samples of all types that a model takes, by a name."""
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    if X.dtype == np.uint8:
        return {"bytes": X}
    others = np.vstack([X, 0.97 * X[:5], np.zeros((1, X.shape[1])), 3 * X[:2]])
    return {"float32": others.astype(np.float32), "float64": others.astype(np.float64)}


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    """A folder with the file of each kind, and what a process without libraries predicts."""
    folder = tmp_path_factory.mktemp("predictors")
    for name, (model, rows, y) in KINDS.items():
        model.fit(rows, y).save(folder / f"{name}.npz")
        np.savez(folder / f"samples-{name}.npz", **samples(rows))
    python("-c", PROGRAM, json.dumps(list(KINDS)), folder=folder)
    return folder


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KINDS)
def test_numpy_alone_predicts_as_the_estimator(predicted, name):
    """To the last bit."""
    model = kmaps.load_model(predicted / f"{name}.npz")
    for kind, rows in samples(KINDS[name][1]).items():
        rows = pd.DataFrame(rows, columns=list("abcdefg")) if name == "named" else rows
        with np.load(predicted / f"{name}-{kind}.npz") as found:
            np.testing.assert_array_equal(found["labels"], model.predict(rows))
            if "scores" in found:
                np.testing.assert_array_equal(found["scores"], model.decision_function(rows))
            assert ("proba" in found) == (getattr(model, "probability", None) is not None)
            if "proba" in found:
                np.testing.assert_array_equal(found["proba"], model.predict_proba(rows))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["few", "map", "ridge"])
def test_sparse_samples(predicted, name):
    model, predictor = (
        load(predicted / f"{name}.npz") for load in (kmaps.load_model, kmaps.load_predictor)
    )
    rows = csr_matrix(np.where(samples(KINDS[name][1])["float32"] > 1, X[:1], 0))
    found, expected = predictor.predict(rows), model.predict(rows)
    assert (found == expected).all() if found.dtype.kind != "f" else np.allclose(found, expected)


@pytest.mark.parametrize(
    "model",
    [
        kmaps.RandomFeatureSVC(n_frequencies=20, sigma=None),
        kmaps.LandmarkSVC(n_landmarks=9),
        kmaps.KernelSVC(),
    ],
)
def test_the_model_of_another_estimator_is_loaded(tmp_path, model):
    model.fit(X, WORDS).save(tmp_path / "m.npz")
    loaded = kmaps.load_predictor(tmp_path / "m.npz")
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_what_a_predictor_says_of_itself(predicted):
    predictor = kmaps.load_predictor(predicted / "named.npz")
    assert (predictor.estimator, predictor.n_features_in_) == ("CodedSVC", 7)
    assert predictor.classes_.tolist() == [0, 1, 2]
    assert predictor.feature_names_in_.tolist() == list("abcdefg")
    assert kmaps.load_predictor(predicted / "ridge.npz").classes_ is None
    assert kmaps.load_predictor is kmaps.models.load_predictor


REFUSED = [
    ("exact", X[:, :3], "X has 3 features, but CodedSVC is expecting 7 features as input"),
    ("exact", X[0], "X has the shape (7,): expected (samples, features)"),
    ("exact", X[:0], "X has the shape (0, 7): expected (samples, features)"),
    ("exact", np.full((1, 7), np.nan), "Input X contains NaN or infinity (the first at row 0, "),
    ("exact", X.astype(np.complex128), "X has the type complex128: expected real numbers"),
    ("exact", [["a"] * 7], "X has the type <U1: expected real numbers"),
    ("exact", np.array([[None] * 7], object), "Input X contains NaN or infinity (the first at r"),
    ("exact", np.array([["a"] * 7], object), "X: expected real numbers"),
    ("exact", np.ma.masked_greater(X, 1), "X is a masked array, and its masked values would"),
    ("named", pd.DataFrame(X, columns=list("gabcdef")), "X has other columns than the model was"),
    ("codes", X, "codes: expected uint8 of shape (n, d), got float32 of shape (90, 7)"),
]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(("name", "rows", "message"), REFUSED)
def test_samples_that_are_refused(predicted, name, rows, message):
    with pytest.raises(InputError) as caught:
        kmaps.load_predictor(predicted / f"{name}.npz").predict(rows)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_what_a_model_does_not_have(predicted):
    with pytest.raises(ConfigError, match="CodedSVC: was trained without probabilities; train"):
        kmaps.load_predictor(predicted / "exact.npz").predict_proba(X)
    with pytest.raises(ConfigError, match="CodedSVR: a regression has no scores; use predict"):
        kmaps.load_predictor(predicted / "svr.npz").decision_function(X)


def refusal(load, path):
    with pytest.raises(InputError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("exact", {"parameters": {"C": -1}}),
        ("exact", {"parameters": {"multiclass": "all"}}),
        ("exact", {"parameters": {"penalty": ["l2"]}}),
        ("exact", {"fitted": {"map": 3}}),
        ("exact", {"fitted": {"feature_names": ["a"]}}),
        ("exact", {"header": {"estimator": "CodedTree"}}),
        ("exact", {"levels": lambda a: a[:, ::-1]}),
        ("exact", {"weights": lambda a: a[:1]}),
        ("pairs", {"probability_bounds": lambda a: a[::-1]}),
        ("pairs", {"parameters": {"probability": "none"}}),
        ("svr", {"parameters": {"epsilon": "a"}}),
        ("ridge", {"parameters": {"alpha": 0}}),
        ("ridge", {"ends": lambda a: a[::-1]}),
    ],
)
def test_files_that_do_not_fit_are_refused_alike(predicted, tmp_path, name, changes):
    path = tmp_path / "m.npz"
    path.write_bytes((predicted / f"{name}.npz").read_bytes())
    change(path, **changes)
    assert refusal(kmaps.load_predictor, path) == refusal(kmaps.load_model, path)
    assert refusal(kmaps.load_predictor, path).startswith(
        (f"{path}: the model is", f"{path}: holds a")
    )
