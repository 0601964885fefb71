"""``python -m kmaps``, from anywhere, on any terminal."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python(*arguments, folder=None, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
    )


def test_help_on_a_terminal_whose_encoding_lacks_letters():
    def shown(encoding):
        done = python("-m", "kmaps", "encode", "--help", PYTHONIOENCODING=encoding)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode(encoding)

    whole = shown("utf-8")
    assert "≥" in whole
    plain = {"≥": ">=", "…": "...", "–": "-", "Λ": "Lambda"}
    assert shown("latin-1") == "".join(plain.get(letter, letter) for letter in whole)


def test_the_folder_that_holds_a_clone_called_kmaps(tmp_path):
    """Python looks there first, and a folder without __init__.py would be a package too."""
    (tmp_path / "kmaps").symlink_to(ROOT)
    done = python("-c", "import kmaps.cli; print(kmaps.__file__)", folder=tmp_path)
    assert done.stdout.decode().strip() == str(ROOT / "kmaps" / "__init__.py"), done.stderr
