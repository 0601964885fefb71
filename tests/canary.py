"""The published runs, one or two cheap cells of each measured again: ``make canary``.

A change of the code that moves a published number shows here without measuring everything again.
Of each run under ``results/`` the cheapest cells are taken, of two methods where there are two.
Their records are left out of a copy of the run, in which `kmaps run` then measures just them; a key
that changed shows as a cell too many. `kmaps check` compares them with the published records.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kmaps.bench.records.gate import FRACTIONS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results"
TIMES = ("fit_s", "encode_s", "convert_s", "train_s", "predict_s", "cv_s")
ONLY_ONE_ABOVE_S = 10.0  # a run whose cheapest cell takes longer gets one cell

_PASS = ("same", "improved")  # as in the gate; what improved is printed
SIZES = ("n_train", "n_test", "n_features")
WORDS = ("dense-sift-bow", "phow")
WORDS_FRACTION, WORDS_RELATIVE = 0.01, 0.01
"""How far a cell on visual words may move on another processor than the published one.

Words are the means of k-means, which take another path when the last bit of a sum differs: measured
are up to 0.8 points of accuracy or average precision, 0.05 % of stored bytes and 1 % of the error
of a kernel.
"""


@dataclass(frozen=True)
class Outcome:
    """What measuring cells again came to; ``lines`` have what `kmaps check` says, or the error."""

    name: str
    n_cells: int
    seconds: float
    failed: bool
    lines: list[str]


def cost_s(record: dict) -> float:
    return sum(record.get(column) or 0.0 for column in TIMES)


def cheap_cells(records: Sequence[dict]) -> list[dict]:
    """Return the cheapest cell of a run, and the cheapest one of another method on its split."""
    ours = [record for record in records if record["status"] == "ok" and not _third_party(record)]
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


def measure(name: str, threads: int) -> Outcome:
    """Measure the cheap cells of a run again, and compare them with the published records."""
    began = time.monotonic()
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
        ran = _kmaps("run", name, "--out", str(ours), "--threads", str(threads), "--quiet")
        after = [json.loads(line) for line in (ours / "records.jsonl").open()]
        again = [record for record in after if record["key"] in keys]
        # What counts are the records: a figure may lack the arrays of cells that are not published.
        problem = ""
        if len(after) > len(records):
            problem = f"{len(after) - len(records)} cells too many: keys have changed"
        elif len(again) < len(cells):
            problem = f"kmaps run: exit code {ran.returncode}: {ran.stderr.strip()[-500:]}"
        if problem:
            return Outcome(name, len(again), time.monotonic() - began, True, [problem])
        _write(ours, again)
        # Older records lack sizes, which are conditions of the gate.
        sizes = {record["key"]: {name: record[name] for name in SIZES} for record in again}
        for record in cells:
            record |= {k: v for k, v in sizes[record["key"]].items() if record[k] is None}
        _write(theirs, cells)
        checked = _kmaps("check", str(ours), "--against", str(theirs), "--json")
        if not checked.stdout:
            return Outcome(name, len(again), time.monotonic() - began, True, [checked.stderr])
        verdicts = json.loads(checked.stdout)["cells"]
        moved = again[0]["cpu"] != cells[0]["cpu"] and again[0]["features"].startswith(WORDS)
        wrong = [one for one in verdicts if not _holds(one, moved=moved)]
        shown = [one for one in verdicts if one["verdict"] != "same"]
        lines = [f"{one['verdict']}: {one['name']}: {one['reason']}" for one in shown]
        return Outcome(name, len(again), time.monotonic() - began, bool(wrong), lines)


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
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def published_runs() -> list[str]:
    """Return the names of the published runs, those on the same features next to each other."""
    features = {}
    for file in RESULTS.glob("*/records.jsonl"):
        first = json.loads(next(file.open()))
        features[file.parent.name] = (first["dataset"] or "", first["features"] or "")
    return sorted(features, key=lambda name: (features[name], name))


def main() -> None:
    """Measure, print a line per run, and end with 1 where a run differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="Names of runs; by default all.")
    parser.add_argument("--jobs", type=int, default=2, help="Runs measured at the same time.")
    asked = parser.parse_args()
    began = time.monotonic()
    with ThreadPoolExecutor(asked.jobs) as pool:
        outcomes = []
        for outcome in pool.map(lambda name: measure(name, 1), asked.runs or published_runs()):
            outcomes.append(outcome)
            verdict = "DIFFERS" if outcome.failed else "same"
            print(f"{outcome.seconds:6.0f} s  {verdict:8}{outcome.name}", flush=True)
            for line in outcome.lines:
                print(f"          {line}", flush=True)
    failed = [outcome.name for outcome in outcomes if outcome.failed]
    n_cells = sum(outcome.n_cells for outcome in outcomes)
    print(f"{n_cells} cells of {len(outcomes)} runs in {time.monotonic() - began:.0f} s")
    print(f"canary: {len(outcomes) - len(failed)} passed, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
