"""kmaps encode, train and predict on a cluster, against the same commands in one process."""

import json
import os
from hashlib import sha256
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from commands import kmaps, refused
from distributed import LocalCluster

from kmaps import load_model
from kmaps.io import data_digest

N, D = 300, 6
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
X = RNG.gamma(1 + 0.5 * (np.arange(D) % 2 == Y[:, None])).astype(np.float32)
COLUMNS = [f"bin{j}" for j in range(D)]


@pytest.fixture(scope="module")
def address():
    """The address of a cluster of two threads of this process."""
    with LocalCluster(
        processes=False, protocol="tcp", n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def _in_folder(_in_a_folder, monkeypatch):
    """Rows as a file and as folders, each in several blocks."""
    monkeypatch.setattr("kmaps.dask.chunks._BLOCK_VALUES", 100 * D)
    np.save("rows.npy", X)
    np.save("labels.npy", Y)
    da.from_array(X, (100, D)).to_zarr("rows.zarr")
    da.from_array(Y, 100).to_zarr("labels.zarr")
    frame = pd.DataFrame(X, columns=COLUMNS).assign(kind=Y)
    dd.from_pandas(frame, chunksize=100).to_parquet("rows.parquet", write_index=False)


def written(path):
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".zarr"):
        return da.from_zarr(path).compute()
    return pd.read_parquet(path)


@pytest.mark.parametrize("form", ["npy", "zarr", "parquet"])
def test_rows_are_mapped_as_in_one_process(address, form):
    kmaps("encode", "rows.npy", "here.npy", "--order", 2)
    options = ["--label-column", "kind"] if form == "parquet" else []
    kmaps("encode", f"rows.{form}", f"there.{form}", "--order", 2, *options, "--cluster", address)
    found = written(f"there.{form}")
    if form == "parquet":
        assert found.columns[0].startswith("bin0_")
        assert (found.pop("label") == Y).all()
        found = found.to_numpy()
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.load("here.npy"))
    assert not [name for name in os.listdir() if name.endswith(".part")]


@pytest.mark.parametrize("form", ["npy", pytest.param("zarr", marks=pytest.mark.slow), "parquet"])
def test_training_and_prediction(address, form):
    options = ["-C", "0.1", "--tol", "1e-4"]
    labels = ["--label-column", "kind"] if form == "parquet" else ["--labels", f"labels.{form}"]
    rows, there = f"rows.{form}", ["--cluster", address]
    told = kmaps("train", rows, "there.npz", *labels, *options, *there).stdout
    assert told.startswith("300 rows of 6 features, 2 classes: ")
    kmaps("train", "rows.npy", "here.npz", "--labels", "labels.npy", *options)
    said = json.loads(kmaps("info", "there.npz", "--json").stdout)["record"]["blocks_sha256"]
    parts = [slice(start, start + 100) for start in range(0, N, 100)]
    digests = [data_digest(X[part], Y[part]) for part in parts]
    assert said == sha256("\n".join(digests).encode()).hexdigest()
    models = load_model("there.npz"), load_model("here.npz")
    np.testing.assert_array_equal(models[0].levels_, models[1].levels_)
    difference = models[0].decision_function(X) - models[1].decision_function(X)
    assert np.abs(difference).max() < 0.1  # of scores up to 3; measured 0.03
    told = kmaps("predict", "there.npz", rows, f"labels-there.{form}", *labels, *there).stdout
    found = written(f"labels-there.{form}")
    found = found["label"].to_numpy() if form == "parquet" else found
    expected = models[0].predict(X)
    np.testing.assert_array_equal(found, expected)
    right = (expected == Y).sum()
    assert told == f"accuracy {100 * right / N:.2f} % ({right} of {N})\n"


LABELLED = "train rows.npy m.npz --labels labels.npy "


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("encode rows.npy out.csv", "out.csv: on a cluster the name of OUT ends in .npy, .zarr"),
        ("encode rows.npy rows.zarr", "rows.zarr: exists already; folders are never replaced"),
        ("encode rows.npy labels.npy", "labels.npy: exists already; choose another name"),
        ("encode labels.npy out.npy", "labels.npy: holds an array of shape (300,), expected rows"),
        ("encode cut.npy out.npy", "cut.npy: truncated: 200 bytes, its header promises 7,"),
        ("encode bad out.npy", "bad: is neither a Zarr folder nor Parquet ("),
        ("encode rows.npy o.npy --codes", "--codes: not with --cluster; leave it out"),
        ("train rows.npy m.npz", "rows.npy: holds no labels; name a file with --labels"),
        ("train rows.parquet m.npz", "rows.parquet: name the column that has the labels"),
        (
            "train rows.parquet m.npz --label-column king",
            "--label-column king: expected one of bin0, bin1",
        ),
        (LABELLED + "-C 1,2", "-C: give one value with --cluster; choose it on a part of the rows"),
        (LABELLED + "--smooth 5", "--smooth 5.0: not for clusters; leave it out"),
        (LABELLED + "--folds 3", "--folds: not with --cluster; leave it out"),
        (LABELLED + "--keep-large", "--keep-large: not with --cluster; leave it out"),
    ],
)
def test_refused(address, arguments, message):
    Path("cut.npy").write_bytes(Path("rows.npy").read_bytes()[:200])
    Path("bad").mkdir()
    assert refused(*arguments.split(), "--cluster", address).startswith(message)


def test_a_failing_block_leaves_nothing(address):
    hurt = X.copy()
    hurt[250, 3] = np.nan
    np.save("hurt.npy", hurt)
    assert "NaN" in refused("encode", "hurt.npy", "out.npy", "--cluster", address)
