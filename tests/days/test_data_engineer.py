"""The third day: large tables, long training, a model that lives on."""

import json
import re

import pandas as pd
import pytest

from tests.days import files

pytestmark = pytest.mark.soak
N_ROWS = 200_000
READ = """
import sys
import time
import warnings
import pandas
from kmaps.io import open_reader, read_blocks
warnings.simplefilter("ignore")
path, others = sys.argv[1], []
for _ in range(3):
    start = time.process_time()
    pandas.read_csv(path)
    others.append(time.process_time() - start)
start = time.process_time()
rows = sum(X.shape[0] for X, _ in read_blocks(open_reader(path, label_column="cls")))
ours = time.process_time() - start
print(f"{rows} rows: {ours:.2f} s, pandas {min(others):.2f} s, {ours / min(others):.1f} times")
"""
START = """
from kmaps.cli import main
print("begun", flush=True)
main()
"""
EQUAL = """
import csv
import numpy as np
from kmaps.io import open_reader, read_blocks
X = np.vstack([X for X, _ in read_blocks(open_reader("quoted.csv", label_column="cls"))])
with open("quoted.csv") as file:
    rows = csv.reader(file)
    next(rows)
    unlike = sum(list(map(float, row[:-1])) != X[i].tolist() for i, row in enumerate(rows))
print("rows that differ from Python's floats:", unlike)
"""


def test_csv_is_read_at_the_speed_of_its_parser(shell):
    table = files.classes_that_overlap(N_ROWS)
    table.to_csv(shell.folder / "plain.csv", index=False)
    table.to_csv(shell.folder / "quoted.csv", index=False, quoting=2)  # QUOTE_NONNUMERIC
    (shell.folder / "read.py").write_text(READ)
    for name in ("plain.csv", "quoted.csv"):
        done = shell(f"python read.py {name}")
        times = float(re.search(r"([\d.]+) times", done.stdout)[1])
        shell.check(f"{name} takes at most 3 times pandas.read_csv", times <= 3)
    shell.check("each value is Python's float", shell.python(EQUAL).stdout.strip().endswith(": 0"))
    lines = (shell.folder / "quoted.csv").read_text().splitlines(keepends=True)
    lines[150_000] = '"f",' + lines[150_000].partition(",")[2]
    (shell.folder / "bad.csv").write_text("".join(lines))
    bad = shell("kmaps train bad.csv m.npz --label-column cls", code=2).stderr
    shell.check(
        "a bad value has its line, column and name",
        all(text in bad for text in ("bad.csv:150001", "bin_0", "(1)", "'f'")),
    )


def test_long_training_speaks_and_obeys(shell):
    table = files.classes_that_overlap(N_ROWS)
    table.to_parquet(shell.folder / "train.parquet")
    train = (
        "kmaps train train.parquet m.npz --label-column cls -C 1000 --tol 1e-9 --max-iter 100000"
    )
    done, seconds = shell.interrupted(train, after_s=75)
    lines = done.stdout.splitlines()
    spoken = [line for line in lines if "left" in line or "so far" in line]
    print(spoken)
    shell.check("a line at least every 30 s", len(spoken) >= 2)
    shell.check("training ends within 5 s", seconds < 5)
    shell.check("it says so, exit code 130", (done.code, lines[-1]) == (130, "interrupted"))
    shell.check("no file is left", not [*shell.folder.glob("*m.npz*")])
    done, seconds = shell.interrupted(f"{train} --quiet", after_s=40)
    shell.check("no line with --quiet", done.stdout == "interrupted\n")
    shell.check("training ends within 5 s", seconds < 5)
    # From when Python itself has started, which no program can make quiet.
    (shell.folder / "start.py").write_text(START)
    for after_s in (0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6):
        line = "python start.py train train.parquet m.npz --label-column cls"
        done, _ = shell.interrupted(line, after_s, "begun\n")
        shell.check(
            "Ctrl-C while kmaps starts: one line",
            (done.stdout, done.code) == ("begun\ninterrupted\n", 130),
        )


def test_a_sample_first(shell):
    files.classes_that_overlap(20_000).to_parquet(shell.folder / "train.parquet")
    done = shell("kmaps train train.parquet m.npz --label-column cls -C 0.01 --sample 4000")
    said = done.stdout + done.stderr
    shell.check(
        "both accuracies and a paired interval", re.search(r"4,000 rows .*% interval", said)
    )
    info = shell("kmaps info m.npz --json").stdout
    shell.check(
        "the model is that of all rows but those held out",
        json.loads(info)["record"]["rows"] == 16_000,
    )


def test_a_model_after_training(shell):
    files.digits(shell.folder)
    test = pd.read_csv(shell.folder / "test.csv")
    pixels = test.columns.drop("digit")
    test.assign(**{name: 1.8 * test[name] for name in pixels}).to_csv(
        shell.folder / "brighter.csv", index=False
    )
    shell("kmaps train train.csv m.npz --label-column digit")
    refused = shell.python(
        """
        import kmaps
        kmaps.load_model("m.npz").partial_fit([[1.0]], [1])
        """,
        code=1,
    )
    shell.check("partial_fit says how to begin with codes", "Quantizer" in refused.stderr)
    updated = shell.python(
        """
        import pandas as pd
        from kmaps import CodedSVC
        from kmaps.codes import Quantizer
        train = pd.read_csv("train.csv")
        X, y = train.drop(columns="digit").to_numpy(float), train["digit"].to_numpy()
        quantizer = Quantizer(strategy="shared").fit(X)
        model = CodedSVC(levels=quantizer.levels_)
        for start in (0, 600):
            codes = quantizer.transform(X[start : start + 600])
            model.partial_fit(codes, y[start : start + 600], classes=range(10))
        print(model.score(quantizer.transform(X), y))
        """
    )
    shell.check("and that way works", float(updated.stdout or 0) > 0.9)
    same = shell("kmaps evaluate m.npz test.csv --label-column digit --max-drift 0.5")
    shell.check("rows as in training: exit code 0", same.code == 0)
    drifted = shell(
        "kmaps evaluate m.npz brighter.csv --label-column digit --max-drift 0.05", code=1
    )
    for kind in ("outside the ranges", "levels that training did not have", "histograms"):
        shell.check(f"drift, by columns: {kind}", kind in drifted.stderr)
    counts = []
    for memory in ("1000", "1"):
        line = (
            f"kmaps predict m.npz brighter.csv p{memory}.txt --memory {memory} --label-column digit"
        )
        counts.append(re.search(r"([\d,]+) of ([\d,]+) values", shell(line).stderr).groups())
    shell.check("one count for all blocks", counts[0] == counts[1] and counts[0][1] == "38,208")
