"""kmaps encode, train and predict on a cluster, against the same commands in one process."""

import json
import os
import re
import threading
from hashlib import sha256
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from commands import kmaps, refused
from distributed import Client, LocalCluster

from kmaps import AnchorMap, LandmarkSVC, load_model
from kmaps.dask import called
from kmaps.errors import ConfigError
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


def test_the_commands_of_the_page_on_scale_run(address):
    page = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text()
    for old, new in {"zarr": "train", "parquet": "train", "npy": "new"}.items():
        os.rename(f"rows.{old}", f"{new}.{old}")
    os.remove("labels.npy")
    os.rename("labels.zarr", "y.zarr")
    da.from_array(X, (100, D)).to_zarr("new.zarr")
    [script] = re.findall(r"```python\n(from dask_jobqueue.*?)```", page, re.DOTALL)
    cluster = 'SLURMCluster(cores=8, memory="16GB")'
    script = script.partition("\n")[2].replace(cluster, repr(address))
    names = {}
    exec(script.replace("client.cluster.scale(jobs=10)", "").replace('"label"', '"kind"'), names)
    names["client"].close()
    assert written("labels.zarr").shape == (N,)
    os.remove("model.npz")
    lines = re.findall(r"^    kmaps ((?:encode|train|predict) .*--cluster) \S+", page, re.MULTILINE)
    for line in lines:
        kmaps(*line.replace("digit", "kind").split(), address)
    assert len(lines) == 3
    assert written("encoded.zarr").shape == (N, 5 * D)
    assert np.mean(np.load("labels.npy") == Y) > 0.6


@pytest.mark.parametrize("sigma", [0.5, "auto"])
def test_a_model_on_landmarks_is_the_one_in_memory(address, sigma):
    given = ["--kernel", "exp-chi2", "--n-landmarks", "30", "--sigma", sigma, "-C", 9]
    done = kmaps(
        "train", "rows.npy", "m.npz", "--labels", "labels.npy", *given, "--cluster", address
    )
    here = LandmarkSVC(n_landmarks=30, sigma=sigma, C=9.0).fit(X, Y)
    assert (
        f"300 rows of 6 features, 2 classes: 30 landmarks at sigma {here.sigma_:.3g}, "
        in done.stdout
    )
    np.testing.assert_allclose(
        load_model("m.npz").decision_function(X), here.decision_function(X), atol=1e-5
    )


def test_a_map_learns_from_all_rows_or_those_of_another_file(address):
    np.save("few.npy", X[:50])
    options = ["--map", "anchor", "--cluster", address]
    kmaps("encode", "rows.npy", "own.npy", *options)
    kmaps("encode", "rows.npy", "other.npy", "--fit-on", "few.npy", *options)
    ends = np.stack([X[:50].min(axis=0), X[:50].max(axis=0)])
    expected = AnchorMap().fit(np.concatenate([X[:50], ends])).transform(X)
    np.testing.assert_array_equal(np.load("other.npy"), expected.astype(np.float32))
    assert not np.array_equal(np.load("own.npy"), np.load("other.npy"))


@pytest.mark.parametrize("form", ["npy", pytest.param("zarr", marks=pytest.mark.slow), "parquet"])
def test_training_and_prediction(address, form):
    options = ["-C", "0.1", "--tol", "1e-3"]
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


@pytest.mark.slow
def test_words_are_labels(address):
    frame = pd.DataFrame(X, columns=COLUMNS).assign(kind=np.array(["odd", "even"])[Y])
    frame.to_parquet("words.parquet")
    options = ["--label-column", "kind", "--cluster", address]
    kmaps("train", "words.parquet", "m.npz", "--tol", "0.1", *options)
    assert load_model("m.npz").classes_.tolist() == ["even", "odd"]
    kmaps("predict", "m.npz", "words.parquet", "out.parquet", *options)
    assert set(pd.read_parquet("out.parquet")["label"]) == {"even", "odd"}
    assert "columns" in kmaps("info", "m.npz", "--json").stdout


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
    ],
)
def test_refused(address, arguments, message):
    Path("cut.npy").write_bytes(Path("rows.npy").read_bytes()[:200])
    Path("bad").mkdir()
    assert refused(*arguments.split(), "--cluster", address).startswith(message)


def test_refused_clusters(monkeypatch):
    monkeypatch.setattr("kmaps.dask.cluster._PATIENCE_S", 0.1)
    arguments = ["encode", "rows.npy", "out.npy", "--cluster"]
    expected = "expected the address of a Dask scheduler, such as tcp://host:8786, or local:N for"
    for given in ("local:0", "here", "local:two"):
        assert refused(*arguments, given).startswith(f"--cluster {given}: {expected}")
    told = refused(*arguments, "tcp://127.0.0.1:9")
    assert told.startswith("--cluster tcp://127.0.0.1:9: no Dask scheduler answers (")


@pytest.mark.parametrize("words", ["encode rows.npy o.npy", LABELLED, "run quickstart"])
def test_workers_on_another_system_are_refused(address, words, monkeypatch):
    def system():
        """Return another system on the workers' threads than on that of the command."""
        here = threading.current_thread() is threading.main_thread()
        return "Linux" if here else "Darwin"

    monkeypatch.setattr("platform.system", system)
    expected = "a worker runs on Darwin, and the command on Linux: use one system"
    assert expected in refused(*words.split(), "--cluster", address)
    with pytest.raises(ConfigError, match=expected), Client(address) as client:  # of later workers
        list(called(client, abs, [1]))


def test_a_failing_block_leaves_nothing(address):
    hurt = X.copy()
    hurt[250, 3] = np.nan
    np.save("hurt.npy", hurt)
    assert "NaN" in refused("encode", "hurt.npy", "out.npy", "--cluster", address)
