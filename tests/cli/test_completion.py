"""Completion in the shells themselves, as far as they are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import kmaps

# Half-typed lines, and what completes them; None stands for the shell's own completion of files.
LINES = {
    "kmaps in": "info",
    "kmaps table --fo": "--format\n--force",
    "kmaps encode --map homo": "homogeneous",
    "kmaps encode --ord": "--order",
    "kmaps encode --map nonsense --ord": "--order",
    "kmaps run quicks": "quickstart",
    "kmaps run own/": None,
    "kmaps encode in.n": None,
    "kmaps encode in.npy out.npy --map lowdim-": "lowdim-joint",
    "kmaps encode in.npy out.npy --window rect": "rectangular",
    "kmaps train in.npy m.npz --kernel exp-ch": "exp-chi2",
    "kmaps table results --measure storage-p": "storage-paper",
    "kmaps features daim": "daimler",
}
FILE = "the shell's own files"
BASH = f"""
eval "$(_KMAPS_COMPLETE=bash_source kmaps)"
compopt() {{ [[ $2 == default ]] && echo "{FILE}"; }}
complete_line() {{
    read -ra COMP_WORDS <<< "$1"
    COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
    COMPREPLY=()
    _kmaps_completion kmaps
    printf '%s\\n' "${{COMPREPLY[@]}}"
}}
"""


def shell(name: str, program: str, lines: list[str], folder: Path) -> list[str]:
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    bin_folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    calls = "\n".join(f"complete_line {line!r}; echo ----" for line in lines)
    done = subprocess.run(
        [name, "-c", program + calls], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [block.strip() for block in done.stdout.split("----\n")[: len(lines)]]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_command_of_the_last_release_prints_the_same_script(name):
    printed = kmaps("completion", name)
    assert "_KMAPS_COMPLETE" in printed.stdout
    assert f"_KMAPS_COMPLETE={name}_source kmaps" in printed.stderr


def test_bash(tmp_path):
    found = shell("bash", BASH, list(LINES), tmp_path)
    assert dict(zip(LINES, found, strict=True)) == {
        line: expected or FILE for line, expected in LINES.items()
    }
