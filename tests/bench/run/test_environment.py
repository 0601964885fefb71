"""The description of machine and checkout."""

import subprocess
from pathlib import Path

import numpy as np

from kmaps.bench.run.environment import PACKAGES, describe, source_state, versions_of


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", "-C", folder, *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_versions_are_those_of_the_installed_packages():
    versions = describe()["versions"]
    assert list(versions) == ["kmaps", *PACKAGES]
    assert versions["numpy"] == np.__version__
    assert all(versions.values())
    assert (list(versions_of("sklearn.svm.SVC")), versions_of("spline")) == (["scikit-learn"], {})


def test_commit_and_dirty(tmp_path):
    assert source_state(tmp_path) == ("", False)
    git(tmp_path, "init", "-q")
    (tmp_path / "kmaps").mkdir()
    code = tmp_path / "kmaps" / "a.py"
    code.write_text("a = 1\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "a")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert source_state(tmp_path) == (commit, False)
    # Results are written by the run itself and do not make the code another one.
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "records.jsonl").write_text("{}\n")
    assert source_state(tmp_path) == (commit, False)
    # A repository around an installed package is not its source.
    assert source_state(tmp_path / "kmaps") == ("", False)
    code.write_text("a = 2\n")
    assert source_state(tmp_path) == (commit, True)
