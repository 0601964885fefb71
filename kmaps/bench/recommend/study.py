"""What ``kmaps recommend`` misses: its first machine against the best one of a full grid.

``python -m kmaps.bench.recommend.study FOLDER`` does it for every dataset of FOLDER, each a folder
with the full grid as ``experiment.yaml``, and writes FOLDER/README.md; machines on record are not
measured again.

`recommend` gets the training samples of the grid's split, nothing else. Its first machine is then
trained on all of them, with the C that was chosen, and tested on the test samples of the split. The
best machine of the full grid is the one with the highest accuracy on these very samples, which
favours it.
"""

import json
import shlex
import sys
from math import inf
from pathlib import Path
from shutil import copyfile
from typing import Any

import numpy as np

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.load import load
from kmaps.bench.recommend.choices import Choice, Limits, points_by_key
from kmaps.bench.recommend.measure import recommend
from kmaps.bench.recommend.sample import draw_sample
from kmaps.bench.recommend.written import model_of, options_of
from kmaps.bench.records.columns import Record
from kmaps.bench.records.correct import Correct, outcomes_of, read_correct
from kmaps.bench.records.definition import FILE as DEFINITION
from kmaps.bench.records.file import FILE_NAME, read_records
from kmaps.bench.records.statistics.designs import RandomSplits
from kmaps.bench.records.statistics.intervals import difference
from kmaps.bench.report.markdown import markdown_table
from kmaps.bench.report.page import environment
from kmaps.bench.run.runner import run
from kmaps.errors import ConfigError
from kmaps.io import LabelledRows, atomic_file, open_reader

COMMAND = "make measure-recommend"
TRIED = "tried.jsonl"
FOUND = "recommended.json"

_ROWS, _HOLD_OUT = 3000, 0.3  # the defaults of the command
_WORK = Path("runs", "recommend")
_PAGE = """# What `kmaps recommend` misses

    {command}

`kmaps recommend` was given the training samples of each dataset. The first machine that it shows,
trained on all of them with the C that it names, is compared with the best of a full grid (LIBSVM
with nine kernels, LIBLINEAR, the exact kernels on codes and twelve maps, each with a C of its own),
on the same test samples. The best of the grid is chosen by its accuracy on these samples, which
favours it. The interval, 95 %, is that of the difference on the test samples. Beside it stands the
accuracy that `recommend` itself measured, on the samples that it held out.

{table}

The options of `kmaps train` for these machines:

{options}

Every folder has its full grid (`experiment.yaml`, `records.jsonl`, `correct.npz`), what `recommend`
measured (`tried.jsonl`) and the comparison (`recommended.json`). Other work on the machine spoils
times, not accuracies.

{environment}
"""


def measure(folder: Path) -> None:
    """Write what the full grid reaches, and what `recommend` chooses, to a dataset's folder."""
    experiment = load(folder / DEFINITION)
    print(f"{folder}: full grid", flush=True)
    records = run(experiment, folder, command=COMMAND, progress=_tell).records
    kind = KINDS[experiment.kind]
    split = kind.set_up(kind.cells(experiment)[0])
    work = _WORK / folder.name
    work.mkdir(parents=True, exist_ok=True)
    np.savez(work / "train.npz", X=split.x_train, y=split.y_train)
    sample = draw_sample(LabelledRows(open_reader(work / "train.npz")), _ROWS)
    print(f"{folder}: recommend", flush=True)
    found = recommend(
        sample, work, hold_out=_HOLD_OUT, limits=Limits(), progress=_tell, command=COMMAND
    )
    copyfile(work / FILE_NAME, folder / TRIED)
    first = found.choices[0]
    predicted = model_of(first.record).fit(split.x_train, split.y_train).predict(split.x_test)
    compared = _compared(first, Correct.of(split.y_test, predicted), records, folder)
    with atomic_file(folder / FOUND, force=True) as file:
        file.write((json.dumps(compared, indent=2) + "\n").encode())


def _tell(progress: Any) -> None:
    left = inf if progress.seconds_left is None else progress.seconds_left / 60
    print(f"{progress.done}/{progress.total}, {left:.0f} min left", flush=True)


def _compared(first: Choice, ours: Correct, records: list[Record], folder: Path) -> dict[str, Any]:
    """Return the comparison of a machine with the best one of the full grid."""
    best = best_of(records)
    theirs = read_correct(folder, records)[best["key"]]
    estimate = difference(
        [ours.accuracy],
        [best["accuracy"]],
        RandomSplits(best["n_train"], best["n_test"]),
        [outcomes_of(ours, theirs, by_class=False)],
    )
    return {
        "dataset": best["dataset"],
        "n_train": best["n_train"],
        "n_test": best["n_test"],
        "grid": len(records),
        "best": points_by_key(records)[best["key"]].name,
        "best_accuracy": best["accuracy"],
        "recommended": first.point.name,
        "options": shlex.join(options_of(first.record)),
        "accuracy": ours.accuracy,
        "difference": estimate.value,
        "interval": list(estimate.bounds(0.05)),
        "held_out_accuracy": first.record["accuracy"],
        "held_out_interval": list(first.interval),
    }


def best_of(records: list[Record]) -> Record:
    """Return the record with the highest accuracy; the first of several."""
    return max(
        (record for record in records if record["status"] == "ok"),
        key=lambda record: record["accuracy"],
    )


def page(folder: Path) -> str:
    """Return the page on all datasets, from what is in their folders."""
    found = {
        path.parent: json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob(f"*/{FOUND}"))
    }
    paths = [path for one in found for path in (one, one / TRIED)]
    records = [record for path in paths for record in read_records(path)]
    table = markdown_table(
        [
            *("dataset", "best of the full grid", "recommended", "train, test", "best, %"),
            *("recommended, %", "difference, points", "held out, %"),
        ],
        [_line(one) for one in found.values()],
        texts=3,
    )
    options = "\n".join(f"- {one['dataset']}: `{one['options']}`" for one in found.values())
    return _PAGE.format(
        command=COMMAND, table=table, options=options, environment=environment(records)
    )


def _line(one: dict[str, Any]) -> list[str]:
    low, high = one["interval"]
    held = [f"{100 * end:.2f}" for end in one["held_out_interval"]]
    return [
        one["dataset"],
        f"{one['best']} (of {one['grid']})",
        one["recommended"],
        f"{one['n_train']:,}, {one['n_test']:,}",
        f"{100 * one['best_accuracy']:.2f}",
        f"{100 * one['accuracy']:.2f}",
        f"{one['difference']:+.2f} ({low:+.2f} to {high:+.2f})",
        f"{100 * one['held_out_accuracy']:.2f} ({held[0]} to {held[1]})",
    ]


def main(folder: Path) -> None:
    """Measure every dataset of a folder as far as it is not on record, and write the page."""
    definitions = sorted(folder.glob(f"*/{DEFINITION}"))
    if not definitions:
        raise ConfigError(f"{folder}: no folder with an {DEFINITION}")
    for path in definitions:
        measure(path.parent)
    (folder / "README.md").write_text(page(folder), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
