"""What answers at once imports nothing that takes seconds; times are not tested, modules are."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
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
MISTAKES = {
    "key": "maps: [{map: homogeneous, ordr: 1}]",
    "value": "maps: [{map: homogeneous, order: -1}, {map: lowdim, dim: 0}]",
    "solver": "maps: [{map: sign-cauchy, solver: coded}]",
    "learner": "learner: {loss: hing}",
    "costs": "C: [-1]",
    "features": "features: {normalize: l3, name: phow, words: 0}",
}
HEADER = "{experiment: a, dataset: {name: mnist, train: 9, test: 9}, kernels: [chi2], "
# Those that import least come first: all of them run in one process.
COMMANDS = [
    (["info", "bad.npz"], 2),
    (["evaluate", "bad.npz", "bad.csv"], 2),
    (["--help"], 0),
    (["encode", "--help"], 0),
    (["encode", "--map", "lowdim", "--help"], 0),
    (["completion", "bash"], 0),
    (["warmup", "--help"], 0),
    (["encode", "nowhere.npy", "out.npy"], 2),
    (["encode", "in.npy", "out.npy", "--map", "homogenous"], 2),
    (["encode", "in.npy", "out.npy", "--order", "two"], 2),
    (["train", "nowhere.npy", "model.npz"], 2),
    (["recommend", "nowhere.npy"], 2),
    (["evaluate", "nowhere.npz", "in.npy"], 2),
    (["explain", "nowhere.npz"], 2),
    (["info", "nowhere.npz"], 2),
    (["error", "--map", "homogenous"], 2),
    (["run", "quickstart", "--jobs", "0"], 2),
    *((["list", what], 0) for what in ("maps", "kernels", "datasets", "features", "experiments")),
    (["info"], 0),
    (["list"], 0),
    (["table", RESULTS], 0),
    (["table", RESULTS, "--format", "latex"], 0),
    (["table", RESULTS, "--measure", "acuracy"], 2),
    (["check", RESULTS, "--against", RESULTS], 0),
    (["plot", "nowhere"], 5),
    (["plot", RESULTS, "-o", "front.gif"], 2),
    (["check", "nowhere", "--against", RESULTS], 5),
    (["time", "nowhere"], 5),
    (["run", "quikstart"], 2),
    *((["run", f"{word}.yaml", "--dry-run"], 2) for word in MISTAKES),
]
# What learns is not needed to find a file wrong.
READING = [
    ["predict", "bad.npz", "bad.csv", "out.txt"],
    ["encode", "bad.csv", "out.npy"],
    ["encode", "bad.npz", "out.npy"],
    ["train", "bad.svm", "model.npz"],
    ["train", "bad.csv", "model.npz"],
    ["train", "bad.csv", "model.npz", "--label-column", "kind"],
]


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
    (tmp_path / "in.npy").write_bytes(b"")
    for name, content in {"npz": "x", "csv": "a,b\n1,2\n1,x\n", "svm": "1 1:1\n1 1:x\n"}.items():
        (tmp_path / f"bad.{name}").write_text(content)
    for word, mistake in MISTAKES.items():
        (tmp_path / f"{word}.yaml").write_text(HEADER + mistake + "}")
    found = codes_and_imports(tmp_path, HEAVY, [arguments for arguments, _ in commands])
    for (arguments, expected), (code, loaded) in zip(commands, found, strict=True):
        assert (code, loaded) == (expected, []), arguments


def test_scikit_learn_comes_without_what_it_does_not_use(tmp_path):
    """The numbers of scipy.stats and pandas, imported later, are the same as ever."""
    np.save(tmp_path / "X.npy", np.random.default_rng(0).random((20, 3)))
    program = """if True:
        import sys
        from kmaps.cli.main import main
        sys.argv[1:] = ["encode", "X.npy", "Z.npy", "--map", "spline", "--quiet"]
        try:
            main()
        except SystemExit as ended:
            print(ended.code, {"scipy.stats", "pandas", "sklearn.base"} & sys.modules.keys())
        import scipy, pandas, sklearn.utils.fixes
        print(scipy.stats.mode([1, 1, 2]).mode, len(pandas.DataFrame({"x": [0]})))
    """
    assert python("-c", program, folder=tmp_path) == "0 {'sklearn.base'}\n1 1\n"


@pytest.mark.parametrize("name", ["kmaps", "kmaps.maps", "kmaps.features", "kmaps.bench.kinds"])
def test_packages_alone_import_nothing_heavy(name):
    program = f"import sys, {name}; print([one for one in {HEAVY} if one in sys.modules])"
    assert python("-c", program) == "[]\n"


def test_reading_records_loads_nothing_that_measures(tmp_path):
    measuring = [f"kmaps.{name}" for name in ("bench.work", "bench.spec", "bench.run", "svm")]
    others = ["kmaps.models", "kmaps.data", "kmaps.features"]
    commands = [
        *(["table", RESULTS], ["check", RESULTS, "--against", RESULTS]),
        *(["plot", RESULTS, "-o", "front.png"], ["report", RESULTS, "-o", "page.md"]),
    ]
    assert [*codes_and_imports(tmp_path, measuring + others, commands)] == [[0, []]] * 4
