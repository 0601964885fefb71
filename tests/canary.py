"""The published runs, one or two cheap cells of each measured again: ``make canary``.

A change of the code that moves a published number shows here without measuring everything again.
Of each run under ``results/`` the cheapest cells are taken, of two methods where there are two.
Their records are left out of a copy of the run, in which `kmaps run` then measures just them; a key
that changed shows as a cell too many. `kmaps check` compares them with the published records.
``--third`` takes a third of the runs, which the hash of the commit's tree draws: continuous
integration measures them in a quarter of an hour, the same ones for the same tree.
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import chain
from pathlib import Path

from kmaps.bench.records.gate import FRACTIONS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
TIMES = ("fit_s", "encode_s", "convert_s", "train_s", "predict_s", "cv_s")
ONLY_ONE_ABOVE_S = 10.0  # a run whose cheapest cell takes longer gets one cell

_PASS = ("same", "changed", "improved")  # as in the gate; what differs is printed
SIZES = ("n_train", "n_test", "n_features")
WORDS = ("dense-sift-bow", "phow")
WORDS_FRACTION, WORDS_RELATIVE = 0.01, 0.01
"""How far a cell on visual words may move on another processor than the published one.

Words are the means of k-means, which take another path when the last bit of a sum differs: measured
are up to 0.8 points of accuracy or average precision, 0.05 % of stored bytes and 1 % of the error
of a kernel.
"""


def cost_s(record: dict) -> float:
    return sum(record.get(column) or 0.0 for column in TIMES)


def cheap_cells(records: Sequence[dict]) -> list[dict]:
    """Return the cheapest cell of a run, and the cheapest one of another method on its split."""
    ours = [record for record in records if record["status"] == "ok" and not _third_party(record)]
    if (ours[0]["features"] or "").startswith(WORDS):
        # Each split has a vocabulary, which takes minutes: runs on the same words share the first.
        first_split = min(record["split"] for record in ours)
        ours = [record for record in ours if record["split"] == first_split]
    # Where no time is on record, the cheapest one has the fewest outputs.
    first, *others = sorted(ours, key=lambda of: (cost_s(of), of["dim"] or 0.0, of["key"]))
    if cost_s(first) > ONLY_ONE_ABOVE_S:
        return [first]
    shared = ("dataset", "features", "normalize", "split")
    alike = [
        record
        for record in others
        if record["method"] != first["method"]
        and all(record[column] == first[column] for column in shared)
        and cost_s(record) <= ONLY_ONE_ABOVE_S
    ]
    return [first, *alike[:1]]


def _third_party(record: dict) -> bool:
    """Return whether a cell needs software that is no part of kmaps."""
    by_itself = record["solver"] == "own" and not record["method"].startswith("kmaps.")
    return by_itself or "cyvlfeat" in record["versions"]


def measure(name: str) -> tuple[int, bool, list[str]]:
    """Measure the cheap cells of a run again, and compare them with the published records.

    Return the number of cells, whether they differ, and what `kmaps check` says, or the error.
    """
    published = RESULTS / name
    records = [json.loads(line) for line in (published / "records.jsonl").open()]
    cells = cheap_cells(records)
    keys = {record["key"] for record in cells}
    left = shutil.ignore_patterns("*.png", "*.md", "times.jsonl")  # the times are of all cells
    with tempfile.TemporaryDirectory() as text:
        ours, theirs = Path(text) / name, Path(text) / "published" / name
        for folder in (ours, theirs):
            shutil.copytree(published, folder, ignore=left)
        _write(ours, [record for record in records if record["key"] not in keys])
        ran = _kmaps("run", name, "--out", str(ours), "--threads", "1", "--quiet")
        after = [json.loads(line) for line in (ours / "records.jsonl").open()]
        again = [record for record in after if record["key"] in keys]
        # What counts are the records: a figure may lack the arrays of cells that are not published.
        problem = ""
        if len(after) > len(records):
            problem = f"{len(after) - len(records)} cells too many: keys have changed"
        elif len(again) < len(cells):
            problem = f"kmaps run: exit code {ran.returncode}: {ran.stderr.strip()[-500:]}"
        if problem:
            return len(again), True, [problem]
        _write(ours, again)
        fresh = {record["key"]: record for record in again}
        for record in cells:  # older ones lack sizes, which are conditions of the gate
            record |= {size: fresh[record["key"]][size] for size in SIZES if record[size] is None}
        _write(theirs, cells)
        checked = _kmaps("check", str(ours), "--against", str(theirs), "--json")
        if not checked.stdout:
            return len(again), True, [checked.stderr]
        verdicts = json.loads(checked.stdout)["cells"]
        moved = again[0]["cpu"] != cells[0]["cpu"] and again[0]["features"].startswith(WORDS)
        wrong = [one for one in verdicts if not _holds(one, moved=moved)]
        shown = [one for one in verdicts if one["verdict"] != "same"]
        lines = [f"{one['verdict']}: {one['name']}: {one['reason']}" for one in shown]
        return len(again), bool(wrong), lines


def _holds(verdict: dict, *, moved: bool) -> bool:
    """Return whether a cell is as published; ``moved``: on words, by another processor."""
    if verdict["verdict"] in _PASS or not (moved and verdict["differences"]):
        return verdict["verdict"] in _PASS
    return all(
        one["verdict"] in _PASS
        or abs(one["ours"] - one["baseline"])
        <= (WORDS_FRACTION if one["column"] in FRACTIONS else WORDS_RELATIVE * one["baseline"])
        for one in verdict["differences"]
    )


def _write(folder: Path, records: Sequence[dict]) -> None:
    (folder / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))


def _kmaps(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "kmaps", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def published_runs() -> list[list[str]]:
    """Return the names of the published runs, in lists of those that share stages of features.

    Runs of a list are measured one after another, since two at a time would compute each block of
    a shared stage twice. Words come first: they take longest.
    """
    names = defaultdict(list)
    for file in RESULTS.glob("*/records.jsonl"):
        first = json.loads(next(file.open()))
        features = first["features"] or ""
        stage = re.sub(r" words=\d+", "", features)  # descriptors, which all vocabularies share
        shared = not stage.startswith(WORDS), first["dataset"] or "", stage
        names[shared].append((features, file.parent.name))
    return [[name for _, name in sorted(runs)] for _, runs in sorted(names.items())]


def third(groups: Sequence[list[str]], tree: str) -> list[list[str]]:
    """Return the lists of runs that hold a third of all runs, drawn by the hash of a tree.

    Of those on words, which take longest, there is a third as well.
    """
    ranked = sorted(groups, key=lambda names: sha256(f"{tree} {names[0]}".encode()).hexdigest())
    drawn = []
    for on_words in (True, False):
        alike = [names for names in ranked if is_on_words(names[0]) == on_words]
        left = sum(map(len, alike)) / 3
        for names in alike:
            if left > 0:
                part = names[: math.ceil(left)]
                drawn.append(part)
                left -= len(part)
    return drawn


def is_on_words(name: str) -> bool:
    first = json.loads(next((RESULTS / name / "records.jsonl").open()))
    return (first["features"] or "").startswith(WORDS)


def tree_hash() -> str:
    """Return the hash of the tree of the commit that is checked out."""
    git = ["git", "rev-parse", "HEAD^{tree}"]
    return subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def measure_in_turn(names: Sequence[str]) -> list[tuple[int, bool, int]]:
    """Measure runs in turn, print a line for each; return their numbers of cells, whether they
    differ, and how many cells changed within their tolerance."""
    outcomes = []
    for name in names:
        began = time.monotonic()
        n_cells, differs, lines = measure(name)
        title = f"{time.monotonic() - began:6.0f} s  {'DIFFERS' if differs else 'same':8}{name}"
        print("\n          ".join([title, *lines]), flush=True)
        n_changed = sum(line.startswith("changed: ") for line in lines)
        outcomes.append((n_cells, differs, n_changed))
    return outcomes


def main() -> None:
    """Measure, and end with 1 where a run differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="Names of runs; by default all.")
    parser.add_argument("--third", action="store_true", help="Measure a third of all runs.")
    asked = parser.parse_args()
    began = time.monotonic()
    groups = [[name] for name in asked.runs] or published_runs()
    if asked.third:
        groups = third(groups, tree_hash())
    with ThreadPoolExecutor(2) as pool:
        of_runs = chain(*pool.map(measure_in_turn, groups))
        n_cells, differ, changed = zip(*of_runs, strict=True)
    print(f"{sum(n_cells)} cells of {len(differ)} runs in {time.monotonic() - began:.0f} s")
    print(
        f"canary: {differ.count(False)} passed, {sum(differ)} failed, "
        f"{sum(changed)} cells changed within their tolerance"
    )
    sys.exit(any(differ))


if __name__ == "__main__":
    main()
