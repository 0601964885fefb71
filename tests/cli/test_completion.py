"""Completion: what completes a half-typed line, and that bash itself asks for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from commands import kmaps

from kmaps.cli.main import cli

# Half-typed lines, and what completes them; None stands for the shell's own completion of files.
LINES = {
    "kmaps in": ["info"],
    "kmaps table --fo": ["--format", "--force"],
    "kmaps encode --map homo": ["homogeneous"],
    "kmaps encode --ord": ["--order"],
    "kmaps encode --map nonsense --ord": ["--order"],
    "kmaps run quicks": ["quickstart"],
    "kmaps run own/": None,
    "kmaps encode in.n": None,
    "kmaps encode in.npy out.npy --map lowdim-": ["lowdim-joint"],
    "kmaps encode in.npy out.npy --window rect": ["rectangular"],
    "kmaps train in.npy m.npz --kernel exp-ch": ["exp-chi2"],
    "kmaps table results --measure storage-p": ["storage-paper"],
    "kmaps features daim": ["daimler"],
}
BASH = """
eval "$(_KMAPS_COMPLETE=bash_source kmaps)"
COMP_WORDS=(kmaps in)
COMP_CWORD=1
_kmaps_completion kmaps
echo "${COMPREPLY[@]}"
"""


def completed(line):
    """Return what completes a line, by what click's scripts for shells ask; None: a file."""
    _, *words, incomplete = line.split()
    items = ShellComplete(cli, {}, "kmaps", "_KMAPS_COMPLETE").get_completions(words, incomplete)
    return None if {item.type for item in items} == {"file"} else [item.value for item in items]


def test_half_typed_lines():
    assert {line: completed(line) for line in LINES} == LINES


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_command_of_the_last_release_prints_the_same_script(name):
    printed = kmaps("completion", name)
    assert "_KMAPS_COMPLETE" in printed.stdout
    assert f"_KMAPS_COMPLETE={name}_source kmaps" in printed.stderr


def test_bash_completes_a_command():
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(["bash", "-c", BASH], env=environment, capture_output=True, text=True)
    assert done.stdout == "info\n", done.stderr
