"""load_model: every estimator's files, and what is refused."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kmaps import CodedSVC, HomogeneousMap, RandomFeatureSVC, load_model
from kmaps.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(90, 6)).astype(np.float32)
Y = np.digitize(X[:, 0] + X[:, 1] + RNG.normal(0, 0.2, 90), [1, 2])
WORDS = np.array(["low", "middle", "high"], object)[Y]

MODELS = {
    "words": (CodedSVC(HomogeneousMap(), multiclass="ovo"), WORDS),
    "exp-chi2": (RandomFeatureSVC(n_frequencies=80, sigma=None), Y),
    "exp-intersection": (
        RandomFeatureSVC(
            "exp-intersection", 50, order=2, multiclass="ovo", tol=1e-3, bias=0.0, sigma=None
        ),
        WORDS,
    ),
    "orthogonal": (
        RandomFeatureSVC("exp-hellinger", 50, structure="orthogonal", random_state=7, sigma=None),
        Y,
    ),
    "fastfood": (RandomFeatureSVC("rbf", 50, structure="fastfood", sigma=2, random_state=None), Y),
    "two halves": (
        RandomFeatureSVC("exp-js", 50, C=2, random_state=np.random.RandomState(3), sigma=None),
        Y > 0,
    ),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_loaded_is_what_was_saved(kind, dtype, tmp_path):
    """The same scores, to the last bit, dense and sparse."""
    model, labels = MODELS[kind]
    model.fit(X.astype(dtype), labels).save(tmp_path / "m.npz")
    loaded = load_model(tmp_path / "m.npz")
    assert type(loaded) is type(model)
    for samples in (X, X.astype(np.float64), csr_matrix(X)):
        np.testing.assert_array_equal(
            loaded.decision_function(samples), model.decision_function(samples)
        )
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.n_features_in_ == 6
    assert loaded.model_bytes_ == model.model_bytes_
    given, found = model.get_params(), loaded.get_params()
    plain = [name for name in given if name.partition("__")[0] not in ("map", "random_state")]
    assert [found[name] for name in plain] == [given[name] for name in plain]
    assert [path.name for path in tmp_path.iterdir()] == ["m.npz"]
    loaded.save(tmp_path / "again.npz")
    np.testing.assert_array_equal(
        load_model(tmp_path / "again.npz").decision_function(X), model.decision_function(X)
    )


def test_the_file_is_plain_arrays(tmp_path):
    RandomFeatureSVC("exp-js", 5, random_state=None, sigma=None).fit(X, Y).save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
        assert set(file.files) == {"header", "coef", "intercept", "classes"}
    assert (header["estimator"], header["version"]) == ("RandomFeatureSVC", 5)
    assert header["parameters"]["kernel"] == "exp-js"
    assert "random_state" not in header["parameters"]


def test_a_model_that_somebody_changed_with_care_is_a_model(tmp_path):
    model = RandomFeatureSVC("exp-js", 5, sigma=None).fit(X, Y > 0)
    model.save(tmp_path / "m.npz")
    change(tmp_path / "m.npz", coef=np.negative, intercept=np.negative)
    assert (load_model(tmp_path / "m.npz").predict(X) != model.predict(X)).all()


def test_the_model_of_another_estimator(tmp_path):
    path = tmp_path / "m.npz"
    CodedSVC().fit(X, Y).save(path)
    with pytest.raises(InputError) as caught:
        RandomFeatureSVC.load(path)
    assert str(caught.value) == (
        f"{path}: holds a model of CodedSVC, not RandomFeatureSVC; load it with kmaps.load_model"
    )
    change(path, {"estimator": "CodedTree"})
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == (
        f"{path}: holds a model of 'CodedTree', and this kmaps knows only CodedSVC, CodedSVR, "
        "CodedRidge, RandomFeatureSVC, LandmarkSVC, KernelSVC; use the kmaps that wrote it"
    )


def change(path, header=None, parameters=None, fitted=None, **changes):
    """Change parts of a model file."""
    with np.load(path) as file:
        arrays = dict(file)
    read = json.loads(arrays["header"].tobytes()) | (header or {})
    read["parameters"] |= parameters or {}
    read["fitted"] |= fitted or {}
    arrays["header"] = np.frombuffer(json.dumps(read).encode(), np.uint8)
    changed = {name: make(arrays.get(name)) for name, make in changes.items()}
    np.savez(path, **(arrays | changed))


BROKEN = [  # the arrays, then the parameters, then what was learnt
    ({"coef": lambda a: a[:, :-1]}, "coef is float32 of shape (3, 39), expected float32"),
    ({"coef": lambda a: np.full_like(a, np.nan)}, "coef has values that are not finite"),
    (
        {"intercept": lambda a: a.astype(float)},
        "intercept is float64 of shape (3,), expected float",
    ),
    ({"classes": lambda a: a[:2]}, "coef is float32 of shape (3, 40), expected float32"),
    ({"basis": lambda a: np.ones(3)}, "RandomFeatureSVC has no basis"),
    (
        {"parameters": {"multiclass": "ovo"}, "classes": lambda a: np.arange(2_000_000)},
        "coef is float32 of shape (3, 40), expected float32 of shape (1999999000000",
    ),
    *(
        ({"parameters": {name: value}}, message)
        for name, value, message in (
            ("n_frequencies", 10**15, "coef is float32 of shape (3, 40), expected float32 of"),
            ("n_frequencies", 0, "n_frequencies=0: expected a whole number of at least 1"),
            ("kernel", "chi2", "unknown kernel 'chi2', did you"),
            ("kernel", ["rbf"], "unknown kernel ['rbf']"),
            ("order", 10**9, "order=1000000000: expected a whole number"),
            ("structure", "dens", "structure='dens': expected 'dense'"),
            ("ordr", 1, "its parameters do not fit RandomFeatureSVC (ordr)"),
            ("multiclass", "all", "multiclass='all': expected 'ovr'"),
            ("loss", None, "loss=None: expected 'hinge' or 'squared_hinge'"),
            ("sigma", 3.0, "sigma is "),  # another than the one that was trained with
        )
    ),
    *(
        ({"fitted": {name: value}}, message)
        for name, value, message in (
            ("sigma", None, "sigma is None, expected the width that was trained"),
            ("sigma", -2.0, "sigma=-2.0: expected a positive number"),
            ("sigma", float("nan"), "sigma is nan, expected the"),
            ("key", "0x12", "key is '0x12', expected a whole number"),
            ("key", "9" * 20, "key=99999999999999999999: expected a"),
            ("key", 12, "key is 12, expected a text"),
            ("n_features", 0, "n_features is 0, expected a whole number"),
            (
                "n_features",
                10**12,
                "n_features is 1000000000000, expected a whole number from 1 to",
            ),
            ("n_features", 6.5, "n_features is 6.5, expected a whole"),
        )
    ),
]


@pytest.fixture
def path(tmp_path):
    """The file of a model of random features: 3 classes, 20 frequencies."""
    RandomFeatureSVC(n_frequencies=20, sigma=None).fit(X, Y).save(tmp_path / "m.npz")
    return tmp_path / "m.npz"


def assert_damaged(path, message):
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: the model is damaged: {message}")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_pieces_that_do_not_fit_are_refused(path, changes, message):
    change(path, **changes)
    assert_damaged(path, message)


@pytest.mark.parametrize(
    ("name", "value"), [("frequency_version", 7), ("map_version", 0), ("map_version", None)]
)
def test_frequencies_that_cannot_be_made_again(path, name, value):
    change(path, fitted={name: value})
    with pytest.raises(InputError) as caught:
        load_model(path)
    trained = f"{path}: was trained with {name.replace('_', ' ')} {value}, but this kmaps has "
    assert str(caught.value).startswith(trained)
    assert str(caught.value).endswith("train it again, or use the kmaps that wrote it")


def test_a_wide_model_is_loaded_without_its_width_in_memory(path):
    """Then it refuses samples of another width."""
    change(path, fitted={"n_features": 1 << 22})
    model = load_model(path)
    with pytest.raises(InputError, match=r"6 features, .*expecting 41"):
        model.predict(X)
