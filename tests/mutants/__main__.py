"""Mutation testing: ``make mutants``, outside continuous integration.

A seeded sample of changes in each of some packages. Each change is made in a copy of the tree, and
a test of its package must fail. A survivor without a reason in `reasons.csv` is a failure, as is a
reason there for no survivor; of the changes that are not marked there as equivalent, at least
`LEAST_CAUGHT` must be caught. What was tried is kept in ``build/mutants`` until the modules of the
package change: an interrupted run goes on where it was, and after a change of tests only those
changes of the code are tried again that a test caught which is no longer there as it was.
"""

import csv
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.digests import Digests
from tests.mutants.forked import Tests, measured, run
from tests.mutants.sample import Mutant, sample

ROOT = Path(__file__).parents[2]
LEAST_CAUGHT = 0.9
N_PROCESSES = 2


@dataclass(frozen=True)
class Stratum:
    """Some modules of which a number of mutants is drawn.

    ``tests`` has names of modules, with wildcards, and of the tests that must notice a change in
    one of them.
    """

    name: str
    n_mutants: int
    tests: dict[str, str]


STRATA = (
    Stratum(
        "records, verdicts, storage, solvers",
        300,
        {
            "kmaps.bench.records.*": "tests.bench.re[cp]or[dt]*.test_* tests.cli.test_check "
            "tests.cli.test_table tests.bench.paper.test_claims tests.test_published",
            "kmaps.bench.paper.designs kmaps.bench.paper.intervals "
            "kmaps.bench.paper.verdicts": "tests.bench.paper.test_* "
            "tests.bench.records.test_correct tests.test_published",
            "kmaps.bench.work.storage": "tests.bench.work.test_*",
            "kmaps.svm.losses kmaps.svm.grouplasso.problem kmaps.svm.coded.problem "
            "kmaps.svm.coded.descent kmaps.svm.coded.rounds": "tests.svm.test_losses "
            "tests.svm.coded.test_[bdmr]* tests.svm.grouplasso.test_*",
        },
    ),
    Stratum(
        "solvers by Newton's method",
        40,
        {
            "kmaps.svm.newton kmaps.svm.coded.code_design": "tests.svm.coded.test_code_design "
            "tests.models.test_output_design tests.dask.test_newton"
        },
    ),
    Stratum(
        "maps",
        40,
        {
            "kmaps.maps.* kmaps.maps.lowdim.*": "tests.maps.test_* tests.models.test_onnx_export "
            "tests.test_array_api"
        },
    ),
    Stratum("cli", 40, {"cli.*": "tests.cli.test_*"}),
    Stratum("models", 40, {"kmaps.models.*": "tests.models.test_*"}),
    Stratum("io", 30, {"kmaps.io.*": "tests.io.test_*"}),
    Stratum("codes", 30, {"kmaps.codes.*": "tests.codes.test_*"}),
    Stratum("data", 30, {"kmaps.data.*": "tests.data.test_*"}),
    Stratum("features", 30, {"kmaps.features.*": "tests.features.test_*"}),
    Stratum(
        "bench/run", 30, {"kmaps.bench.run.*": "tests.bench.run.test_* tests.cli.test_info_check"}
    ),
    Stratum(
        "bench/report",
        30,
        {
            "kmaps.bench.report.*": "tests.bench.report.test_* tests.cli.test_check "
            "tests.cli.test_pages tests.cli.test_report tests.cli.test_table"
        },
    ),
)
CERTIFY = {  # the functions of solvers that certify; what the others do, these find out
    "kmaps/svm/coded/descent.py": ["_certified", "solve"],
    "kmaps/svm/coded/rounds.py": ["_certified", "solve", "solve_in_blocks"],
    "kmaps/svm/newton.py": [
        "weights_of_duals",
        "set_centres",
        "objectives",
        "plus",
        "gap",
        "run",
        "_evaluate",
        "_by_rows",
        "_solved",
    ],
    "kmaps/svm/coded/code_design.py": [
        "scores",
        "weighted_sum",
        "second_moments",
        "block_moments",
        "count_members",
        "laid_out",
        "independent_columns",
    ],
    "kmaps/svm/losses.py": ["stated", "high", "ridge", "cost", "slope", "conjugate", "_short"],
    "kmaps/svm/grouplasso/problem.py": ["_gap", "group_lengths", "solve"],
}
LIBRARIES = (
    "coverage",
    "pandas",
    "numba",
    "hypothesis.strategies",
    "pydantic",
    "click.testing",
    "rich",
    "scipy.optimize",
    "sklearn.linear_model",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)


