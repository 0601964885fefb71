"""Imports run one way; each outside library is imported in its own room only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# Below everything: what the rooms share. Private modules of the package itself belong here.
BASE = {"kernels", "gram_matrix", "errors"} | {
    path.stem for path in (ROOT / "kmaps").glob("_*") if path.stem != "__init__"
}
MIDDLE = {
    "svm": {"codes", "io"},
    "maps": set(),
    "codes": set(),
    "features": set(),
    "data": set(),
    "io": set(),
}
READERS = {
    "summary",
    "tables",
    "report",
    "gate",
    "growth",
    "convergence",
    "tradeoff_table",
}  # of bench: they read records and run nothing
BENCH_BASE = {"records", "claims", "printed"}
ROOMS = BASE | set(MIDDLE) | {"bench", "cli", "datasets", "experiments"}


def allowed(room: str) -> set[str]:
    """Return the rooms that modules of ``room`` may import."""
    if room in BASE or room == "__init__":
        return BASE
    if room in MIDDLE:
        return BASE | MIDDLE[room]
    everything = BASE | set(MIDDLE) | {"bench", "experiments", "datasets", "__init__"}
    return everything | {"cli"} if room == "cli" else everything


def modules() -> list:
    """Return (path, room) of every module as test parameters."""
    found = []
    for folder, room in ((ROOT / "cli", "cli"), (ROOT / "kmaps", None)):
        for path in sorted(folder.rglob("*.py")):
            relative = path.relative_to(folder)
            first = relative.parts[0] if len(relative.parts) > 1 else relative.stem
            found.append(pytest.param(path, room or first, id=str(path.relative_to(ROOT))))
    return found


def imported(path: Path) -> set[str]:
    """Return the dotted names of all imports of a file, those inside functions included."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize(("path", "room"), modules())
def test_imports_go_down(path, room):
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "kmaps" or len(parts) == 1:
            continue
        # `from kmaps import gram` names a public function, `from kmaps.svm import …` a room.
        target = parts[1] if parts[1] in ROOMS else "__init__"
        if target != room:
            assert target in allowed(room), f"{path.name} imports {name}"


ONLY = {
    "click": ("cli",),
    "rich": ("cli",),
    "pandas": ("bench",),
    "matplotlib": ("bench",),
    "pydantic": ("bench",),
    "liblinear": ("svm",),
    "libsvm": ("svm",),
    "yaml": ("data", "bench"),
}


@pytest.mark.parametrize(("path", "room"), modules())
def test_libraries_stay_in_their_rooms(path, room):
    for name in imported(path):
        library = name.split(".")[0]
        if library in ONLY:
            assert room in ONLY[library], f"{path.name} imports {library}"
        if library == "yaml":
            assert path.name in ("manifest.py", "spec.py", "positions.py", "parameters.py"), (
                f"{path.name} reads YAML"
            )


@pytest.mark.parametrize("name", sorted(READERS))
def test_readers_of_records_run_nothing(name):
    for target in imported(ROOT / "kmaps" / "bench" / f"{name}.py"):
        parts = target.split(".")
        if parts[:2] == ["kmaps", "bench"]:
            assert parts[2] in READERS | BENCH_BASE, f"{name} imports {target}"
        elif parts[0] == "kmaps":
            assert parts[1] in BASE, f"{name} imports {target}"
