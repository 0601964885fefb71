"""Standard input that stalls, ends early or is closed, and readers that have gone away."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import kmaps, refused

ROOT = Path(__file__).resolve().parents[2]
CSV = b"0.5,0.25\n0.75,0.125\n"


def started(*arguments, **streams):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kmaps", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, **streams)


ENCODE = "encode", "-", "out.npy", "--input-format", "csv", "--quiet"


def copying(pid):
    """Return whether a process has a copy of its input in this folder, on Linux a nameless one."""
    with contextlib.suppress(FileNotFoundError):  # of files that were closed meanwhile
        links = [os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir()]
        return any(link.startswith(os.getcwd()) and "(deleted)" in link for link in links)
    return any(Path().glob("kmaps-*/input"))


@pytest.mark.skipif(sys.platform == "win32", reason="gives Ctrl-C to whole groups alone")
def test_a_pipe_that_stalls_is_waited_for_until_ctrl_c():
    with started(*ENCODE, stdin=subprocess.PIPE) as process:
        process.stdin.write(CSV)
        process.stdin.flush()
        end = time.monotonic() + 60
        while not copying(process.pid):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"interrupted\n"
    assert os.listdir() == []


def packed(form):
    """Return some rows as bytes of a format."""
    stream, X = io.BytesIO(), np.arange(1.0, 13.0).reshape(4, 3)
    if form == "npy":
        np.save(stream, X)
    elif form == "npz":
        np.savez(stream, X=X, y=np.arange(4))
    return stream.getvalue()


@pytest.mark.parametrize("form", ["npy", "npz"])
def test_a_pipe_that_ends_early_is_refused(form):
    whole = packed(form)
    for size in (0, 5, len(whole) - 1):
        given = ["encode", "-", "out.npy", "--input-format", form]
        assert refused(*given, input=whole[:size]).startswith("standard input: ")
    kmaps(*given, input=whole)


@pytest.mark.parametrize(("form", "row"), [("csv", "0.25,0.5"), ("svm", "1 1:0.25 2:0.5")])
def test_a_table_that_ends_within_a_number_is_warned_of(form, row):
    given = ["encode", "-", "out.npy", "--input-format", form, "--force"]
    told = "warning: standard input ends within a line; it may have been cut off\n"
    assert kmaps(*given, input=f"{row}\n{row}").stderr.count(told) == 1
    assert told not in kmaps(*given, input=f"{row}\n{row}\n").stderr
    if form == "csv":
        assert kmaps(*given, input="0.25,0.5\n0.25", code=2).stderr == (
            f"{told}error: standard input:2: has 1 columns, the first line has 2\n"
        )


@pytest.mark.parametrize("closed", [0, 1])
def test_closed_streams_are_refused(closed):
    np.save("rows.npy", np.eye(3))
    source, target = ("-", "out.npy") if closed == 0 else ("rows.npy", "-")
    given = "encode", source, target, "--input-format", "npy", "--output-format", "npy"
    with started(*given, preexec_fn=lambda: os.close(closed)) as process:
        told = process.stderr.read().decode()
        assert process.wait(60) == 2
    expected = "standard input: is not a whole" if closed == 0 else "standard output is closed: "
    assert told.startswith(f"error: {expected}")
    assert told.count("\n") == 1
