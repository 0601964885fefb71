"""Mutation testing: ``make mutants``, outside continuous integration.

A seeded sample of changes of what decides what is published: records, the gate, intervals and
verdicts, storage, and what solvers certify. Each is made in a copy of the tree, and a test of its
package must fail. A survivor without a reason in `reasons.csv` is a failure, as is a reason there
for no survivor. What was tried is kept in ``build/mutants`` until the modules or the tests of the
package change: an interrupted run goes on where it was.
"""

import csv
import json
import os
import shutil
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.forked import Tests, measured, run
from tests.mutants.sample import sample

ROOT = Path(__file__).parents[2]
N_MUTANTS, LEAST_CAUGHT = 300, 0.9
PACKAGES = {  # names of modules, with wildcards, and of the tests that must notice a change in one
    "kmaps.bench.records.*": "tests.bench.re[cp]or[dt]*.test_* tests.cli.test_check "
    "tests.cli.test_table tests.bench.paper.test_claims tests.test_published",
    "kmaps.bench.paper.designs kmaps.bench.paper.intervals "
    "kmaps.bench.paper.verdicts": "tests.bench.paper.test_* "
    "tests.bench.records.test_correct tests.test_published",
    "kmaps.bench.work.storage": "tests.bench.work.test_*",
    "kmaps.svm.losses kmaps.svm.grouplasso.problem kmaps.svm.coded.problem "
    "kmaps.svm.coded.descent kmaps.svm.coded.rounds": "tests.svm.test_losses "
    "tests.svm.coded.test_[bdmr]* tests.svm.grouplasso.test_*",
}
CERTIFY = {  # the functions of solvers that certify; what the others do, these find out
    "kmaps/svm/coded/descent.py": ["_certified", "solve"],
    "kmaps/svm/coded/rounds.py": ["_certified", "solve", "solve_in_blocks"],
    "kmaps/svm/losses.py": ["stated", "high", "ridge", "cost", "slope", "conjugate", "_short"],
    "kmaps/svm/grouplasso/problem.py": ["_gap", "group_lengths", "solve"],
}
LIBRARIES = (
    *("coverage", "pandas", "numba", "hypothesis.strategies", "pydantic", "click.testing", "rich"),
    *("scipy.optimize", "sklearn.linear_model", "sklearn.svm", "sklearn.utils.estimator_checks"),
)


def files(root, names):
    """Return the paths in a tree of the modules that some names with wildcards mean."""
    patterns = [f"{name.replace('.', '/')}.py" for name in names.split()]
    found = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    return [str(path.relative_to(root)) for path in found]


def name_of(path):
    """Return the name of the module in a file, as `reasons.csv` and the command line have it."""
    return path.removesuffix(".py").replace("/", ".")


def try_all(tree, package, drawn, kept):
    """Try mutants of a package in a tree; yield each with the test that catches it, or nothing."""
    kept.mkdir(parents=True, exist_ok=True)
    modules, tests = (files(tree, names) for names in package)
    content = b"".join((tree / name).read_bytes() for name in [*modules, *tests])
    measure = kept / f"{sha256(content).hexdigest()}.tests"
    if not measure.exists():
        measure.write_text(json.dumps(measured(tree, modules, tests, kept / "log")))
    of_package = Tests(*json.loads(measure.read_text()))
    outcomes = measure.with_suffix(".outcomes")
    outcomes.touch()
    known, earlier = _read([outcomes]), _read(kept.glob("*.outcomes"))
    for mutant in drawn:
        key = sha256(f"{mutant.module} {mutant.source}".encode()).hexdigest()
        if key not in known:
            found = of_package.of(mutant.module, *mutant.lines)
            first = [test for test in found if test == earlier.get(key)]
            chosen = list(dict.fromkeys([*first, *found]))
            known[key] = _caught_by(tree, mutant, chosen, kept / "log", len(known))
            with outcomes.open("a") as file:
                file.write(json.dumps([key, known[key]]) + "\n")
        yield mutant, known[key]


def _read(paths):
    """Return the outcomes in some files: what caught a mutant, by its key."""
    return dict(json.loads(line) for path in paths for line in path.read_text().splitlines())


def _caught_by(tree, mutant, chosen, log, number):
    """Return what catches a mutant, or nothing; ``number`` is another one for each."""
    path = tree / mutant.module
    before, at = path.read_text(), path.stat().st_mtime
    path.write_text(mutant.source)
    os.utime(path, (number, number))  # else Python may take what it compiled of another mutant
    try:
        return run(tree, chosen, log) if chosen else ""
    finally:
        path.write_text(before)
        os.utime(path, (at, at))


def report(caught, reasons):
    """Print the survivors with their reasons, and how many there are; return an exit code."""
    given = {(row["module"], row["line"], row["becomes"]): row["reason"] for row in reasons}
    survivors = [mutant for mutant, test in caught.items() if not test]
    found = [(name_of(one.module), one.line, one.becomes) for one in survivors]
    for mutant, change in zip(survivors, found, strict=True):
        reason = given.get(change, "NO REASON: write a test that notices it")
        print(f"{mutant.module}:{mutant.lines[0]}\n  {mutant.line}\n  {mutant.becomes}\n  {reason}")
    stale, missing = given.keys() - set(found), sum(change not in given for change in found)
    for change in sorted(stale):
        print("STALE, a reason for no survivor:", *change)
    n_caught = len(caught) - len(survivors)
    print(f"{len(caught)} mutants: {n_caught} caught, {len(survivors)} survivors,", end=" ")
    print(f"{missing} of them without a reason; {len(stale)} stale reasons")
    return int(bool(stale or missing) or n_caught < LEAST_CAUGHT * len(caught))


def main():
    """Try the sample, or the part of it in the modules that are named, and report."""
    os.environ |= {f"{one}_NUM_THREADS": "1" for one in ("OMP", "OPENBLAS", "NUMBA")}
    for name in LIBRARIES:
        import_module(name)
    every = files(ROOT, " ".join(PACKAGES))
    asked = sys.argv[1:] or list(map(name_of, every))
    all_drawn = sample(ROOT, every, N_MUTANTS, CERTIFY)
    drawn = [one for one in all_drawn if name_of(one.module) in asked]
    caught = {}
    ignored = shutil.ignore_patterns(".git", ".venv*", "build", ".*_cache")
    with TemporaryDirectory() as folder:
        tree = shutil.copytree(ROOT, Path(folder, "tree"), ignore=ignored)
        for package in PACKAGES.items():
            some = [one for one in drawn if one.module in files(ROOT, package[0])]
            found = try_all(tree, package, some, ROOT / "build" / "mutants") if some else ()
            for mutant, test in found:
                caught[mutant] = test
                place = f"{len(caught)}/{len(drawn)} {mutant.module}:{mutant.lines[0]}"
                print(place, test or "SURVIVED", file=sys.stderr)
    with Path(__file__).with_name("reasons.csv").open(newline="") as file:
        return report(caught, [row for row in csv.DictReader(file) if row["module"] in asked])


if __name__ == "__main__":
    sys.exit(main())
