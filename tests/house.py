"""How large the code is, and how much of it a command enters: ``python -m tests.house [--walks]``.

It prints sizes and, with ``--walks``, how many files of kmaps each pinned command enters, its child
processes included, next to the limits that `tests/test_house.py` holds them to.
"""

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = {"kmaps and cli": 45_000, "tests": 31_000}
MOST_LATER = 5_000
"""Lines that features may add to each of these together, after the code was cut down to them."""
LATER_TESTS = """
    bench/kinds/test_chosen_on bench/kinds/test_third_party_maps bench/run/test_users_code
    features/test_enlarged bench/paper/test_compared_runs cli/test_pages
    bench/report/test_by_test_set bench/report/test_changed_records bench/*/test_search
    bench/paper/test_coverage bench/paper/test_draws cli/test_compare cli/test_printed
    cli/test_streams cli/test_windows cli/test_working_folder dask/test_lost data/test_clocks
    faults/test_forks maps/test_polar_grids models/test_kernel_svc_cv models/test_landmarks
    models/test_onnx_export models/test_predictor models/test_widths mutants/* portable/* site/*
    test_schema svm/coded/test_degenerate svm/coded/test_wide svm/test_many_problems
    svm/test_objectives svm/test_smo test_foreign_arrays test_mutants test_memory test_security
"""
"""Files of tests of such features; what these added to other files is not counted apart."""
MOST_IN_FUNCTION = 60
MOST_IN_FILE = 400
MOST_OPTIONS = 16
WALKS = {"run": 80, "check": 30, "train": 50, "encode": 30}
"""The pinned commands, and the most files of kmaps that each may enter."""

# Python imports this at its start, in child processes too. A file is entered when a function or a
# class body of it is executed; importing a file of constants or of imports alone does not count.
_WATCH = """
import os, sys, threading
_seen = set()
_folders = tuple(os.environ["HOUSE_ROOT"] + part for part in ("/kmaps/", "/cli/"))
def _note(frame, event, argument):
    if event == "call" and frame.f_code.co_name != "<module>":
        name = frame.f_code.co_filename
        if name not in _seen and name.startswith(_folders):
            _seen.add(name)
            with open(os.environ["HOUSE_LOG"], "a") as file:
                file.write(name + "\\n")
threading.setprofile(_note)
sys.setprofile(_note)
"""


def sources(folder: str) -> Iterator[Path]:
    yield from sorted((ROOT / folder).rglob("*.py"))


def n_lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def lines_per_package() -> dict[str, int]:
    """Return the number of lines below each folder of kmaps, in cli, in tests, and in all."""
    counted: Counter[str] = Counter()
    for folder in ("kmaps", "cli"):
        for path in sources(folder):
            parts = path.relative_to(ROOT).parts
            counted["/".join(parts[:2]) if len(parts) > 2 else folder] += n_lines(path)
            counted["kmaps and cli"] += n_lines(path)
    counted["tests"] = sum(n_lines(path) for path in sources("tests"))
    return dict(counted)


def later_tests() -> int:
    """Return the number of lines of the tests of features that came later."""
    found = [list(ROOT.glob(f"tests/{pattern}.py")) for pattern in LATER_TESTS.split()]
    if not all(found):
        raise FileNotFoundError("LATER_TESTS of tests/house.py names a file that is not there")
    return sum(n_lines(path) for paths in found for path in paths)


def functions() -> list[tuple[int, str]]:
    """Return (lines, place) of every function of kmaps and cli, the longest first."""
    found = []
    for folder in ("kmaps", "cli"):
        for path in sources(folder):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                    place = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                    found.append((node.end_lineno - node.lineno + 1, place))
    return sorted(found, reverse=True)


def files() -> list[tuple[int, str]]:
    """Return (lines, path) of every file of kmaps and cli, the longest first."""
    every = [path for folder in ("kmaps", "cli") for path in sources(folder)]
    return sorted(((n_lines(path), str(path.relative_to(ROOT))) for path in every), reverse=True)


def options() -> dict[str, int]:
    """Return how many options each command has, ``--help`` left out."""
    import click

    from kmaps.cli.main import cli

    context = click.Context(cli)
    counted = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        counted[name] = sum(isinstance(option, click.Option) for option in command.params)
    return counted


def _commands(folder: Path) -> dict[str, list[str]]:
    """Return the arguments of the pinned commands, on small files that are made in a folder."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.random((60, 4), dtype=np.float32)
    np.save(folder / "in.npy", X)
    rows = [f"{','.join(map(str, row))},{int(row[0] > 0.5)}" for row in X]
    (folder / "t.csv").write_text("\n".join(["a,b,c,d,label", *rows]) + "\n")
    six = ["--only", "homogeneous", "--set", "splits=1"]
    return {
        "run": ["run", "quickstart", *six, "--out", str(folder / "run")],
        "check": ["check", str(ROOT / "results"), "--reported"],
        "train": ["train", str(folder / "t.csv"), str(folder / "m.npz"), "--label-column", "label"],
        "encode": ["encode", str(folder / "in.npy"), str(folder / "out.npy")],
    }


def entered(name: str) -> set[str]:
    """Return the files of kmaps that a pinned command enters, its child processes included."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(_WATCH)
        log = folder / "log"
        log.touch()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT)]),
            "HOUSE_ROOT": str(ROOT),
            "HOUSE_LOG": str(log),
        }
        done = subprocess.run(
            [sys.executable, "-m", "kmaps", *_commands(folder)[name]],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"{name}: exit code {done.returncode}: {done.stderr}")
        return {str(Path(line).relative_to(ROOT)) for line in log.read_text().splitlines()}


def _limit(name: str) -> str:
    """Return what is said of a limit next to a count; nothing where there is none."""
    if name not in MOST_LINES:
        return ""
    later = f"{later_tests():,}" if name == "tests" else f"{MOST_LATER:,} at most"
    return f"   (at most {MOST_LINES[name]:,}, and {later} of what came later)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", action="store_true", help="Count the files that commands enter.")
    asked = parser.parse_args()
    for name, count in sorted(lines_per_package().items()):
        print(f"{count:8,}  {name}{_limit(name)}")
    for title, found, most in (
        ("functions", functions(), MOST_IN_FUNCTION),
        ("files", files(), MOST_IN_FILE),
    ):
        long = [item for item in found if item[0] > most]
        print(f"\n{len(long)} {title} of more than {most} lines (at most 0)")
        for count, place in long:
            print(f"{count:8,}  {place}")
    print(f"\noptions per command (at most {MOST_OPTIONS})")
    print(", ".join(f"{name} {count}" for name, count in options().items()))
    if asked.walks:
        print("\nfiles of kmaps that a command enters")
        for name, most in WALKS.items():
            print(f"{len(entered(name)):8,}  {name} (at most {most})")


if __name__ == "__main__":
    main()
