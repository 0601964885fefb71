"""ONNX graphs give in onnxruntime what the models give: outputs, scores, labels, probabilities."""

import itertools

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import kmaps
from kmaps.errors import ConfigError, InputError
from kmaps.kernels import KERNELS, WIDTH_KERNELS
from kmaps.maps import MAPS, AdditiveMap

PIXELS, DIGITS = (array[:200] for array in load_digits(return_X_y=True))
WORDS = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
RNG = np.random.default_rng(0)
NEW = np.concatenate([16 * RNG.random((40, 64)), np.zeros((1, 64)), PIXELS[:40] + [[0], [3]] * 20])
DTYPES = ("float32", "float64", "uint8")


def in_turn(names, in_every_dtype=()):
    """Return each name with a type, the types in turn, and some names with every type."""
    turns = list(zip(names, itertools.cycle(DTYPES)))
    return turns + [
        (name, dtype)
        for name, dtype in itertools.product(in_every_dtype, DTYPES)
        if (name, dtype) not in turns
    ]


CLOSE = 1e-5  # of scores, which are sums of 64 numbers in single precision: 9e-6 were measured
STEEP = 1e-6  # of outputs and probabilities for the same scores: 1e-7 and 4e-7 were measured


@pytest.fixture(autouse=True)
def runtime():
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")


def run(model, X, **how):
    """Return the outputs of the graph of a model in onnxruntime, by name."""
    import onnxruntime

    graph = kmaps.to_onnx(model, dtype=str(X.dtype), **how)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X}), strict=True))


def check(model, X):
    """Compare all outputs of the graph of a model with the model; return them."""
    found = run(model, X)
    for name, values in found.items():
        expected = getattr(model, name)(X)
        expected = expected.toarray() if issparse(expected) else expected
        assert values.shape == expected.shape
        if values.dtype.kind != "f":
            assert values.tolist() == expected.tolist()
        else:
            close = CLOSE if name != "transform" or hasattr(model, "landmarks_") else STEEP
            np.testing.assert_allclose(values, expected, rtol=close, atol=close)
    return found


def scaled(X, dtype):
    """Return pixels from 0 to 1, or as they are in bytes."""
    return X.astype(dtype) if dtype == "uint8" else (X / 16).astype(dtype)


OF_MAPS = {
    **{name: MAPS[name]() for name in MAPS if issubclass(MAPS[name], AdditiveMap)},
    "js": kmaps.HomogeneousMap("js", order=3),
    "means of clusters": kmaps.AnchorMap(anchors="kmeans", n_anchors=6, n_neighbors=2),
    "lines": kmaps.AnchorMap(weights="distance", n_neighbors=2),
    "lines of clusters": kmaps.AnchorMap(
        weights="distance", n_neighbors=2, anchors="kmeans", n_anchors=6
    ),
    "stationary": kmaps.LowDimMap("rbf", sigma=5.0, low=0.0, high=16.0),
    "corners": kmaps.NystroemMap("intersection"),
    "logarithms": kmaps.NystroemMap("js"),
    "hats": kmaps.IntersectionMap(sparse=True),
    "unary": kmaps.IntersectionMap(piece="constant"),
    "steps": kmaps.SplineMap(degree=0),
    "sparse cubic": kmaps.SplineMap(degree=3, penalty=0),
    "no table": kmaps.HomogeneousMap(order=150),
    "signs": kmaps.SignCauchyMap(300, "sign"),
    "bits": kmaps.SignCauchyMap(300, "onehot"),
    **{kernel: kmaps.LandmarkMap(kernel, 50) for kernel in WIDTH_KERNELS},
}
OF_FEW_COLUMNS = {
    "pairs of columns": kmaps.MultiLowDimMap(dim=5, levels=4),
    "projections": kmaps.MultiLowDimMap(
        dim=3, method="proj", low=0.0, high=16.0, sigma=5.0, levels=4
    ),
    "harmonics": kmaps.HarmonicMap("laplace", dim=9),
    "products": kmaps.ProductMap([kmaps.HomogeneousMap("js", order=3), kmaps.AnchorMap()]),
    "products with CSR": kmaps.ProductMap(kmaps.SplineMap(n_bins=4, penalty=0)),
}


@pytest.mark.parametrize(("name", "dtype"), in_turn(OF_FEW_COLUMNS, ["products"]))
@pytest.mark.filterwarnings("ignore:.*were clamped")
def test_outputs_of_maps_of_few_columns(name, dtype):
    columns = [20, 43]
    feature_map = OF_FEW_COLUMNS[name].fit(scaled(PIXELS, dtype)[:, columns])
    assert set(check(feature_map, scaled(NEW, dtype)[:, columns])) == {"transform"}
    assert run(feature_map, scaled(NEW, dtype)[:0, columns])["transform"].shape[0] == 0


@pytest.mark.parametrize(("name", "dtype"), in_turn(OF_MAPS, ["js", "bits", "sparse cubic"]))
@pytest.mark.filterwarnings("ignore:.*were clamped")
def test_outputs_of_maps(name, dtype):
    feature_map = OF_MAPS[name].fit(scaled(PIXELS, dtype))
    assert set(check(feature_map, scaled(NEW, dtype))) == {"transform"}


