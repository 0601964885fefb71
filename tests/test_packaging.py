"""The package is what the folders say, in both ways of installing it."""

import re
import subprocess
import sys
import tomllib
import zipfile
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {"cli": "kmaps.cli", "datasets": "kmaps.datasets", "experiments": "kmaps.experiments"}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def packages_on_disk() -> list[str]:
    inside = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in (ROOT / "kmaps").rglob("*")
        if path.suffix in (".py", ".csv")
    }
    return sorted([*inside, *OUTSIDE.values()])


def test_pyproject_lists_every_package():
    setuptools = PYPROJECT["tool"]["setuptools"]
    listed, there = setuptools["packages"], packages_on_disk()
    assert not set(there) - set(listed), "pyproject.toml: packages does not list every folder"
    assert listed == there
    assert setuptools["package-dir"] == {"kmaps": "kmaps"} | {v: k for k, v in OUTSIDE.items()}


def test_version_stands_once():
    import kmaps

    assert kmaps.__version__ == PROJECT["version"]
    assert f"version: {kmaps.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {kmaps.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_oldest_versions_are_the_lower_bounds():
    extras = PROJECT["optional-dependencies"] | {"docs": []}  # the site, with the newest versions
    needed = [*PROJECT["dependencies"], *chain.from_iterable(extras.values())]
    bounds = dict(line.split(">=") for line in needed if ">=" in line)
    for name in ("ruff", "check-jsonschema"):  # lint, with the newest version
        del bounds[name]
    pinned = re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints-oldest.txt").read_text(), re.M)
    # 2.0 and 2.0.0 are the same version.
    assert {name: re.sub(r"(\.0)+$", "", version) for name, version in pinned} == {
        name: re.sub(r"(\.0)+$", "", version) for name, version in bounds.items()
    }


SHOW = "import kmaps.cli.main, kmaps.datasets, kmaps.experiments as e; print(e.__file__)"


def test_checkout_imports_from_anywhere(tmp_path):
    """What an editable install does: the repository root on the path."""
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {SHOW}"]
    shown = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(shown.strip()) == ROOT / "experiments" / "__init__.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    source = tmp_path_factory.mktemp("source") / "kmaps"
    git = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    files = subprocess.run(git, cwd=ROOT, capture_output=True, check=True).stdout
    for name in files.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, source]
    subprocess.run(pip, check=True, capture_output=True)
    return next(out.glob("kmaps_svm-*.whl"))


@pytest.mark.slow  # the first tests compare the lists with the folders
def test_wheel_holds_all_modules_and_yaml_files(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("kmaps", *OUTSIDE):
        for path in (ROOT / folder).rglob("*"):
            if (
                path.suffix in (".py", ".pyi", ".yaml", ".csv", ".md")
                and "__pycache__" not in path.parts
            ):
                name = str(path.relative_to(ROOT))
                expected = name if folder == "kmaps" else f"kmaps/{name}"
                assert expected in inside, f"{expected} is not in the wheel"
    assert not [name for name in inside if name.startswith(("cli/", "tests/", "results/"))]
