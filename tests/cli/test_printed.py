"""Control characters of names are shown, not obeyed: in what commands print, and on terminals."""

import ast
from pathlib import Path

import numpy as np
import pytest
from commands import kmaps

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
