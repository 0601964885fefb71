"""Imports run one way; each outside library is imported in its own room only."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from commands import python

ROOT = Path(__file__).resolve().parent.parent

# What the modules of each room may import besides their own room. cli may import everything.
LOWEST = {
    "errors",
    "estimators",
    "plugins",
    "loop_cache",
    "_loops",
    "kernels",
    "mercer",
    "checks",
    "matrices",
    "array_api",
    "validation",
    "sample_matrix",
    "progress",
    "thread_pool",
    "matrix_product",
    "onnx_graph",
    "templates",
    "displays",
}
BASE = LOWEST | {"gram_sums", "gram_matrix"}
ROOMS = {
    "errors": set(),
    "estimators": set(),
    "templates": set(),
    "displays": {"kernels"},
    "plugins": {"errors"},
    "loop_cache": set(),
    "_loops": {"errors", "loop_cache"},
    "kernels": {"errors", "array_api"},
    "checks": {"errors"},
    "matrices": set(),
    "array_api": {"matrices"},
    "validation": {"errors", "checks", "matrices", "array_api"},
    "sample_matrix": {"errors", "matrices", "validation"},
    "progress": set(),
    "thread_pool": {"errors", "checks", "progress"},
    "matrix_product": set(),
    "onnx_graph": {"errors", "checks", "io"},
    "mercer": {"checks", "errors", "kernels", "thread_pool", "sample_matrix"},
    "gram_sums": LOWEST,
    "gram_matrix": BASE - {"gram_matrix"},
    "codes": BASE,
    "maps": BASE | {"codes"},
    "features": BASE | {"__init__", "io"},
    "data": BASE | {"io"},
    "io": BASE,
    "svm": BASE | {"codes", "maps", "io"},
    "models": BASE | {"codes", "maps", "svm", "io"},
    "dask": BASE | {"codes", "maps", "svm", "models", "io"},
    "bench": BASE
    | {"codes", "maps", "features", "data", "io", "svm", "models", "dask"}
    | {"__init__", "datasets", "experiments"},
}
LIBRARY = {*BASE, "codes", "maps", "svm", "models", "io"}
PUBLIC = {"", "maps", "svm", "models", "codes", "io", "kernels", "errors", "dask", "templates"}
"""What bench, cli, data and features use of the library and of its form for clusters."""
SIBLINGS = {"checks", "thread_pool", "progress", "matrices"}
"""What data and features use besides."""
INNER = {
    f"kmaps/features/{name}.py": {"_loops.orientation"}
    for name in ("gradients", "hog", "phog", "sift")
}
"""What is still imported from inner modules, and by whom: nothing is to be added here."""
ROOMS["cli"] = {*ROOMS, "__init__", "datasets", "experiments"}
ROOMS["__main__"] = {"cli"}
ROOMS["__init__"] = set()  # it loads its public names when they are asked for

# Inside a room, a file imports from the floors that stand before its own, never from its own or a
# later one. "*" is every file that is not named.
FLOORS = {
    "codes": "codebook < column_sizes < levels table < quantizer",
    "maps": "grids frequencies version parameters < fitted_grid capabilities < signatures < base "
    "periods < ranged < * < generalized < registry",
    "maps/lowdim": "cosines lp < target < continuous < selection < optimal < table < solve box "
    "< transformer joint",
    "svm": "losses clib normalization training_gram < model_file < parameters < reduction "
    "< learner onnx_heads < probabilities < grouplasso newton < coded liblinear libsvm smo "
    "< kernel_svc < pruning",
    "svm/coded": "parameters tables < forms < problem < code_design block < descent < rounds "
    "< training < model products sparse < estimator < streamed < classifier regressor < folds",
    "dask": "cluster chunks team < classifier mapped_svc maps folders",
    "svm/grouplasso": "problem < classifier",
    "models": "renaming normalized_rows < mapped_rows patches choice landmarks_graph < landmarks "
    "< output_design < block_descent widths page evaluation < mapped_svc "
    "< random_features landmark_svc kernel_svc_cv < coded_path < ahead training onnx_export "
    "< files regression < predictor",
}

READERS = ("records", "report", "paper")  # packages of bench that read records and run nothing
SHOWN = [path.parent.name for path in (ROOT / "kmaps/bench/kinds").glob("*/show.py")]


def rooms() -> dict[str, list[Path]]:
    """Return the files of every room."""
    found = defaultdict(list)
    for folder in ("cli", "kmaps"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            first = path.relative_to(ROOT / folder).parts[0].removesuffix(".py")
            found["cli" if folder == "cli" else first].append(path)
    return found


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text()))


def each(function: Callable[[Path], Iterable], paths: Iterable[Path]) -> Iterator[tuple]:
    """Yield what a function finds in each file, with the file."""
    return ((path, found) for path in paths for found in function(path))


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the dotted names of all imports of a file, those inside functions included."""
    names = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def home(name: str) -> Path | None:
    """Return the file of kmaps that an imported name is found in, by its longest known part."""
    parts = name.split(".")
    for n in range(len(parts), 1, -1):
        path = ROOT.joinpath(*parts[:n])
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if parts[0] == "kmaps" and file.is_file():
                return file
    return None


