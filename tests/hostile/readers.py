"""Every reader of files from outside: whole files of its format, and how to read one."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import feather, parquet

from kmaps import CodedSVC
from kmaps.bench.kinds.load import load
from kmaps.bench.records.file import read_records
from kmaps.data.archives import read_file, read_members
from kmaps.data.formats import read_idx, read_pgm
from kmaps.data.manifest import read_manifest
from kmaps.errors import InputError
from kmaps.io import open_reader, read_blocks, read_labels, text_files
from kmaps.models import load_model, load_predictor

ROOT = Path(__file__).resolve().parents[2]

X = np.round(np.random.default_rng(0).random((7, 3)), 3).astype(np.float32)
X[X < 0.3] = 0
Y = np.array([0, 1, 2, 0, 1, 2, 0])

MANIFESTS = ("daimler", "digits", "wine")
EXPERIMENTS = ("quickstart", "annfm-figure2-heatmaps")


@dataclass(frozen=True)
class Format:
    """A format of files from outside."""

    suffix: str
    whole: list[bytes]  # files as they should be
    read: Callable[[Path], object]  # reads a file and checks what it must hold


def saved(write: Callable, *arguments, **options) -> bytes:
    file = io.BytesIO()
    write(file, *arguments, **options)
    return file.getvalue()


def read_rows(path: Path) -> None:
    """Read an array file: finite rows of one width, and finite labels, as many."""
    reader = open_reader(path)
    for rows, labels in read_blocks(reader):
        assert rows.shape[1] == reader.n_features
        assert np.isfinite(rows.data if sp.issparse(rows) else rows).all()
        assert labels is None or len(labels) == rows.shape[0]
        assert labels is None or labels.dtype.kind == "U" or np.isfinite(labels).all()
        if sp.issparse(rows):
            rows.check_format(full_check=True)


def read_text_rows(path: Path) -> None:
    """Read a text file without pandas, and with it, which must say the same."""
    large = text_files.LARGE_BLOCK
    refusals = []
    for size in (0, large):
        text_files.LARGE_BLOCK = size
        try:
            read_rows(path)
        except InputError as error:
            refusals.append(error)
    assert len({str(error) for error in refusals}) == bool(refusals)
    assert len(refusals) in (0, 2)
    if refusals:
        raise refusals[0]


def arrow_to(write: Callable, **options) -> bytes:
    file = io.BytesIO()
    columns = dict(zip("abc", X.T, strict=True))
    write(pa.table({**columns, "y": [str(label) for label in Y]}), file, **options)
    return file.getvalue()


def write_stream(table: pa.Table, file: io.BytesIO) -> None:
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def read_labelled_rows(path: Path) -> None:
    """Read a file with a column of labels, as text: as many as rows, none of them empty."""
    for rows, labels in read_blocks(open_reader(path, label_column="y")):
        assert len(labels) == rows.shape[0]
        assert labels.dtype.kind != "U" or all(labels.tolist())


def read_and_use_model(path: Path) -> None:
    """Load a model and its predictor, which refuse the same, and let them score finite numbers."""
    with suppress(InputError):
        _use(load_predictor(path))
        _use(load_model(path))
        return
    refusals = [_refusal(load, path) for load in (load_predictor, load_model)]
    assert str(refusals[0]) == str(refusals[1])
    raise refusals[0]


def _refusal(load: Callable, path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load(path)
    return caught.value


def _use(model: Any) -> None:
    scores = model.decision_function(np.zeros((2, model.n_features_in_), np.float32))
    assert np.isfinite(scores).all()


def model_file(tmp: Path) -> bytes:
    CodedSVC(n_levels=8).fit(X, Y).save(tmp / "model.npz")
    return (tmp / "model.npz").read_bytes()


def some_records() -> bytes:
    with open(ROOT / "results" / "quickstart" / "records.jsonl", "rb") as file:
        return b"".join(file.readline() for _ in range(3))


def archives() -> list[bytes]:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("a/b.jpg", "a/c.jpg"):
            member = tarfile.TarInfo(name)
            member.size = 9
            archive.addfile(member, io.BytesIO(b"some data"))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/d.jpg", b"some data" * 20)
        archive.writestr("a/e.tar.gz", gzip.compress(packed.getvalue()))
    return [packed.getvalue(), gzip.compress(packed.getvalue()), zipped.getvalue()]


def read_archive(path: Path) -> None:
    """Read all members, none of which is larger than allowed or leads elsewhere."""
    members = read_members(path, lambda name: name, 10_000, lambda done, total: None)
    assert all(len(content) <= 10_000 for content in members.values())
    assert not any(name.startswith("/") or ".." in name.split("/") for name in members)


def formats(tmp: Path) -> dict[str, Format]:
    text = "".join(",".join(map(str, row)) + "\n" for row in X.tolist())
    svm = "".join(f"{y} 1:{a} 2:{b} # c\n" for y, (a, b, _) in zip(Y, X.tolist(), strict=True))
    datasets = resources.files("kmaps.datasets")
    experiments = resources.files("kmaps.experiments")
    no_report = lambda done, total: None  # noqa: E731
    return {
        "npy": Format(".npy", [saved(np.save, X), saved(np.save, np.asfortranarray(X))], read_rows),
        "npz": Format(".npz", [saved(np.savez, X), saved(np.savez_compressed, X=X)], read_rows),
        "csr": Format(
            ".npz",
            [saved(sp.save_npz, sp.csr_matrix(X), compressed=c) for c in (False, True)],
            read_rows,
        ),
        "csv": Format(".csv", [text.encode(), ("a,b,c\n" + text).encode()], read_text_rows),
        "svm": Format(".svm", [svm.encode(), b"1 qid:3 2:5\n-1 1:2 7:1e-3\n"], read_text_rows),
        "labels": Format(
            ".npy", [saved(np.save, y) for y in (Y, Y / 2, Y.astype(str))], read_labels
        ),
        "text labels": Format(
            ".csv", [b"digit\n1\n2\n1e3\n", b'"a, b"\ncat\ncat\n1\n'], read_labels
        ),
        "csv with labels": Format(
            ".csv", [("a,b,y\n" + text).encode(), b"a,y\n1,cat\n2,dog\n"], read_labelled_rows
        ),
        "npz with labels": Format(
            ".npz", [saved(np.savez, X=X, y=Y), saved(np.savez, X=X, y=Y.astype(str))], read_rows
        ),
        "parquet": Format(
            ".parquet",
            [arrow_to(parquet.write_table), arrow_to(parquet.write_table, compression="none")],
            read_labelled_rows,
        ),
        "arrow": Format(
            ".arrow", [arrow_to(feather.write_feather), arrow_to(write_stream)], read_labelled_rows
        ),
        "model": Format(".npz", [model_file(tmp)], read_and_use_model),
        "manifest": Format(
            ".yaml", [(datasets / f"{name}.yaml").read_bytes() for name in MANIFESTS], read_manifest
        ),
        "experiment": Format(
            ".yaml", [(experiments / f"{name}.yaml").read_bytes() for name in EXPERIMENTS], load
        ),
        "records": Format(".jsonl", [some_records()], read_records),
        "archive": Format(".bin", archives(), read_archive),
        "packed": Format(
            ".gz", [gzip.compress(b"some data" * 9)], lambda path: read_file(path, 100, no_report)
        ),
        "idx": Format(
            ".idx",
            [bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + b"abcdef"],
            lambda path: read_idx(path.read_bytes(), path.name, 2),
        ),
        "pgm": Format(
            ".pgm",
            [b"P5 # six\n3 2 255 abcdef"],
            lambda path: read_pgm(path.read_bytes(), path.name, (2, 3)),
        ),
    }
