"""
A gate in continuous integration
================================

`kmaps run` writes one record per cell, and `kmaps check` compares these records with earlier ones,
the baseline. Here somebody changes a feature map "to save memory". The gate measures the map again,
names the rows that became worse, and ends with exit code 1, which fails a build.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import numpy as np

folder = Path(mkdtemp())
(folder / "gate.yaml").write_text("""
experiment: gate
dataset: {name: digits, train: 900, test: 800}
splits: 3
kernels: [chi2]
reductions: [ovr]
baselines: [linear, exact-coded]
maps:
  - {estimator: roots.Roots}
C: 1
""")
CODE = """
class Roots:
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return CHANGED
"""


def kmaps(*words):
    command = [sys.executable, "-m", "kmaps", *words]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True)


def measure(code, out):
    (folder / "roots.py").write_text(CODE.replace("CHANGED", code))
    kmaps("run", "gate.yaml", "--out", out, "--allow-code", "--quiet")
    lines = (folder / out / "records.jsonl").read_text().splitlines()
    found = {}
    for record in map(json.loads, lines):
        found.setdefault(record["method"], []).append(100 * record["accuracy"])
    return found


baseline = measure("X**0.5", "baseline")
now = measure("(X**0.5).round()", "now")
done = kmaps("check", "now", "--against", "baseline")
print(done.stdout, "exit code", done.returncode)

# %%
# Three splits of each row, before and after the change:
fig, ax = plt.subplots(figsize=(7, 2.8))
for row, method in enumerate(baseline):
    ax.plot(baseline[method], np.full(3, row + 0.12), "o", color="C0", label="baseline")
    ax.plot(now[method], np.full(3, row - 0.12), "o", color="C1", label="now")
ax.set_yticks(range(len(baseline)), baseline)
ax.set(xlabel="accuracy, %", ylim=(-0.6, len(baseline) - 0.4), title="The gate sees the change")
ax.legend(*(one[:2] for one in ax.get_legend_handles_labels()), loc="lower left")
