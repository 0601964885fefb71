"""``kmaps features``."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from commands import kmaps, refused
from PIL import Image
from sklearn.datasets import load_svmlight_file

from kmaps.cli.features import _spread_rows
from kmaps.data import load_dataset
from kmaps.features import extract


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path_factory.mktemp("cache")))


def run(*words, **options):
    return kmaps("features", *words, **options)


def test_a_file_and_an_image():
    done = run("digits", "--features", "hog-pyramid", "--set", "cells=[4,2]", "--show", "3")
    assert done.stdout.splitlines() == [
        "digits: hog-pyramid, 1,797 × 576, digits-hog-pyramid.npz",
        "digits: 3 images with their features, digits-hog-pyramid.png",
    ]
    X = np.load("digits-hog-pyramid.npz")["X"]
    expected = extract(load_dataset("digits"), "hog-pyramid", cells=[4, 2])
    np.testing.assert_array_equal(X, expected)
    drawn = np.asarray(Image.open("digits-hog-pyramid.png").convert("L"))
    assert min(drawn.shape) > 400
    assert (drawn < 128).mean() > 0.02


@pytest.fixture
def photos():
    """Images of two classes, in folders and in a list."""
    rng = np.random.default_rng(0)
    lines = ["file,kind"]
    for name in ("ant", "bee"):
        Path("photos", name).mkdir(parents=True)
        for k in range(8):
            values = rng.integers(0, 60, (16, 16)).astype(np.uint8)
            values[:: 4 if name == "ant" else 1, :: 4 if name == "bee" else 1] += 100
            Image.fromarray(values).save(f"photos/{name}/{k}.png")
            lines.append(f"photos/{name}/{k}.png,{name}")
    Path("list.csv").write_text("\n".join(lines) + "\n")


def test_images_of_one_s_own_to_a_model(photos):
    run("photos", "--features", "hog-pyramid", "--set", "cells=[4]")
    columns = ["--image-column", "file", "--label-column", "kind", "--set", "cells=[4]"]
    run("list.csv", "--features", "hog-pyramid", *columns)
    folder, listed = (np.load(f"{name}-hog-pyramid.npz") for name in ("photos", "list"))
    np.testing.assert_array_equal(folder["X"], listed["X"])
    assert folder["y"].tolist() == listed["y"].tolist() == ["ant"] * 8 + ["bee"] * 8
    # No further flag: the labels are next to the features.
    run("photos", "--features", "hog-pyramid", "--out", "photos.csv")
    assert Path("photos.csv").read_text().splitlines()[1].endswith(",ant")
    kmaps("train", "photos-hog-pyramid.npz", "m.npz")
    told = kmaps("evaluate", "m.npz", "list-hog-pyramid.npz").stdout
    assert told.startswith("accuracy 100.00 % (16 of 16)\n")
    assert "\nant " in told


def test_features_on_standard_output(photos):
    settings = ["--set", "patches=[8]", "--set", "words=3"]
    words = ["photos", "--features", "dense-sift-bow", *settings]
    done = run(*words, "--out", "-")
    assert "0 ant, 1 bee" in done.stderr
    assert "16 × 63, -" in done.stderr
    run(*words, "--out", "p.svm", "-q")
    run(*words, "--out", "p.parquet", "-q")
    sent = run(*words, "--out", "-", "--output-format", "parquet").stdout_bytes
    assert sent == Path("p.parquet").read_bytes()
    assert done.stdout == Path("p.svm").read_text()
    _, y = load_svmlight_file("p.svm")
    assert y.tolist() == [0] * 8 + [1] * 8


@pytest.mark.parametrize("features", ["intensity", "phog", "dense-sift-bow"])
def test_every_kind_can_be_drawn(photos, features):
    settings = ["--set", "patches=[4]", "--set", "words=5"] if features == "dense-sift-bow" else []
    run("photos", "--features", features, *settings, "--show", "2", "--out", "x.npz")
    assert Image.open("x.png").size[0] > 400 < Path("x.svg").stat().st_size


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("digits --features hog", "unknown features 'hog', did you mean 'phog'?"),
        ("digit --features phog", "unknown dataset 'digit', did you mean 'digits'?"),
        ("digits --features phog --set edges", "--set edges: expected KEY=VALUE"),
        ("digits --features phog --set edge=1", "did you mean 'edges'?"),
        ("digits --features phog --set edges=2", "edges=2: expected a number of at least 0, below"),
        ("digits --features phog --normalize l9", "unknown normalisation 'l9'"),
        ("digits --features phog --out x.jpg", "unknown format 'jpg'"),
        ("digits --features phow --protocol {", "--protocol: is not JSON"),
        ("digits --features phow --protocol 3", "expected a JSON object, got 3"),
        ("digits --features phow --skip-bad --protocol FEW", "no training image can be used"),
        ("wine --features intensity", "wine: is a table, whose columns are the features; expected"),
    ],
)
def test_mistakes_are_one_line(words, message):
    few = '{"train": 20, "test": 10}'
    given = [few if word == "FEW" else word for word in words.split()]
    assert message in refused("features", *given)


def test_no_file_is_replaced_and_options_for_the_user_s_images_are_named():
    words = ["features", "digits", "--features", "intensity", "--out", "x.npz"]
    assert refused(*words, "--background", "black").startswith("--background: ")
    assert refused(*words, "--white", "255").startswith("--white: ")
    for name in ("x.npz", "x.svg"):
        Path(name).touch()
        assert refused(*words, "--show", "2").startswith(f"{name}: exists already")
        Path(name).unlink()


def test_the_images_shown_are_from_the_first_class_to_the_last():
    of_two_classes = SimpleNamespace(y=np.array([1, 0, 1, 0, 1]))
    assert _spread_rows(of_two_classes, 2, bad=set()) == [1, 4]
    assert _spread_rows(of_two_classes, 9, bad={4}) == [1, 3, 0, 2]
