"""Commands where files are as on Windows (simulated): locked while open, in cp1252 by default.

An open file can be neither replaced nor deleted, nor can its folder be renamed; a temporary file
that deletes itself opens once; texts end lines with CR and LF; names of devices are no names.
"""

import builtins
import io
import os
import re
import sys
import tempfile
import weakref
from pathlib import Path

import numpy as np
import pytest
from cell_workers import Each
from commands import kmaps, refused

from kmaps import CodedSVC
from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner

X = np.random.default_rng(0).random((30, 4), dtype=np.float32)
Y = np.arange(30) % 2
NO_NAME = re.compile(r'(?i)(con|prn|aux|nul|(com|lpt)\d)(\..*)?|.*[<>:"|?*\x00-\x1f].*|.*[. ]')
EXPERIMENT = """\
experiment: {}
dataset: {{name: digits, train: 60, test: 40}}
kernels: [chi2]
reductions: [ovo]
maps: [{{map: homogeneous, order: 1}}]
C: 1
"""


class OtherSystem:
    """The module sys, which names Windows."""

    platform = "win32"

    def __getattr__(self, name):
        return getattr(sys, name)


def succeed(cell):
    return {"accuracy": 0.5, "C": 1.0}


class Files:
    """The open files of this process, and the functions of the system that mind them."""

    def __init__(self):
        self.files, self.alone = [], set()
        self.opened, self.temporary = io.open, tempfile.NamedTemporaryFile

    def refuse(self, path, dir_fd=None):
        folder = os.getcwd() if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
        whole = os.path.realpath(os.path.join(folder, os.fspath(path)))
        for place, file in self.files:
            found = file()
            inside = place == whole or place.startswith(whole + os.sep)
            if inside and found is not None and not found.closed:
                raise PermissionError(13, "The process cannot access the file", str(path))

    def open(
        self, file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, *rest, **more
    ):
        if isinstance(file, int):
            return self.opened(file, mode, buffering, encoding, errors, newline, *rest, **more)
        if set(mode) & set("wax+"):
            self.check_name(file)
        if "b" not in mode:
            encoding = "cp1252" if encoding in (None, "locale") else encoding
            newline = "\r\n" if newline is None and "r" not in mode else newline
        place = os.path.realpath(file)
        if place in self.alone:
            raise PermissionError(13, "The process cannot access the file", str(file))
        made = self.opened(file, mode, buffering, encoding, errors, newline, *rest, **more)
        self.files.append((place, weakref.ref(made)))
        return made

    def deleting_itself(self, *given, **how):
        made = self.temporary(*given, **how)
        if how.get("delete", True):
            self.alone.add(os.path.realpath(made.name))
        return made

    @staticmethod
    def check_name(path):
        for name in Path(os.fsdecode(path)).parts:
            if name not in (os.sep, os.pardir) and NO_NAME.fullmatch(name):
                raise OSError(22, "The filename is incorrect", str(path))

    def minding(self, function, n_paths):
        def minded(*paths, dir_fd=None, **how):
            for path in paths[:n_paths]:
                self.refuse(path, dir_fd)
            return function(*paths, **how, **({} if dir_fd is None else {"dir_fd": dir_fd}))

        return minded

    def making(self, function):
        def made(path, *given, **how):
            self.check_name(path)
            return function(path, *given, **how)

        return made


@pytest.fixture(autouse=True)
def files(monkeypatch):
    files = Files()
    np.save("X.npy", X)
    np.save("y.npy", Y)
    for place in (builtins, io):
        monkeypatch.setattr(place, "open", files.open)
    for name in ("replace", "rename"):
        monkeypatch.setattr(os, name, files.minding(getattr(os, name), 2))
    for name in ("unlink", "remove", "rmdir"):
        monkeypatch.setattr(os, name, files.minding(getattr(os, name), 1))
    monkeypatch.setattr(os, "mkdir", files.making(os.mkdir))
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", files.deleting_itself)
    monkeypatch.setattr("kmaps.cli.array_files.sys", OtherSystem())
    return files


