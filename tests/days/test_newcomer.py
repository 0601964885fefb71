"""The first day: a table of measurements, a model, its page, other models, a container."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.days import files
from tests.days.shell import COMPILING, environment

pytestmark = pytest.mark.soak
SHARED = "--level-ranges shared"
FEW = "fewer than 4"
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"


def accuracy(shell, model: str, rows: str) -> float:
    """Return the accuracy of a model, as `kmaps evaluate` has it."""
    done = shell(f"kmaps evaluate {model} {rows} --label-column cls --json --quiet")
    return json.loads(done.stdout)["accuracy"]


USED_LEVELS = """
import numpy as np
import pandas as pd
import kmaps
X = pd.read_csv("bc_train.csv").drop(columns="cls")
for name in ("own.npz", "shared.npz"):
    levels = np.atleast_2d(kmaps.load_model(name).model_.levels)
    used = []
    for j, column in enumerate(X.to_numpy().T):
        ladder = np.unique(levels[j if len(levels) > 1 else 0])
        used.append(len(np.unique(abs(column[:, None] - ladder).argmin(axis=1))))
    print(name, sum(number < 8 for number in used))
"""


def test_columns_of_unlike_units_keep_their_levels(shell):
    files.breast_cancer(shell.folder)
    files.digits(shell.folder)
    own = shell("kmaps train bc_train.csv own.npz --label-column cls")
    shell.check(
        "one line says that columns have levels of their own", own.stderr.count(SHARED) == 1
    )
    shell.check("no line names columns of few levels", FEW not in own.stderr)
    shared = shell(f"kmaps train bc_train.csv shared.npz --label-column cls {SHARED}")
    shell.check("shared levels: a line names columns of few levels", FEW in shared.stderr)
    used = shell.python(USED_LEVELS).stdout
    shell.check("no column uses fewer than 8 of its levels", "own.npz 0" in used)
    shell.check("shared levels: 20 columns use fewer than 8", "shared.npz 20" in used)
    scaled = shell("kmaps train bc_train.csv scaled.npz --label-column cls --normalize min-max")
    shell.check("scaled columns share their levels without a line", SHARED not in scaled.stderr)
    shell.check(
        "the model keeps the normalisation", "min-max" in shell("kmaps info scaled.npz").stdout
    )
    accuracies = {
        name: accuracy(shell, f"{name}.npz", "bc_test.csv") for name in ("own", "shared", "scaled")
    }
    print(accuracies)
    shell.check("all are right for 95 % of the test rows", min(accuracies.values()) > 0.95)
    by_python = shell.python(
        """
        import pandas as pd
        import kmaps
        test = pd.read_csv("bc_test.csv")
        print(kmaps.load_model("scaled.npz").score(test.drop(columns="cls"), test["cls"]))
        """
    )
    shell.check("Python scales as commands do", float(by_python.stdout) == accuracies["scaled"])
    done = shell("kmaps train train.csv digits.npz --label-column digit")
    shell.check("pixels share their levels without a line", "note:" not in done.stderr)


def page_data(path: Path) -> dict:
    """Return the numbers of an explanation's page."""
    text = path.read_text()
    return json.loads(
        re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1]
    )


def test_a_page_shows_the_values_of_the_row(shell):
    files.breast_cancer(shell.folder)
    files.digits(shell.folder)
    shell("kmaps train bc_train.csv m.npz --label-column cls --probability temperature --quiet")
    shell("kmaps explain m.npz --data bc_test.csv --label-column cls --row 0 -o page.html")
    header, first = (shell.folder / "bc_test.csv").read_text().splitlines()[:2]
    of_file = dict(zip(header.split(","), first.split(","), strict=True))
    data = page_data(shell.folder / "page.html")
    [row] = data["rows"]
    names = [feature["name"] for feature in data["features"]]
    values = dict(zip(names, row["values"], strict=True))
    print(values)
    shell.check(
        "each value is that of the file",
        all(values[name] == float(of_file[name]) for name in names),
    )
    [classes] = data["columns"]
    shell.check(
        "it says of which class the score is", {"malignant", "benign"} <= {*classes.split()}
    )
    shell.check("it has the probability", row["probability"] and row["predicted"] in of_file["cls"])
    shell("kmaps train train.csv digits.npz --label-column digit --quiet")
    shell("kmaps explain digits.npz --data test.csv --label-column digit --row 0 -o digits.html")
    data = page_data(shell.folder / "digits.html")
    [row] = data["rows"]
    shell.check(
        "the predicted class is shown first", data["columns"][row["column"]] == row["predicted"]
    )
    done = shell.python(
        """
        import warnings
        import pandas as pd
        import kmaps
        from kmaps.models import explanation
        warnings.simplefilter("error")
        test = pd.read_csv("test.csv").drop(columns="digit")
        model = kmaps.load_model("digits.npz")
        print(len(explanation(model, test, rows=[0])))
        axes = model.plot_function(20, X=test).ax_
        print(len(axes.get_legend().get_texts()), axes.get_xlim()[1] <= 20)
        """
    )
    shell.check("a function has a legend and is drawn where data lie", "10 True" in done.stdout)


