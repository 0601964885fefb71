"""kmaps encode, train and predict with the exponential kernels: files against the library."""

import json

import numpy as np
import pytest
from commands import kmaps, refused

from kmaps import GeneralizedRBFMap, LiblinearSVC, RandomFourierMap, load_model
from kmaps.models import choose_width, stratified_sample

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, size=(120, 6)).astype(np.float32)
X[X < 0.3] = 0
Y = np.digitize(X[:, 0] * X[:, 1] + RNG.normal(0, 0.05, 120), [0.3, 1])
FILES = {"in.npy": X, "y.npy": Y}


def train(*args):
    return kmaps("train", "in.npy", "m.npz", "--labels", "y.npy", *args)


@pytest.mark.parametrize("map_name", ["generalized-rbf", "random-fourier"])
def test_maps_named_as_such_and_a_chosen_c(map_name):
    options = ["--map", map_name, "-m", "80", "--sigma", "none", "--random-state", "4"]
    result = train(*options, "-C", "0.01,0.1,1", "--json", "--multiclass", "ovo")
    found = json.loads(result.stdout)
    assert [tried["C"] for tried in found["cv"]] == [0.01, 0.1, 1]
    best = max(tried["accuracy"] for tried in found["cv"])
    assert next(t["C"] for t in found["cv"] if t["accuracy"] == best) == found["C"]
    of_name = {"generalized-rbf": GeneralizedRBFMap, "random-fourier": RandomFourierMap}
    feature_map = of_name[map_name](n_frequencies=80, sigma=None, random_state=4).fit(X)
    Z = feature_map.transform(X)
    expected = LiblinearSVC(found["C"], loss="hinge", multiclass="ovo", tol=1e-6, max_iter=10**5)
    kmaps("predict", "m.npz", "in.npy", "out.npy")
    assert (np.load("out.npy") == expected.fit(Z, Y).predict(Z)).mean() > 0.98
    assert found["sigma"] == pytest.approx(feature_map.sigma_)


@pytest.mark.parametrize("landmarks", [False, True])
def test_a_width_is_chosen_on_rows_that_are_not_held_out(landmarks):
    settings = ["--n-landmarks", "20"] if landmarks else ["-m", "40"]
    options = ["--kernel", "exp-chi2", "--sigma", "auto", "-C", "1,10", "--hold-out", "0.25"]
    said = train(*options, *settings).stdout
    model = load_model("m.npz")
    assert type(model).__name__ == ("LandmarkSVC" if landmarks else "RandomFeatureSVC")
    assert (f"20 landmarks at sigma {model.sigma_:.3g}" in said) == landmarks
    X, y = np.load("in.npy"), np.load("y.npy")
    members = np.setdiff1d(np.arange(120), stratified_sample(y, 30, 0))
    model.set_params(sigma="auto", C="auto")
    choice = choose_width(model, X[members].astype(np.float32), y[members], [1.0, 10.0])
    assert model.sigma_ == pytest.approx(choice.sigma, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-m", "0"], "--n-frequencies 0: expected a whole number of at least 1"),
        (["--sigma", "-1"], "--sigma -1.0: expected a positive number"),
        (["--loss", "hing"], "--loss hing: expected 'hinge' or 'squared_hinge', did"),
        (["--map", "generalized-rbf", "--kernel", "exp-ch2"], "unknown kernel 'exp-ch2', did you"),
        (["--n-levels", "16"], "--n-levels: is not for generalized-rbf, only for coded"),
        (["--n-landmarks", "0"], "--n-landmarks 0: expected a whole number of at least 1"),
        (
            ["--kernel", "js", "--sigma", "auto"],
            "--sigma: is only for exponential kernels, su",
        ),
    ],
)
def test_bad_options_are_named(options, message):
    command = ["train", "in.npy", "m.npz", "--labels", "y.npy", "--kernel", "exp-chi2"]
    assert message in refused(*command, *options)