def test_the_simulation(files):
    with open("a.txt", "w") as file:
        file.write("ä\n")
        for action in (lambda: os.replace("X.npy", "a.txt"), lambda: Path("a.txt").unlink()):
            with pytest.raises(PermissionError):
                action()
    assert Path("a.txt").read_bytes() == b"\xe4\r\n"
    with pytest.raises(OSError, match="incorrect"):
        Path("aux.txt").write_text("a")
    with tempfile.NamedTemporaryFile() as file, pytest.raises(PermissionError):
        Path(file.name).read_bytes()


@pytest.mark.parametrize("suffix", ["npy", "npz", "csv", "svm"])
def test_files_are_encoded_and_replaced(suffix):
    for _ in range(2):
        kmaps("encode", "X.npy", f"Z.{suffix}", "--map", "spline", "--force", "--quiet")
        kmaps("encode", f"Z.{suffix}", "last.npy", "--order", 1, "--force", "--quiet")
    assert sorted(os.listdir()) == sorted(["X.npy", "y.npy", f"Z.{suffix}", "last.npy"])


def test_models_are_written_and_read_from_standard_input_too():
    kmaps("train", "X.npy", "m.npz", "--labels", "y.npy", "--quiet")
    rows, model = Path("X.npy").read_bytes(), Path("m.npz").read_bytes()
    kmaps("predict", "m.npz", "X.npy", "here.npy")
    kmaps("predict", "-", "X.npy", "model.npy", input=model)
    kmaps("predict", "m.npz", "-", "rows.npy", "--input-format", "npy", input=rows)
    text = "\n".join(map(str, Y)).encode()
    kmaps("predict", "m.npz", "X.npy", "labels.npy", "--labels", "-", input=text)
    for name in ("model", "rows", "labels"):
        np.testing.assert_array_equal(np.load(f"{name}.npy"), np.load("here.npy"))
    assert kmaps("info", "-", input=model).stdout == kmaps("info", "m.npz").stdout
    assert "standard input: is no kmaps model" in refused("info", "-", input=b"no model")


def test_a_file_that_is_open_elsewhere_is_one_line():
    kmaps("encode", "X.npy", "Z.npy", "--quiet")
    before = Path("Z.npy").read_bytes()
    with open("Z.npy", "rb"):
        told = refused("encode", "X.npy", "Z.npy", "--force", "--quiet")
        with pytest.raises(Exception, match="cannot be replaced"):
            CodedSVC().fit(X, Y).save("Z.npy", force=True)
    assert told == "Z.npy: cannot be replaced: is it open in a program, or read-only?"
    assert Path("Z.npy").read_bytes() == before


def printed(command, **how):
    """Copy the page instead of a browser."""
    [out] = [one.partition("=")[2] for one in command if one.startswith("--print-to-pdf=")]
    Path(out).write_bytes(Path(command[-1].removeprefix("file://")).read_bytes())


def test_runs_are_resumed_and_shown(monkeypatch):
    monkeypatch.setattr(runner, "Measuring", lambda *given, **options: Each(succeed))
    Path("a.yaml").write_text(EXPERIMENT.format("a"))
    for _ in range(2):
        kmaps("run", "a.yaml", "--quiet")
    records = read_records("runs/a")
    Path("a.yaml").write_text(EXPERIMENT.format("a").replace("[ovo]", "[ovo, ovr]"))
    kmaps("run", "a.yaml", "--quiet")
    assert len(read_records("runs/a")) == 2 * len(records)
    kmaps("table", "runs/a", "--measure", "accuracy")
    kmaps("check", "runs/a", "--against", "runs/a")
    monkeypatch.setattr("kmaps.bench.report.document.shutil.which", lambda name: name)
    monkeypatch.setattr("kmaps.bench.report.document.subprocess.run", printed)
    for form in ("html", "md", "pdf"):
        kmaps("report", "runs/a", "-o", f"page.{form}", "--force")
    assert "charset" in Path("page.pdf").read_bytes().decode("utf-8")
    left = [str(path) for path in Path("runs").rglob("*") if path.suffix in (".part", ".lock")]
    assert left == []


@pytest.mark.parametrize("name", ["aux", "NUL", "com1.old", "a."])
def test_names_that_windows_does_not_have_are_refused(name):
    Path("a.yaml").write_text(EXPERIMENT.format(name))
    assert f"Windows has no folder {name!r}; choose another name" in refused("run", "a.yaml")
