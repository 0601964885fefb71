"""Every command that writes files: what it needs, how it is given, and what it must leave."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.records.file import read_records
from kmaps.bench.records.times import read_times
from tests.samples import tiny_dataset

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
    """A command that writes files."""

    arguments: list[str]  # in a folder with what `prepare` makes
    target: str = ""  # the file that is replaced, with --force, when it is there
    found: Callable[[Path], Found] = files  # what must be alike after any fault and another try
    prepared_by: tuple[list[str], ...] = ()  # the commands that come before it
    after: tuple[str, ...] = ()  # what the arguments of another try have more


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
    "run --again": Writing(
        ["run", "--again", "runs", "--repeats", "2", "--even-if-busy", "--quiet"],
        "",
        times,
        (_RUN,),
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
    # Its manifest, which `kmaps download` reads; fields that are not set are left out.
    manifest = asdict(tiny_dataset(folder / "mirror").at("https://example.org"))
    known = {name: value for name, value in manifest.items() if value}
    (folder / "tiny.yaml").write_text(yaml.safe_dump(known))
