"""What answers at once imports nothing that takes seconds; times are not tested, modules are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import python

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ["sklearn", "numba", "pandas", "scipy", "matplotlib", "rich", "liblinear", "libsvm"]
PROGRAM = """
import contextlib, io, json, sys
from kmaps.cli.main import cli

watched = json.loads(sys.argv[1])
for line in sys.stdin:
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        try:
            cli(json.loads(line))
        except SystemExit as ended:
            code = ended.code
    print(json.dumps([code, [name for name in watched if name in sys.modules]]), flush=True)
"""
RESULTS = str(ROOT / "results" / "quickstart")
# Those that import least come first: all of them run in one process. Commands that show or refuse
# the parameters of maps are not among them: they import the maps.
COMMANDS = [
    (["info", "bad.npz"], 2),
    (["evaluate", "bad.npz", "bad.csv"], 2),
    (["--help"], 0),
    (["completion", "bash"], 0),
    (["warmup", "--help"], 0),
    (["encode", "in.npy", "out.npy", "--map", "homogenous"], 2),
    (["evaluate", "nowhere.npz", "in.npy"], 2),
    (["explain", "nowhere.npz"], 2),
    (["info", "nowhere.npz"], 2),
    (["error", "--map", "homogenous"], 2),
    (["run", "quickstart", "--jobs", "0"], 2),
    (["list", "kernels"], 0),
    (["list", "datasets"], 0),
    (["list", "features"], 0),
    (["info"], 0),
    (["table", RESULTS, "--format", "json"], 2),
    (["table", RESULTS, "--measure", "acuracy"], 2),
    (["plot", "nowhere"], 5),
    (["plot", RESULTS, "-o", "front.gif"], 2),
    (["check", "nowhere", "--against", RESULTS], 5),
    (["run", "--again", "nowhere"], 5),
    (["run", "quikstart"], 2),
]
# What learns is not needed to find a file wrong.
READING = [["predict", "bad.npz", "bad.csv", "out.txt"]]


def codes_and_imports(folder, watched, commands):
    """Yield the exit code of each command, run in one process, and which modules are loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(watched)],
        cwd=folder,
        input="".join(json.dumps(arguments) + "\n" for arguments in commands),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return map(json.loads, done.stdout.splitlines())


def test_what_answers_at_once_imports_nothing_heavy(tmp_path):
    commands = [*COMMANDS, *((arguments, 2) for arguments in READING)]
    for name, content in {"npz": "x", "csv": "a,b\n1,2\n1,x\n"}.items():
        (tmp_path / f"bad.{name}").write_text(content)
    found = codes_and_imports(tmp_path, HEAVY, [arguments for arguments, _ in commands])
    for (arguments, expected), (code, loaded) in zip(commands, found, strict=True):
        assert (code, loaded) == (expected, []), arguments


@pytest.mark.parametrize("name", ["kmaps", "kmaps.maps", "kmaps.features", "kmaps.bench.kinds"])
def test_packages_alone_import_nothing_heavy(name):
    program = f"import sys, {name}; print([module for module in {HEAVY} if module in sys.modules])"
    assert python("-c", program) == "[]\n"


def test_reading_records_loads_nothing_that_measures(tmp_path):
    measuring = [f"kmaps.{name}" for name in ("bench.work", "bench.spec", "bench.run", "svm")]
    others = ["kmaps.models", "kmaps.data", "kmaps.features"]
    commands = [
        ["table", RESULTS],
        ["check", RESULTS, "--against", RESULTS],
        ["plot", RESULTS, "-o", "front.png"],
        ["report", RESULTS, "-o", "page.md"],
    ]
    assert [*codes_and_imports(tmp_path, measuring + others, commands)] == [[0, []]] * 4