def test_every_float32_finds_its_piece():
    bits = RNG.integers(0, 2**32, (20_000, 2), dtype=np.uint32).view(np.float32)
    bits = bits[np.isfinite(bits).all(axis=1)]
    feature_map = kmaps.HomogeneousMap("js", order=3).fit([[1, 1]])
    assert (run(feature_map, bits)["transform"] == feature_map.transform(bits)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_values_at_borders_have_the_same_codes(strategy, dtype):
    levels = kmaps.Quantizer(33, strategy).fit(RNG.random((500, 3)))
    between = ((levels.levels_[:, 1:] + levels.levels_[:, :-1]) / 2).T.astype(dtype)
    sides = [np.nextafter(between, between.dtype.type(end)) for end in (0, 2)]
    check(levels, np.concatenate([between, *sides]))


@pytest.mark.parametrize(("kernel", "dtype"), in_turn(KERNELS, ["chi2"]))
@pytest.mark.filterwarnings("ignore:.*were clamped")
def test_models_of_kernels(kernel, dtype):
    for y in (WORDS[DIGITS], DIGITS > 4):
        model = kmaps.CodedSVC(kernel, multiclass="ovo").fit(scaled(PIXELS, dtype), y)
        assert set(check(model, scaled(NEW, dtype))) == {"predict", "decision_function"}
    check(kmaps.CodedSVR(kernel, C=0.1).fit(scaled(PIXELS, dtype), DIGITS), scaled(NEW, dtype))


HEADS = {
    "calibrated": kmaps.CodedSVC(calibrate=True),
    "sigmoid": kmaps.CodedSVC(probability="sigmoid"),
    "temperature": kmaps.CodedSVC(probability="temperature"),
    "map": kmaps.CodedSVC(kmaps.HomogeneousMap(), multiclass="ovo", probability="sigmoid"),
    "shared rows": kmaps.CodedSVC(kmaps.AnchorMap(n_anchors=6), penalty="l1", C=0.1),
    "splines": kmaps.CodedSVC(kmaps.SplineMap(penalty=0), n_levels=20),
    "ridge": kmaps.CodedRidge(kmaps.HomogeneousMap()),
    "path": kmaps.CodedSVCCV(C=[0.1, 1.0], probability="temperature"),
    "linear": kmaps.LiblinearSVC(multiclass="ovo", probability="sigmoid"),
    "groups": kmaps.GroupLassoSVC(C=0.1),
    "random": kmaps.RandomFeatureSVC("exp-js", 50, probability="temperature", sigma=None),
    "landmarks": kmaps.LandmarkSVC("exp-js", 50, sigma=None, probability="temperature"),
    "LinearSVC": make_pipeline(kmaps.HomogeneousMap("js"), LinearSVC()),
    "logistic": make_pipeline("passthrough", kmaps.NystroemMap(), LogisticRegression(C=0.01)),
    "sparse": make_pipeline(kmaps.SplineMap(penalty=0), LogisticRegression()),
    "pipeline": make_pipeline(
        make_pipeline(kmaps.GeneralizedRBFMap(n_frequencies=50)), kmaps.LiblinearSVC()
    ),
}


@pytest.mark.parametrize(("name", "dtype"), in_turn(HEADS, ["calibrated", "sparse"]))
@pytest.mark.filterwarnings(
    "ignore:.*were clamped", "ignore::sklearn.exceptions.ConvergenceWarning"
)
def test_scores_labels_and_probabilities(name, dtype):
    for y in (DIGITS, DIGITS > 4):
        model = HEADS[name].fit(scaled(PIXELS, dtype), y)
        found = check(model, scaled(NEW, dtype))
        assert ("predict_proba" in found) == hasattr(model, "predict_proba")


def test_sigmoids_that_are_nearly_zero_for_every_class():
    """In a graph their sum was zero, and all classes had the same probability."""
    model = kmaps.LiblinearSVC(probability="sigmoid").fit(PIXELS.astype(np.float64), DIGITS)
    for factor in (20, 1e4):  # beyond 745, exp(-z) is zero in double precision, too
        X = factor * NEW.astype(np.float64)
        found, expected = run(model, X)["predict_proba"], model.predict_proba(X)
        np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE)
        assert np.ptp(expected, axis=1).min() > 0.01


@pytest.mark.parametrize(
    ("model", "whom"),
    [
        (kmaps.KernelSVC("chi2"), "KernelSVC"),
        (make_pipeline(StandardScaler(), LinearSVC()), "StandardScaler"),
        (make_pipeline("passthrough"), "Pipeline"),
    ],
)
def test_what_has_no_graph(model, whom):
    with pytest.raises(ConfigError, match=f"^{whom} has no ONNX graph: "):
        kmaps.to_onnx(model.fit(PIXELS, DIGITS > 4))


def test_other_refusals(monkeypatch):
    with pytest.raises(NotFittedError):
        kmaps.CodedSVC().to_onnx()
    with pytest.raises(InputError, match=r"datetime64\[D\]"):
        kmaps.CodedSVC().fit(PIXELS, DIGITS // 5 + np.datetime64("2026-11-24")).to_onnx()
    odd = np.array(["a", "b\ud800"])[(DIGITS > 4).astype(int)]
    with pytest.raises(InputError, match=r"lone surrogate"):
        kmaps.CodedSVC().fit(PIXELS, odd).to_onnx()
    feature_map = kmaps.HomogeneousMap(order=5).fit(PIXELS)
    with pytest.raises(ConfigError, match=r"^dtype='int8': expected"):
        feature_map.to_onnx(dtype="int8")
    monkeypatch.setattr("kmaps.onnx_graph._MOST_BYTES", 1000)
    with pytest.raises(InputError, match=r"0\.0\d? GB"):
        feature_map.to_onnx()
    monkeypatch.setattr("kmaps.maps.fitted_grid._MOST_CELLS", 10)
    with pytest.raises(InputError, match=r"^HomogeneousMap: .*ONNX"):
        feature_map.to_onnx(dtype="float64")