def test_every_room_is_known():
    on_disk = {path.stem for path in (ROOT / "kmaps").iterdir() if path.suffix in ("", ".py")}
    assert on_disk - {"__pycache__"} <= set(ROOMS)


EACH_ROOM = pytest.mark.parametrize(("room", "paths"), rooms().items(), ids=rooms())


@EACH_ROOM
def test_imports_go_down(room, paths):
    for path, name in each(imported, paths):
        parts = name.split(".")
        if parts[0] != "kmaps" or len(parts) == 1:
            continue
        # `from kmaps import gram` names a public function, `from kmaps.svm import …` a room.
        target = parts[1] if parts[1] in ROOMS["cli"] | {"cli"} else "__init__"
        if target != room:
            assert target in ROOMS[room], f"{path.name} imports {name}"


@pytest.mark.parametrize("package", FLOORS)
def test_imports_go_down_inside_a_room(package):
    folder = ROOT / "kmaps" / package
    inside = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    inside -= {"__init__", "__pycache__"}
    floors = FLOORS[package].split(" < ")
    floor_of = {name: n for n, floor in enumerate(floors) for name in floor.split()}
    assert floor_of.keys() - {"*"} <= inside
    for path in folder.rglob("*.py"):
        source = path.relative_to(folder).parts[0].removesuffix(".py")
        if source == "__init__":  # it gathers the public names
            continue
        assert source in floor_of or "*" in floor_of, f"{path.name} has no floor in {package}"
        for name in imported(path):
            file = home(name)
            if file is None or not file.is_relative_to(folder):
                continue
            target = file.relative_to(folder).parts[0].removesuffix(".py")
            if target != source:
                here, there = (floor_of.get(of, floor_of.get("*")) for of in (source, target))
                assert there < here, f"{path.name} imports {name}"


@pytest.mark.parametrize("room", ["bench", "cli", "data", "features"])
def test_the_library_is_used_through_its_public_modules(room):
    """A name that another half needs is published: see `__init__.pyi` of each package."""
    allowed = PUBLIC | (SIBLINGS if room in ("data", "features") else set())
    for path, node in each(nodes, rooms()[room]):
        if not isinstance(node, ast.ImportFrom) or node.module.partition(".")[0] != "kmaps":
            continue
        module = node.module.removeprefix("kmaps").removeprefix(".")
        if module.partition(".")[0] in {*LIBRARY, "dask"} and module not in allowed:
            for alias in node.names:
                known = INNER.get(str(path.relative_to(ROOT)), set())
                name = f"{module}.{alias.name}"
                assert name in known, f"{path}: publish kmaps.{name}, or move it here"


def test_the_list_of_inner_imports_has_no_more_than_there_are():
    for path, names in INNER.items():
        gone = {name for name in names if f"kmaps.{name}" not in imported(ROOT / path)}
        assert not gone, f"INNER: delete {gone} of {path}"