@dataclass
class Outcome:
    """What became of a mutant: the test that caught it, if any, and which tests passed.

    Tests are compared by digest.
    """

    mutant: str
    caught_by: str = ""
    digest: str = ""
    passed: list[str] = field(default_factory=list)


def files(root: Path, names: str) -> list[str]:
    """Return the paths in a tree of the modules that some names with wildcards mean."""
    patterns = [f"{name.replace('.', '/')}.py" for name in names.split()]
    paths = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    return [str(path.relative_to(root)) for path in paths]


def name_of(path: str) -> str:
    """Return the name of the module in a file, as `reasons.csv` and the command line have it."""
    return path.removesuffix(".py").replace("/", ".")


def try_all(
    tree: Path, package: Sequence[str], drawn: list[Mutant], kept: Path
) -> Iterator[tuple[Mutant, str]]:
    """Try mutants of a package in a tree; yield each with the test that catches it, or nothing."""
    kept.mkdir(parents=True, exist_ok=True)
    modules, test_files = (files(tree, names) for names in package)
    content = b"".join((tree / name).read_bytes() for name in modules)
    stem = sha256(f"{modules} {content!r}".encode()).hexdigest()[:16]
    log = kept / f"{stem}.log"
    digests = Digests(tree, test_files)
    tests = _measured(tree, modules, digests, kept / f"{stem}.tests", log)
    path = kept / f"{stem}.outcomes"
    outcomes = {outcome.mutant: outcome for outcome in _read([path])}
    earlier = {outcome.mutant: outcome.caught_by for outcome in _read(kept.glob("*.outcomes"))}
    for number, mutant in enumerate(drawn):
        key = sha256(f"{mutant.module} {mutant.source}".encode()).hexdigest()[:16]
        outcome = outcomes.get(key, Outcome(key))
        if not outcome.digest or outcome.digest != digests.of(outcome.caught_by):
            chosen = [
                test
                for test in tests.of(mutant.module, *mutant.lines)
                if digests.of(test) not in outcome.passed
            ]
            if earlier.get(key) in chosen:
                chosen.sort(key=lambda test, first=earlier[key]: test != first)
            caught_by = _caught_by(tree, mutant, chosen, log, number) if chosen else ""
            outcome = Outcome(key, caught_by, digests.of(caught_by), outcome.passed)
            n_passed = chosen.index(caught_by) if caught_by in chosen else len(chosen)
            if not caught_by or caught_by in chosen:
                outcome.passed += [digests.of(test) for test in chosen[:n_passed]]
            with path.open("a") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
        yield mutant, outcome.caught_by


def _drawn(stratum: Stratum, kept: Path) -> list[Mutant]:
    """Return the sample of a stratum: to draw it takes half a minute."""
    modules = files(ROOT, " ".join(stratum.tests))
    content = b"".join((ROOT / name).read_bytes() for name in modules)
    words = f"{modules} {stratum.n_mutants} {CERTIFY} {content!r}"
    path = kept / f"{sha256(words.encode()).hexdigest()[:16]}.sample"
    if not path.exists():
        kept.mkdir(parents=True, exist_ok=True)
        drawn = sample(ROOT, modules, stratum.n_mutants, CERTIFY)
        path.write_text(json.dumps([asdict(mutant) for mutant in drawn]))
    return [
        Mutant(**{**mutant, "lines": tuple(mutant["lines"])})
        for mutant in json.loads(path.read_text())
    ]


def _read(paths: Iterable[Path]) -> Iterator[Outcome]:
    """Yield the outcomes in some files, the latest of a mutant last."""
    for path in paths:
        if path.exists():
            for line in path.read_text().splitlines():
                yield Outcome(**json.loads(line))


def _measured(tree: Path, modules: list[str], digests: Digests, path: Path, log: Path) -> Tests:
    """Return the tests that pass; run those of files in which one is new or has changed."""
    known = json.loads(path.read_text()) if path.exists() else {}
    changed = [
        file
        for file, functions in digests.functions.items()
        if file not in known or not functions.items() <= known[file]["digests"].items()
    ]
    if changed:
        tests = measured(tree, modules, changed, log)
        for file in changed:
            of_file = tests.of_file(file)
            known[file] = {
                "digests": digests.functions[file],
                "seconds": of_file.seconds,
                "lines": of_file.lines,
            }
        path.write_text(json.dumps(known))
    seconds: dict[str, float] = {}
    lines: dict[str, dict[str, list[str]]] = {module: {} for module in modules}
    for file in digests.functions:
        for test, test_s in known[file]["seconds"].items():
            if digests.of(test):
                seconds[test] = test_s
        for module in modules:
            for line, contexts in known[file]["lines"][module].items():
                lines[module].setdefault(line, []).extend(contexts)
    return Tests(dict(sorted(seconds.items(), key=lambda item: item[1])), lines)


