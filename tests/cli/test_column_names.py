"""Names and suspicions of a table's columns, from the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import kmaps, refused
from PIL import Image

from kmaps import load_model

RNG = np.random.default_rng(0)
KINDS = np.repeat(["a", "b", "c"], 30)
FRAME = pd.DataFrame(RNG.gamma(1, 1, (90, 3)) + 0.0625, columns=["u", "v", "w"])
FRAME = FRAME.assign(kind=KINDS)
LABELS = ("--label-column", "kind")


@pytest.fixture(autouse=True)
def _in_folder(_in_a_folder):
    FRAME.to_csv("t.csv", index=False)


def test_a_model_keeps_the_names_of_its_table():
    kmaps("train", "t.csv", "m.npz", *LABELS, "-q")
    assert load_model("m.npz").feature_names_in_.tolist() == ["u", "v", "w"]
    FRAME[["w", "v", "u", "kind"]].to_csv("order.csv", index=False)
    said = refused("predict", "m.npz", "order.csv", "p.txt", *LABELS)
    assert "column 1 is 'w', in m.npz it is 'u'" in said


def test_what_spoils_a_model_is_said_or_refused():
    FRAME.assign(number=range(90)).to_csv("n.csv", index=False)
    assert "('number') counts the rows" in kmaps("train", "n.csv", "n.npz", *LABELS).stderr
    FRAME.assign(unit=1e6).to_csv("u.csv", index=False)
    said = kmaps("train", "u.csv", "u.npz", *LABELS).stderr
    assert "no weight ('unit')" in said
    copy = FRAME.assign(code=np.repeat([2, 0, 1], 30))
    copy.to_csv("c.csv", index=False)
    assert "('code') alone tells all classes" in kmaps("train", "c.csv", "c.npz", *LABELS).stderr
    filled = FRAME.copy()
    filled.loc[17, "w"] = 1e30
    filled.to_csv("f.csv", index=False)
    said = refused("train", "f.csv", "f.npz", *LABELS)
    assert "X[17, 2]" in said
    assert "--keep-large" in said
    assert "'w'" in said
    kmaps("train", "f.csv", "f.npz", *LABELS, "--keep-large", "-q")
    assert Path("f.npz").exists()


def test_notes_of_files_are_lines_of_kmaps():
    for kind in ("cat", "dog"):
        Path("photos", kind).mkdir(parents=True)
        image = Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16))
        image.save(f"photos/{kind}/a.png")
        image.save(f"photos/{kind}/b.png")
    Path("photos/cat/notes.txt").touch()
    Path("photos/stray.png").touch()
    said = kmaps("features", "photos", "--features", "hog-pyramid", "--out", "f.npz").stderr
    assert "FileNote" not in said
    assert "note: photos: 2 files are left out" in said


def test_a_note_on_a_file_is_said_once_by_all_processes_of_a_run(capfd):
    FRAME.to_csv("index.csv")
    Path("e.yaml").write_text(
        "experiment: e\n"
        "dataset: {files: {data: index.csv, label_column: kind}, train: 60, test: 30}\n"
        "kernels: [chi2]\nreductions: [ovr]\nbaselines: [linear]\nmaps: []\nC: 1\n"
    )
    said = kmaps("run", "e.yaml").stderr
    assert said.count("is a row index") == 1
    assert "index" not in capfd.readouterr().err  # of the processes that measure
