"""Full disks, errors of the disk and Ctrl-C at the calls by which commands write, in one process.

`make soak` has every command, in processes of their own, with signals and all other faults.
"""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmaps.bench.records.arrays import CORRECT, read_arrays
from kmaps.bench.records.file import read_records
from kmaps.cli.main import INTERRUPTED, cli
from tests.faults.injected import ERRORS, Calls
from tests.faults.writing import COMMANDS, files, prepare

OLD = b"what was there before"
FAULTS = {"full disk": 2, "input/output error": 2, "SIGINT": INTERRUPTED}
SIMPLE = ["encode", "train", "predict", "evaluate", "explain"]  # without a run before it


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with what the commands read, a model among it."""
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder)
    here = Path.cwd()
    os.chdir(folder)
    try:
        assert kmaps(COMMANDS["train"].arguments).exit_code == 0
        (folder / "model.npz").rename(folder / "model")
    finally:
        os.chdir(here)
    return folder


def kmaps(arguments):
    return CliRunner().invoke(cli, arguments)


@pytest.mark.parametrize("name", SIMPLE)
def test_what_is_written_is_whole_or_as_before(prepared, tmp_path, monkeypatch, name):
    command = COMMANDS[name]
    monkeypatch.chdir(tmp_path)
    for path in ("train.npy", "labels.npy"):
        Path(path).symlink_to(prepared / path)
    if name != "train":
        Path("model.npz").symlink_to(prepared / "model")
    Path(command.target).write_bytes(OLD)
    calls = Calls(monkeypatch.setattr, ("fsync", "replace"))
    for call in range(2):
        for fault, code in FAULTS.items():
            calls.at(call, fault)
            done = kmaps([*command.arguments, "--force"])
            assert done.exit_code == code, done.output
            assert done.stderr.startswith("error: " if fault in ERRORS else "interrupted")
            assert len(done.stderr.splitlines()) == 1
            assert files(tmp_path).pop(command.target) == OLD
            assert not list(tmp_path.glob(".*"))
    done = kmaps([*command.arguments, "--force"])
    assert done.exit_code == 0, done.output
    assert Path(command.target).read_bytes() != OLD


def test_a_record_is_written_after_what_belongs_to_it(tmp_path, monkeypatch):
    """A run that ends between the two measures the cell again."""
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    # The first file is the definition of the run, the second says which samples a cell got right.
    Calls(monkeypatch.setattr, ("replace",)).at(1, "full disk")
    assert kmaps(COMMANDS["run"].arguments).exit_code == 2
    assert (tmp_path / "runs" / CORRECT).is_dir()
    assert not (tmp_path / "runs" / "records.jsonl").exists()
    assert kmaps(COMMANDS["run"].arguments).exit_code == 0
    keys = {record["key"] for record in read_records(tmp_path / "runs")}
    assert len(keys) == 3
    assert read_arrays(tmp_path / "runs", keys, CORRECT).keys() == keys
