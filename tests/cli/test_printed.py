"""Control characters of names are shown, not obeyed: in what commands print, and on terminals."""

import ast
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import kmaps, refused

from kmaps.errors import printable

ROOT = Path(__file__).resolve().parents[2]
ESCAPE, SHOWN = "a\x1b]0;title\x07", r"a\x1b]0;title\x07"
TURNED, SHOWN_TURNED = "b\u202e\x9b31m", r"b\u202e\u009b31m"


def test_control_characters_are_shown_and_nothing_else():
    assert printable(ESCAPE + TURNED) == SHOWN + SHOWN_TURNED
    assert printable("\x00\r\x7f\u2066\u200f") == r"\x00\x0d\u007f\u2066\u200f"
    for text in ("λ ≥ 1,\tone\nline", "naïve", "名前", ""):
        assert printable(text) == text


def test_one_function_prints():
    """It is `say` in cli/flags.py; what click itself prints has passed `printable`."""
    for path in (ROOT / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            allowed = path.name == "flags.py" and called == "click.echo"
            prints = called in ("click.echo", "click.secho", "print")
            assert allowed or not prints, f"cli/{path.name}:{node.lineno}: use say"


@pytest.fixture
def model():
    """A model whose classes and a column have control characters in their names, and its data."""
    rng = np.random.default_rng(0)
    rows = [f"{x:.3f},{y:.3f},{(ESCAPE, TURNED)[int(x > y)]}" for x, y in rng.random((60, 2))]
    Path("t.csv").write_text("\n".join([f"one,two{TURNED},label", *rows]) + "\n")
    kmaps("train", "t.csv", "m.npz", "--label-column", "label", "--quiet")
    return "m.npz"


def clean(text):
    return printable(text) == text


def test_names_in_a_model_reach_no_terminal(model):
    for command in (["info", model], ["evaluate", model, "t.csv", "--label-column", "label"]):
        shown = kmaps(*command)
        assert clean(shown.output)
        assert SHOWN in shown.stdout or command[0] == "info"
        assert clean(kmaps(*command, "--json").output)


def test_names_of_files_and_arguments_reach_no_terminal():
    assert SHOWN in refused("info", f"{ESCAPE}.npz")
    for arguments in ([TURNED], ["encode", f"--{TURNED}"], ["list", TURNED]):
        said = kmaps(*arguments, code=2).output
        assert clean(said)
        assert r"b\u202e" in said


def test_a_newline_in_a_name_leaves_an_error_one_line():
    assert refused("info", "a\nb.npz") == r"a\nb.npz: no such file"
    assert refused("run", "a\nb.yaml") == r"a\nb.yaml: cannot be read: No such file or directory"
    assert refused("table", "a\nb", code=5).startswith(r"a\nb/records.jsonl: has no records")
    Path("a\nb.yaml").write_text("experiment: x\nsplits: no\n")
    said = kmaps("run", "a\nb.yaml", code=2).stderr.splitlines()
    assert len(said) > 2
    assert all(r"a\nb.yaml:" in line for line in said)


def test_warnings_of_python_are_shown_too():
    program = "import sys, warnings; from kmaps.cli import main; main.cli = lambda **_: "
    program += f"warnings.warn({f'class {ESCAPE}' + chr(10) + TURNED!r}); main.main()"
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True).stderr
    assert said == f"warning: class {SHOWN}\\n{SHOWN_TURNED}\n"


def test_predictions_on_a_terminal_are_shown(model):
    """In a pipe they are data, and stay as they are."""
    command = [sys.executable, "-m", "kmaps", "predict", model, "t.csv", "-", "--label-column"]
    command += ["label", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    piped = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
    assert ESCAPE.encode() in piped
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=environment, stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        seen = b""
        while part := _read(ours):
            seen += part
    os.close(ours)
    assert SHOWN.encode() in seen
    assert b"\x1b" not in seen


def _read(terminal):
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # so a terminal ends on Linux
        return b""
