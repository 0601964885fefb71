"""`kmaps explain`: the page of a model file."""

from pathlib import Path

import numpy as np
import pytest
from commands import kmaps, refused

from kmaps import CodedSVC, RandomFeatureSVC
from kmaps.models import explanation

X = np.random.default_rng(0).random((60, 4)).astype(np.float32)
Y = X[:, 0] > 0.5


@pytest.fixture(scope="module")
def model():
    return CodedSVC("chi2").fit(X, Y)


@pytest.fixture(autouse=True)
def _in_folder(_in_a_folder, model):
    model.save("model.npz")
    np.save("data.npy", X)


def test_writes_the_page_of_the_library(model):
    assert kmaps("explain", "model.npz").stdout == "model.html\n"
    assert Path("model.html").read_text() == explanation(model)
    options = "--data data.npy --row 3 --row 5 --features 2 --shape 2x2 -o page.html -q"
    assert kmaps("explain", "model.npz", *options.split()).output == ""
    expected = explanation(model, X, rows=(3, 5), n_features=2, shape=(2, 2))
    assert Path("page.html").read_text() == expected


def test_what_cannot_be_explained():
    RandomFeatureSVC(n_frequencies=5, sigma=None).fit(X, Y).save("random.npz")
    np.save("narrow.npy", X[:, :3])
    Path("old.html").write_text("old")
    for arguments, message in {
        "random.npz": "random.npz: holds RandomFeatureSVC, which is no sum of functions of single",
        "model.npz --row 3": "--row: counts the rows of --data; give --data",
        "model.npz --data data.npy --row 60": "row 60: X has 60 rows, which count",
        "model.npz --data narrow.npy": "narrow.npy has 3 columns, model.npz was trained on 4",
        "model.npz --shape 2": "--shape 2: expected height and width, such as 28x28",
        "model.npz --shape 2x3": "--shape 2x3: has 6 pixels, but the model has 4 features",
        "model.npz -o old.html": "old.html: exists already; choose another name, or pass --force",
        "model.npz -o model.npz --force": "model.npz: is the input too; choose another name",
    }.items():
        assert refused("explain", *arguments.split()).startswith(message)
    assert Path("old.html").read_text() == "old"
