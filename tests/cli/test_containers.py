"""A container: a user who may write neither the packages nor a home."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
RECIPE = re.search(
    r"```dockerfile\n(.*?)```", (ROOT / "docs" / "containers.md").read_text(), re.DOTALL
)[1]


class Container:
    """A copy of the packages that only root writes, a /tmp and a folder of data for all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables: dict[str, str] = {}
        ignored = shutil.ignore_patterns("__pycache__")
        for name in ("kmaps", "cli", "datasets", "experiments"):
            shutil.copytree(ROOT / name, folder / "site" / name, ignore=ignored)
        for name in ("tmp", "data"):
            (folder / name).mkdir()
            (folder / name).chmod(0o1777)
        X = np.random.default_rng(0).random((40, 4))
        np.save(folder / "data" / "X.npy", X)
        np.save(folder / "data" / "y.npy", (X.sum(axis=1) > 2).astype(int))

    def run(self, arguments: list[str], user: str = "nobody") -> subprocess.CompletedProcess:
        """Run `kmaps` as a user, without a home."""
        return self.python("-m", "kmaps", *arguments, user=user)

    def python(self, *arguments: str, user: str = "nobody") -> subprocess.CompletedProcess:
        """Run Python as a user, without a home."""
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self.folder / "site"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.folder / "tmp"),
            "HOME": "/nonexistent",
            **self.variables,
        }
        before = NOBODY if user == "nobody" else []
        return subprocess.run(
            [*before, sys.executable, *arguments],
            cwd=self.folder / "data",
            env=environment,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def container():
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user, by setpriv")
    if subprocess.run([*NOBODY, sys.executable, "-c", "import numpy"], cwd="/").returncode:
        pytest.skip(f"{sys.executable} is not readable for nobody")
    folder = Path(tempfile.mkdtemp(prefix="kmaps-container-"))  # nobody cannot enter tmp_path
    folder.chmod(0o755)
    yield Container(folder)
    shutil.rmtree(folder)


TRAIN = ["train", "X.npy", "m.npz", "--labels", "y.npy", "--force"]
COMMANDS = (
    TRAIN,
    ["predict", "m.npz", "X.npy", "p.csv", "--scores"],
    ["evaluate", "m.npz", "X.npy", "--labels", "y.npy"],
    ["info", "m.npz"],
    ["explain", "m.npz"],
    ["warmup"],
)
LOOP = """
import numpy as np
from kmaps._loops.forms import sum_in_order
sum_in_order(np.zeros(1))
print(sum(sum_in_order.stats.cache_hits.values()))
"""


def test_a_loop_compiled_in_the_image_is_used_by_a_user_who_cannot_write_there(container):
    assert container.python("-c", LOOP, user="root").stdout == "0\n"
    done = container.python("-c", LOOP)
    assert done.stdout == "1\n", done.stderr
    assert "NUMBA_CACHE_DIR" in done.stderr
    # Another user's folder of this name is not trusted.
    [cache] = (container.folder / "tmp").glob("kmaps-numba-65534")
    shutil.rmtree(cache)
    cache.mkdir(mode=0o777)
    again = container.python("-c", LOOP)
    assert again.stdout == "0\n", again.stderr
    assert not list(cache.iterdir())


@pytest.mark.slow  # it compiles all loops
def test_the_recipe_of_the_page(container):
    user = "root"
    commands = 0
    for line in RECIPE.splitlines():
        if line.startswith("USER "):
            user = line.split()[1]
        if line.startswith("ENV "):
            name, _, value = line.split()[1].partition("=")
            container.variables[name] = value
        words = shlex.split(line)
        if words[:2] == ["RUN", "kmaps"]:
            done = container.run(words[2:], user)
            assert done.returncode == 0, done.stderr
            commands += 1
    assert (user, commands) == ("nobody", 2)
    # What root compiled while the image was built is all that commands of nobody need.
    in_image = {path.name for path in (container.folder / "site").rglob("*.nb[ic]")}
    for arguments in COMMANDS:
        done = container.run(arguments)
        assert done.returncode == 0, done.stderr
        assert "compiling" not in done.stderr, arguments
    [cache] = (container.folder / "tmp").glob("kmaps-numba-*")
    copied = {path.name for path in cache.rglob("*.nb[ic]")}
    assert copied
    assert copied <= in_image
