"""Every command that writes files: what it needs, how it is given, and what it must leave."""

import gzip
import hashlib
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.records.file import read_records
from kmaps.bench.records.times import read_times
from kmaps.data import tree_digest

EXPERIMENT = """\
experiment: small
about: Something small.
dataset: {name: digits, train: 120, test: 80}
kernels: [chi2]
reductions: [ovr]
baselines: [linear, exact-coded]
maps: [{map: homogeneous, order: 1}]
C: 1
"""
Found = dict[str, object]


def files(folder: Path) -> Found:
    """Return the bytes of every file in a folder, by its path, but what a cache keeps apart."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("stamp.json", "lock")
    }


def _measured(name: str) -> bool:
    """Return whether a column of a record differs between two runs."""
    return name.endswith(("_s", "peak_bytes")) or name in (
        *("started", "load_before", "load_after", "other_cpus", "stolen_cpus", "warnings"),
        *("command", "commit", "dirty", "error", "traceback"),
    )


def records(folder: Path) -> Found:
    """Return what the records of a run hold, times aside, and what stands beside them."""
    judged = [name for name in COLUMNS if not _measured(name)]
    found = {
        record["key"]: json.dumps([record[name] for name in judged])
        for record in read_records(folder / "runs")
    }
    beside = {name: content for name, content in files(folder).items() if "jsonl" not in name}
    return found | beside


def times(folder: Path) -> Found:
    """Return what was timed, times aside, and the records beside."""
    lines = [(line["key"], line["repeat"], line["common"]) for line in read_times(folder / "runs")]
    assert len(set(lines)) == len(lines), "a repeat is there twice"
    return records(folder) | {f"repeat {line}": True for line in lines}


@dataclass(frozen=True)
class Writing:
    """A command that writes files.

    Attributes
    ----------
    arguments : list of str
        In a folder with what :func:`prepare` makes.
    target : str
        The file that is replaced, with ``--force``, when it is there; empty for none.
    found : callable
        What must be alike after any fault and another try.
    prepared_by : list of list of str
        Commands that come before it.
    after : list of str
        What the arguments of another try have more.
    """

    arguments: list[str]
    target: str = ""
    found: Callable[[Path], Found] = files
    prepared_by: tuple[list[str], ...] = ()
    after: tuple[str, ...] = ()


_TRAIN = ["train", "train.npy", "model.npz", "--labels", "labels.npy", "--quiet"]
_RUN = ["run", "small.yaml", "--out", "runs", "--quiet"]

COMMANDS = {
    "download": Writing(["download", "tiny", "--mirror", "mirror"]),
    "features": Writing(
        ["features", "photos", "--features", "hog-pyramid", "--out", "f.npz"], "f.npz"
    ),
    "encode": Writing(["encode", "train.npy", "out.npz", "--quiet"], "out.npz"),
    "train": Writing(_TRAIN, "model.npz"),
    "predict": Writing(
        ["predict", "model.npz", "train.npy", "out.npz", "--scores"], "out.npz", files, (_TRAIN,)
    ),
    "evaluate": Writing(
        ["evaluate", "model.npz", "train.npy", "--labels", "labels.npy", "--confusion", "c.csv"],
        "c.csv",
        files,
        (_TRAIN,),
    ),
    "explain": Writing(
        ["explain", "model.npz", "--out", "page.html"], "page.html", files, (_TRAIN,)
    ),
    "table": Writing(
        ["table", "runs", "--out", "t.csv", "--format", "csv"], "t.csv", files, (_RUN,)
    ),
    "plot": Writing(["plot", "runs", "--out", "front.svg"], "front.svg", files, (_RUN,)),
    "report": Writing(["report", "runs"], "runs/README.md", files, (_RUN,)),
    "run": Writing(_RUN, "", records, (), ("--retry-failed",)),
    "time": Writing(
        ["time", "runs", "--repeats", "2", "--even-if-busy", "--quiet"], "", times, (_RUN,)
    ),
}


def prepare(folder: Path) -> None:
    """Write what commands read: rows and labels, images, a dataset's mirror, an experiment."""
    random = np.random.default_rng(0)
    X = np.round(random.random((300, 8)), 3).astype(np.float32)
    np.save(folder / "train.npy", X)
    np.save(folder / "labels.npy", X[:, :3].argmax(axis=1))
    (folder / "small.yaml").write_text(EXPERIMENT)
    for number in range(6):
        image = folder / "photos" / "ab"[number % 2] / f"{number}.png"
        image.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(random.integers(0, 255, (32, 32), np.uint8)).save(image)
    _write_dataset(folder)


def _write_dataset(folder: Path) -> None:
    """Write a dataset of five images of 2 × 3 pixels: a mirror and its manifest."""
    (folder / "mirror" / "tiny").mkdir(parents=True)
    sources = []
    for role, sizes in {
        **{"train-images": (3, 2, 3), "train-labels": (3,)},
        **{"test-images": (2, 2, 3), "test-labels": (2,)},
    }.items():
        head = bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
        content = head + bytes(i % 2 for i in range(int(np.prod(sizes))))
        packed = gzip.compress(content, mtime=0)
        (folder / "mirror" / "tiny" / f"{role}.gz").write_bytes(packed)
        digest = hashlib.sha256(content).hexdigest()
        sources.append(
            {"role": role, "path": f"tiny/{role}.gz", "sha256": digest, "size": len(content)}
        )
    manifest = {
        **{"name": "tiny", "title": "Five images", "licence": "none", "citation": "none"},
        **{"homepage": "https://example.org", "format": "idx", "classes": ["no", "yes"]},
        **{"groups": ["train", "test"], "shape": [2, 3], "n_samples": 5},
        "protocol": {"official": True},
        "digest": tree_digest({source["role"]: source["sha256"] for source in sources}),
        "files": [{**source, "urls": ["https://example.org/none"]} for source in sources],
    }
    (folder / "tiny.yaml").write_text(yaml.safe_dump(manifest))