def _caught_by(tree: Path, mutant: Mutant, chosen: list[str], log: Path, number: int) -> str:
    """Return what catches a mutant, or nothing; ``number`` is another one for each."""
    path = tree / mutant.module
    before = path.read_text()
    modified_s = path.stat().st_mtime
    path.write_text(mutant.source)
    os.utime(path, (number, number))  # else Python may take what it compiled of another mutant
    try:
        return run(tree, chosen, log)
    finally:
        path.write_text(before)
        os.utime(path, (modified_s, modified_s))


def report(outcomes: dict[str, dict[Mutant, str]], reasons: list[dict[str, str]]) -> int:
    """Print the survivors with their reasons and the counts of each stratum; return an exit code.

    Equivalent mutants, which do what the code does, do not count: no test could notice them.
    """
    reason_of = {(row["module"], row["line"], row["becomes"]): row for row in reasons}
    lines = []
    survived = set()
    n_required = n_caught = 0
    for stratum, caught in outcomes.items():
        survivors = [mutant for mutant, test in caught.items() if not test]
        n_equivalent = 0
        for mutant in survivors:
            change = name_of(mutant.module), mutant.line, mutant.becomes
            survived.add(change)
            row = reason_of.get(change)
            n_equivalent += row is not None and row["equivalent"] == "yes"
            print(f"{mutant.module}:{mutant.lines[0]}\n  {mutant.line}\n  {mutant.becomes}")
            print(f"  {row['reason'] if row else 'NO REASON: write a test that notices it'}")
        n_caught += len(caught) - len(survivors)
        n_required += len(caught) - n_equivalent
        counts = len(caught) - len(survivors), len(caught), n_equivalent
        lines.append("{}: {} caught / {} tried / {} equivalent".format(stratum, *counts))
    stale = reason_of.keys() - survived
    missing = survived - reason_of.keys()
    for change in sorted(stale):
        print("STALE, a reason for no survivor:", *change)
    print(*lines, sep="\n")
    print(f"{n_caught} caught of {n_required} that are not equivalent,", end=" ")
    print(f"{len(missing)} survivors without a reason, {len(stale)} stale reasons")
    return int(bool(stale or missing) or n_caught < LEAST_CAUGHT * n_required)


def _try_in_a_copy(package: tuple[str, str], drawn: list[Mutant]) -> list[tuple[Mutant, str]]:
    """Try mutants of a package in a copy of the tree, with its results by a link."""
    large = shutil.ignore_patterns(
        ".git", ".venv*", "build", ".*_cache", "results", "runs", "_build"
    )
    results = []
    with TemporaryDirectory() as folder:
        tree = shutil.copytree(ROOT, Path(folder, "tree"), ignore=large)
        (tree / "results").symlink_to(ROOT / "results")
        for mutant, test in try_all(tree, package, drawn, ROOT / "build" / "mutants"):
            results.append((mutant, test))
            place = f"{len(results)}/{len(drawn)} {mutant.module}:{mutant.lines[0]}"
            print(place, test or "SURVIVED", file=sys.stderr, flush=True)
    return results


def main() -> int:
    """Try the samples, or what they have of the modules that are named, and report."""
    os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}
    for name in LIBRARIES:
        import_module(name)
    asked = sys.argv[1:]
    outcomes: dict[str, dict[Mutant, str]] = {}
    with ProcessPoolExecutor(N_PROCESSES, get_context("fork")) as processes:
        tried = []
        for stratum in STRATA:
            modules = files(ROOT, " ".join(stratum.tests))
            if asked and not set(asked).intersection(map(name_of, modules)):
                continue
            drawn = _drawn(stratum, ROOT / "build" / "mutants")
            if asked:
                drawn = [mutant for mutant in drawn if name_of(mutant.module) in asked]
            for package in stratum.tests.items():
                modules = files(ROOT, package[0])
                of_package = [mutant for mutant in drawn if mutant.module in modules]
                if of_package:
                    tried.append((stratum, processes.submit(_try_in_a_copy, package, of_package)))
        for stratum, future in tried:
            outcomes.setdefault(stratum.name, {}).update(future.result())
    with Path(__file__).with_name("reasons.csv").open(newline="") as file:
        reasons = [row for row in csv.DictReader(file) if not asked or row["module"] in asked]
    return report(outcomes, reasons)


if __name__ == "__main__":
    sys.exit(main())