def test_recommend_names_rivals(shell):
    files.breast_cancer(shell.folder)
    files.trees_know_better(shell.folder)
    table = shell("kmaps recommend bc_train.csv --label-column cls --out tried --quiet")
    records = (shell.folder / "tried" / "records.jsonl").read_text()
    for rival in ("StandardizedLinearSVC", "StandardizedSVC", "BoostedTrees"):
        shell.check(f"{rival} is measured", rival in records)
    shell.check("a sentence compares the best of them", "scikit-learn" in table.stdout)
    mixed = shell("kmaps recommend mixed.csv --label-column cls --normalize min-max --quiet")
    sentence = [line for line in mixed.stdout.splitlines() if "boosted trees" in line.lower()]
    print(sentence)
    shell.check(
        "it can say that boosted trees are better", any("interval" in line for line in sentence)
    )


@pytest.fixture
def container(shell):
    """A shell whose packages only root may write, in a folder that nobody may enter."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user, by setpriv")
    imports = f"{NOBODY} {sys.executable} -c 'import numpy'"
    if subprocess.run(imports, shell=True, cwd="/", stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"{sys.executable} is not readable for nobody")
    folder = Path(tempfile.mkdtemp(prefix="kmaps-day-"))  # nobody cannot enter tmp_path
    folder.chmod(0o755)
    shell.folder = folder / "data"
    for name in ("data", "tmp"):
        (folder / name).mkdir()
        (folder / name).chmod(0o1777)
    shell.environment = environment(folder / "home", folder / "unused")
    del shell.environment["NUMBA_CACHE_DIR"]
    site = folder / "site"
    for name in ("kmaps", "cli", "datasets", "experiments"):
        shutil.copytree(
            Path(__file__).resolve().parents[2] / name,
            site / name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shell.environment |= {
        "PYTHONPATH": str(site),
        "HOME": "/nonexistent",
        "TMPDIR": str(folder / "tmp"),
        "KMAPS_DATA_DIR": str(folder / "tmp" / "kmaps-data"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    del shell.environment["MPLCONFIGDIR"]
    yield shell
    shutil.rmtree(folder)


def test_a_container(container):
    shell = container
    files.breast_cancer(shell.folder)
    shell("kmaps warmup --quiet")  # by root, while the image is built
    # Without a script between: Python may lie where only root's programs reach it.
    kmaps = f"{NOBODY} {sys.executable} -m kmaps"
    train = f"{kmaps} train bc_train.csv m.npz --label-column cls"
    for line in (
        train,
        f"{kmaps} evaluate m.npz bc_test.csv --label-column cls",
        f"{kmaps} info m.npz",
        f"{kmaps} explain m.npz",
        f"{kmaps} warmup",
        f"{kmaps} info --check",
        f"{NOBODY} {sys.executable} -c 'import kmaps; kmaps.CodedSVC, kmaps.load_model'",
    ):
        done = shell(line)
        shell.check("no compiling, no error of kmaps", COMPILING not in done.stderr)
    shutil.rmtree(next((shell.folder.parent / "tmp").glob("kmaps-numba-*")))
    first = shell(f"{train} --force")
    shell.check("one line names the temporary folder", first.stderr.count("NUMBA_CACHE_DIR") == 1)