BLOCKED = ("click", "rich", "pandas", "pydantic", "matplotlib", "requests", "PIL", "yaml")
WITHOUT_THEM = f"""
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ImportError(name)

sys.meta_path.insert(0, Refusing())
import numpy as np
import kmaps
from kmaps.io import open_reader, read_whole
from kmaps.maps import MAPS

X = np.random.default_rng(0).random((40, 3)).astype(np.float32)
y = np.arange(40) % 2
list(MAPS.values())
assert kmaps.HomogeneousMap().fit_transform(X).shape == (40, 9)
model = kmaps.CodedSVC(kmaps.HomogeneousMap()).fit(X, y)
model.save("m.npz")
assert (kmaps.load_model("m.npz").predict(X) == model.predict(X)).all()
np.save("x.npy", X)
np.savez("x.npz", X)
for name in ("x.npy", "x.npz"):
    assert (read_whole(open_reader(name))[0] == X).all()
"""


def test_the_library_works_without_what_only_the_bench_needs(tmp_path):
    python("-c", WITHOUT_THEM, folder=tmp_path)


def test_no_circles():
    files = list((ROOT / "kmaps").rglob("*.py"))
    graph = {path: {home(name) for name in imported(path)} - {None, path} for path in files}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " → ".join(str(path.relative_to(ROOT)) for path in reversed(error.args[1]))
        pytest.fail(f"imports in a circle: {circle}")


ROOMS_OF = """click cli, rich cli, pandas bench io, matplotlib bench displays, pydantic bench,
    dask dask, distributed dask, liblinear svm, libsvm svm, yaml data bench, onnx onnx_graph,
    jinja2 templates, markdown_it bench"""
ONLY = {library: rooms for library, *rooms in map(str.split, ROOMS_OF.split(","))}
YAML_READERS = ("yaml_text", "load", "positions", "map_rows", "entries", "names")


@EACH_ROOM
def test_libraries_stay_in_their_rooms(room, paths):
    for path, name in each(imported, paths):
        library = name.split(".")[0]
        if library in ONLY:
            assert room in ONLY[library], f"{path.name} imports {library}"
        if library == "yaml":
            assert path.stem in YAML_READERS, f"{path.name} reads YAML"


# Of errors of other libraries, of threads, of functions that users pass, and of what a system has.
ATTRIBUTES_OF_OTHERS = {
    ("features.images", "n_frames"),
    ("features.images", "strerror"),
    ("features.images", "tag_v2"),
    ("bench.report.document", "geteuid"),
    ("bench.run.clock", "cpu_affinity"),
    ("bench.run.clock", "steal"),
    ("bench.run.processes", "pthread_sigmask"),
    *(("bench.work.third_party", name) for name in ("fit", "model_bytes_")),
    *(("data.transfer", name) for name in ("response", "reason")),
    ("svm.clib", "parts"),
    ("mercer", "__name__"),
}


@EACH_ROOM
def test_nobody_probes_for_capabilities(room, paths):
    """What an object can do stands in its class or in a protocol: see kmaps.maps.capabilities."""
    for path, node in each(nodes, paths):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        assert node.func.id != "hasattr", f"{path.name}:{node.lineno}: hasattr"
        if node.func.id == "getattr" and isinstance(node.args[1], ast.Constant):
            module = ".".join(path.relative_to(ROOT / "kmaps").with_suffix("").parts)
            known = (module, node.args[1].value)
            assert known in ATTRIBUTES_OF_OTHERS, f"{path.name}:{node.lineno}: getattr"


@pytest.mark.parametrize("room", READERS)
def test_readers_of_records_run_nothing(room):
    for path in (ROOT / "kmaps" / "bench" / room).rglob("*.py"):
        for target in imported(path):
            parts = target.split(".")
            if parts[:2] == ["kmaps", "bench"]:
                assert parts[2] in READERS, f"{path.name} imports {target}"
                assert parts[2] != "paper" or room == "paper", f"{path.name} imports {target}"
            elif parts[0] == "kmaps":
                assert parts[1] in {*BASE, "io", "data"}, f"{path.name} imports {target}"


@pytest.mark.parametrize("half", ["shown", *sorted(f"{path}.show" for path in SHOWN)])
def test_what_shows_a_kind_measures_nothing(half):
    for target in imported(ROOT / "kmaps" / "bench" / "kinds" / f"{half.replace('.', '/')}.py"):
        if target.startswith("kmaps."):
            parts = target.split(".")
            assert parts[1] in {*BASE, "bench"}, f"{half} imports {target}"
            assert parts[2] not in ("spec", "work", "run"), f"{half} imports {target}"
            assert "measure" not in parts, f"{half} imports {target}"
