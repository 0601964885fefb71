"""load_predictor: what every kind of file predicts, by NumPy alone, against its estimator."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from commands import python
from scipy.sparse import csr_matrix
from scipy.special import gammaincinv

import kmaps
from kmaps._loops import fourier, plain
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import KERNELS
from kmaps.models.files import ESTIMATORS
from tests.models.test_files import BROKEN, change

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 7)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
WORDS = np.array(["low", "middle", "high"], object)[Y]
MANY = np.arange(90) % 8
FEW = np.where(X > 1.5, X, 0).astype(np.float32)  # codes are listed
SIGNED = (X - 1).astype(np.float32)
CODES = (25 * X).astype(np.uint8)
WIDE = np.zeros((90, 300), np.float32)
WIDE[:, :7] = FEW

KINDS = {
    "exact": (kmaps.CodedSVC(), X, Y),
    "named": (kmaps.CodedSVC("js"), pd.DataFrame(X, columns=list("abcdefg")), Y),
    "few": (kmaps.CodedSVC(bias=0.0), FEW, WORDS),
    "wide": (kmaps.CodedSVC("intersection"), WIDE, Y),
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
    "dense": (kmaps.RandomFeatureSVC(n_frequencies=80, probability="sigmoid"), X, Y),
    "orthogonal": (kmaps.RandomFeatureSVC("exp-js", 50, structure="orthogonal", order=2), X, WORDS),
    "fastfood": (kmaps.RandomFeatureSVC("rbf", 50, structure="fastfood", multiclass="ovo"), X, Y),
    "other": (kmaps.RandomFeatureSVC("exp-hellinger", 300), X.astype(np.float64), Y > 0),
    "order": (kmaps.RandomFeatureSVC("exp-intersection", 60, order=3), SIGNED, Y),
    **{
        name: (kmaps.LandmarkSVC(name, 30, sigma=None, landmarks="uniform"), SIGNED, Y)
        for name in ("exp-chi2", "exp-intersection", "exp-js", "exp-hellinger", "rbf")
    },
    "words": (kmaps.LandmarkSVC("exp-js", 20, sigma=0.5, probability="isotonic"), X, WORDS),
    **{
        f"kernel {kernel} {gamma}": (
            kmaps.KernelSVC(kernel, sigma=0.7 if "exp" in kernel else None, gamma=gamma),
            SIGNED if gamma == 1 else X,
            Y,
        )
        for kernel, gamma in [
            *[(name, 1.0) for name in (*KERNELS, "exp-chi2", "exp-js", "linear")],
            *[("chi2", 0.5), ("hellinger", 2.0), ("exp-intersection", 0.7), ("js", 1.5)],
        ]
    },
    "kernel rbf": (kmaps.KernelSVC("rbf", multiclass="ovr", probability="sigmoid"), X, WORDS),
    "kernel csr": (kmaps.KernelSVC("exp-chi2"), csr_matrix(WIDE), MANY),
    "csr": (kmaps.LandmarkSVC("exp-chi2", 30, landmarks="uniform"), csr_matrix(FEW), Y),
}
EXACT = {name for name, (model, _, _) in KINDS.items() if type(model).__name__[:5] == "Coded"}
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


def test_every_estimator_of_files_is_among_the_kinds():
    assert {type(model).__name__ for model, _, _ in KINDS.values()} == set(ESTIMATORS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KINDS)
def test_numpy_alone_predicts_as_the_estimator(predicted, name):
    """Models on codes to the last bit; measured on the others: at most 1.1e-7 of the scale."""
    model = kmaps.load_model(predicted / f"{name}.npz")
    for kind, rows in samples(KINDS[name][1]).items():
        rows = pd.DataFrame(rows, columns=list("abcdefg")) if name == "named" else rows
        with np.load(predicted / f"{name}-{kind}.npz") as found:
            close = np.testing.assert_array_equal if name in EXACT else partial(_nearly, model)
            if "scores" in found:
                close(found["scores"], model.decision_function(rows))
                assert (found["labels"] == model.predict(rows)).all()
            else:
                close(found["labels"], model.predict(rows))
            assert ("proba" in found) == (getattr(model, "probability", None) is not None)
            if "proba" in found:  # isotonic curves are steep: they multiply differences of scores
                steep = {} if name in EXACT or model.probability != "isotonic" else {"slope": 10}
                close(found["proba"], model.predict_proba(rows), **steep)


def _nearly(model, found, expected, slope=1):
    known = vars(model)
    weights = known.get("landmark_coef_", known.get("dual_coef_", np.zeros((1, 1))).T)
    scale = max(np.abs(expected).max(), abs(weights).sum(axis=1).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-7 * scale * slope)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["few", "map", "ridge", "dense", "order", "exp-js", "csr"])
def test_sparse_samples(predicted, name):
    model, predictor = (
        load(predicted / f"{name}.npz") for load in (kmaps.load_model, kmaps.load_predictor)
    )
    rows = csr_matrix(np.where(samples(KINDS[name][1])["float32"] > 1, X[:1], 0))
    found, expected = predictor.predict(rows), model.predict(rows)
    assert (found == expected).all() if found.dtype.kind != "f" else np.allclose(found, expected)


@pytest.mark.filterwarnings("ignore")
def test_many_samples_are_left_to_compiled_loops(predicted, monkeypatch):
    monkeypatch.setattr("kmaps.models.predictor._MANY", 10)
    monkeypatch.setattr("kmaps.models.predictor._MANY_TERMS", 10)
    monkeypatch.setattr("kmaps.svm.coded.model.CodedModel.plain_scores", None)
    monkeypatch.setattr("kmaps.models.predictor.kernel_values", None)
    for name in ("few", "dense", "exp-js"):
        model, predictor = (
            load(predicted / f"{name}.npz") for load in (kmaps.load_model, kmaps.load_predictor)
        )
        X = samples(KINDS[name][1])["float32"]
        np.testing.assert_array_equal(predictor.decision_function(X), model.decision_function(X))


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
    ("dense", np.full((1, 7), np.inf), "Input X contains NaN or infinity (the first at row 0, "),
    ("fastfood", np.full((1, 7), 3e38, np.float32), "values of X are too large for sigma="),
    ("rbf", np.full((1, 7), 1e300), "values as large as 1e+300 overflow the kernel matrix: sca"),
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


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_random_features_that_do_not_fit_are_refused_alike(tmp_path, changes, message):
    path = tmp_path / "m.npz"
    kmaps.RandomFeatureSVC(n_frequencies=20).fit(X[:, :6], Y).save(path)
    change(path, **changes)
    assert refusal(kmaps.load_predictor, path) == refusal(kmaps.load_model, path)


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
        ("rbf", {"parameters": {"landmarks": "all"}}),
        ("rbf", {"parameters": {"multiclass": "all"}}),
        ("rbf", {"parameters": {"n_landmarks": 3}}),
        ("rbf", {"fitted": {"sigma": 0}}),
        ("kernel rbf", {"parameters": {"gamma": 2}}),
        ("kernel rbf", {"parameters": {"solver": "none"}}),
        ("kernel chi2 1.0", {"fitted": {"sigma": 1.0}}),
        ("kernel exp-js 1.0", {"fitted": {"sigma": -1.0}}),
        ("kernel linear 1.0", {"support": lambda a: a[:-1]}),
        ("kernel csr", {"dual_coef_indptr": lambda a: a[::-1]}),
        ("csr", {"landmarks_indptr": lambda a: a[::-1]}),
        ("csr", {"landmarks_indices": lambda a: a + 7}),
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


@pytest.mark.parametrize("d", [1, 2, 5, 16])
def test_plain_loops_have_the_bits_of_the_compiled_ones(d):
    turns = RNG.normal(0, 3, (20, d)).astype(np.float32)
    for dtype in (np.float32, np.float64):
        given = turns.astype(dtype)
        outs = np.empty((2, 20, 2 * d), dtype)
        unit = dtype(0.3)
        for loops, out in zip((plain, fourier), outs, strict=True):
            assert not loops.cos_sin(given, unit, out)
        np.testing.assert_array_equal(*outs)
        given[3, 0] = np.inf
        assert plain.cos_sin(given, unit, outs[0]) == fourier.cos_sin(given, unit, outs[1]) == 1
    words = np.empty((2, 9, 4 * d), np.uint32)
    for loops, out in zip((plain, fourier), words, strict=True):
        loops.words(np.uint64(2**64 - 59), 3, np.arange(9) * 10**9, out)
    np.testing.assert_array_equal(*words)
    drawn = np.empty((2, 9, 4 * d), np.float32)
    for loops, out in zip((plain, fourier), drawn, strict=True):
        loops.normals(words[0], out)
    np.testing.assert_allclose(*drawn, rtol=1e-6, atol=1e-7)  # of logarithms: measured 3e-7


def test_quantiles_of_gamma_against_scipy():
    p = (np.r_[0, 1, RNG.integers(0, 2**32, 50), 2**32 - 2**12] + 0.5) * 2.0**-32
    for a in (0.5, 1.0, 1.5, 20.0, 588.0, 3000.5):
        np.testing.assert_allclose(
            plain.gammaincinv(a, p), gammaincinv(a, p), rtol=1e-7, atol=1e-12
        )
