"""kmaps info --check: all is well here, and each thing that is not is named with its remedy."""

import json
import os

import pytest
from commands import kmaps

from kmaps.bench.run import doctor
from kmaps.data import download


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Return the findings by subject; the exit code must be as said."""
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("KMAPS_MIRROR", raising=False)

    def run(code=0):
        found = json.loads(kmaps("info", "--check", "--json", code=code).stdout)
        return {finding["subject"]: finding for finding in found}

    return run


def test_what_is_wrong_is_told_with_what_to_do(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_MIRROR", str(tmp_path / "nowhere"))
    monkeypatch.setattr(doctor.metadata, "version", lambda name: "0.1")
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    (tmp_path / ".model.npz.host.1.abc.part").write_bytes(bytes(2_500_000))
    findings = ask(code=2)
    assert "numpy 0.1 is older than 2.0" in findings["versions"]["state"]
    assert findings["mirror"]["state"] == f"{tmp_path / 'nowhere'}: no such folder"
    assert findings["mirror"]["remedy"] == "fix KMAPS_MIRROR, or unset it"
    assert findings["C++ compiler"]["state"] == "none"
    assert findings["leftovers"]["state"] == f"1 unfinished files, 2.5 MB, in {tmp_path}"
    faults = {name for name, finding in findings.items() if finding["fault"]}
    assert faults == {"versions", "mirror", "numba"}


def test_a_dataset_whose_bytes_changed(ask, tiny, tmp_path):
    findings = ask()
    assert findings["cache"]["state"] == "0 datasets, all files as they were written"
    assert findings["leftovers"]["state"] == "none"
    download(tiny.manifest, data_dir=tmp_path / "data", mirror=tiny.folder)
    assert ask()["cache"]["state"] == "1 datasets, all files as they were written"
    labels = tmp_path / "data/tiny/labels.npy"
    written = labels.stat().st_mtime_ns
    labels.write_bytes(labels.read_bytes()[:-1] + b"x")
    os.utime(labels, ns=(written, written))
    findings = ask(code=2)
    assert findings["cache"]["state"] == "tiny: labels.npy: has changed since it was verified"
    assert findings["cache"]["remedy"] == "run `kmaps download --verify tiny`"


def test_a_folder_that_cannot_be_written(ask, tmp_path, monkeypatch):
    def refuse(dir):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    findings = ask(code=2)
    assert findings["datasets"]["state"] == f"{tmp_path / 'data'}: Read-only file system"
    assert "KMAPS_DATA_DIR" in findings["datasets"]["remedy"]


def test_text(monkeypatch):
    assert kmaps("info", "--check").stdout.startswith("  versions")
    monkeypatch.setattr(doctor, "_limbs", lambda version: [-len(version)])
    shown = kmaps("info", "--check", code=2).stdout
    assert shown.startswith("! versions")
    assert "→ install kmaps again with pip" in shown
