"""The package is what the folders say, in both ways of installing it."""

import json
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


def test_the_conda_recipe_is_that_of_this_version():
    recipe = (ROOT / "packaging" / "meta.yaml").read_text()
    assert f'version = "{PROJECT["version"]}"' in recipe
    needed = {line.replace("matplotlib>", "matplotlib-base>") for line in PROJECT["dependencies"]}
    needed |= {"python" + PROJECT["requires-python"]}
    listed = re.findall(r"^    - (\S+) (>=\S+)$", recipe, re.MULTILINE)
    assert {name + bound for name, bound in listed} == needed


LOCKED = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M)


def test_the_lock_file_has_the_versions_of_the_published_runs():
    text = (ROOT / "requirements-published.txt").read_text()
    locked = {name: version for name, version, _ in LOCKED.findall(text)}
    assert len(locked) == text.count("==")
    assert "://" not in text
    extras = ("images", "comparison", "parquet")
    parts = [PROJECT["optional-dependencies"][name] for name in extras]
    needed = [*PROJECT["dependencies"], *chain.from_iterable(parts)]
    assert {line.split(">=")[0] for line in needed} <= locked.keys()
    [vlfeat] = LOCKED.findall((ROOT / "requirements-vlfeat.txt").read_text())
    locked[vlfeat[0]] = vlfeat[1]
    for path in (ROOT / "results").rglob("records.jsonl"):
        for line in path.read_text().splitlines():
            versions = json.loads(line)["versions"]
            for name in ("kmaps", "kmaps-svm"):  # rows of a method of kmaps have the second too
                versions.pop(name, None)
            assert versions == {name: locked[name] for name in versions}, path


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


@pytest.mark.slow
def test_wheel_works_when_unpacked(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {SHOW}"]
    shown = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert Path(shown.strip()) == tmp_path / "kmaps" / "experiments" / "__init__.py"


def test_the_packages_of_contributing_are_those_on_disk():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"^\| `(kmaps/[\w/]+)(?:\.py)?` \|", text, re.MULTILINE))
    packages = {str(at.parent.relative_to(ROOT)) for at in (ROOT / "kmaps").rglob("*/__init__.py")}
    modules = {
        str(path.with_suffix("").relative_to(ROOT)) for path in (ROOT / "kmaps").glob("[!_]*.py")
    }
    kinds = {name for name in packages if name.startswith("kmaps/bench/kinds/")}
    there = (packages | modules) - {"kmaps/bench"} - kinds
    assert named == there, f"CONTRIBUTING.md: the table of packages misses {there - named}"


def test_make_shows_what_pip_does(tmp_path):
    make = ["make", "-n", "run", f"VENV={tmp_path}/venv"]
    shown = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = (line for line in shown.splitlines() if "pip install" in line)
    assert "--quiet" not in line
    assert line.endswith(">&2")  # what `make run` prints is the table
