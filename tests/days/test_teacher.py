"""The fifth day: regression, categories, missing cells, names of classes, imbalance."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from commands import ROOT

from tests.days import files

pytestmark = pytest.mark.soak


def r2(shell, model: str) -> float:
    """Return R² of a model, as `kmaps evaluate` has it."""
    done = shell(f"kmaps evaluate {model} test.csv --label-column target --json --quiet")
    return json.loads(done.stdout)["r2"]


def test_regression(shell):
    files.diabetes(shell.folder)
    table = pd.read_csv(shell.folder / "diabetes.csv").sample(frac=1, random_state=0)
    table[:300].to_csv(shell.folder / "train.csv", index=False)
    table[300:].to_csv(shell.folder / "test.csv", index=False)
    refused = shell("kmaps train train.csv m.npz --label-column target", code=2).stderr
    shell.check("many different numbers: --regression is named", "--regression" in refused)
    shell.check("in one line", refused.count("\n") == 1)
    done = shell(
        "kmaps train train.csv m.npz --label-column target --regression --normalize min-max"
    )
    shell.check("C is chosen, which a line says", "chosen" in done.stdout and "-C" in done.stderr)
    shell(
        "kmaps train train.csv one.npz --label-column target --regression --normalize min-max -q "
        "-C 1"
    )
    chosen, one = r2(shell, "m.npz"), r2(shell, "one.npz")
    print(f"R² {chosen:.2f}, at C = 1 {one:.2f}")
    shell.check("R² is that of other models, and more than at C = 1", chosen > max(0.4, one))
    done = shell.python(
        """
        import pandas as pd
        from kmaps import CodedSVC
        table = pd.read_csv("train.csv")
        CodedSVC().fit(table.drop(columns="target"), table["target"] + 0.5)
        """,
        code=1,
    )
    shell.check("in Python the message names CodedSVR", "CodedSVR" in done.stderr)


def test_text_and_missing_cells(shell):
    files.breast_cancer(shell.folder)
    table = pd.read_csv(shell.folder / "bc_train.csv")
    text = table.copy()
    text.insert(2, "sex", np.where(np.arange(len(text)) % 2, "f", "m"))
    text.to_csv(shell.folder / "text.csv", index=False)
    missing = table.copy()
    missing.loc[3, "mean area"] = np.nan
    missing.to_csv(shell.folder / "missing.csv", index=False)
    for name, column, cure in (
        ("text.csv", "'sex' (3)", "encode"),
        ("missing.csv", "'mean area'", "fill"),
    ):
        done = shell(f"kmaps train {name} m.npz --label-column cls", code=2)
        shell.check("the column's name and the cure", column in done.stderr and cure in done.stderr)
    values = table.drop(columns="cls").to_numpy()
    values[3, 4] = np.nan
    np.save(shell.folder / "X.npy", values)
    table["cls"].to_csv(shell.folder / "y.txt", index=False, header=False)
    done = shell("kmaps train X.npy m.npz --labels y.txt", code=2)
    shell.check("NaN in an array has its place", "X[3, 4]" in done.stderr)


def test_predictions_are_one_line_per_row(shell):
    files.forging_labels(shell.folder)
    shell("kmaps train X.npy m.npz --labels y.npy")
    for name in ("p.txt", "p.csv"):
        done = shell(f"kmaps predict m.npz X.npy {name}")
        text = (shell.folder / name).read_bytes().decode()
        shell.check(
            f"{name}: 300 lines of 300 rows", len(text.splitlines()) == text.count("\n") == 300
        )
        shell.check("no control character", "\x1b" not in text)
        read = shell(f"kmaps evaluate m.npz X.npy --labels {name} --json -q")
        shell.check(
            "read back, it gives the model's classes", json.loads(read.stdout)["accuracy"] == 1
        )
    shell.check("what begins like a formula is in quotation marks", '"=SUM(A1)"' in text)
    shell.check("one line names it", done.stderr.count("=SUM(A1)") == 1)
    counts = shell("kmaps predict m.npz X.npy - | sort | uniq -c").stdout
    shell.check(
        "four classes of 75 rows on the screen",
        re.findall(r"^ *(\d+) ", counts, re.M) == 4 * ["75"],
    )
    for line in ("info m.npz", "evaluate m.npz X.npy --labels y.npy"):
        shown = shell(f"kmaps {line}").stdout
        shell.check("no line is forged", "\nlines" not in shown and "\x1b" not in shown)
    pd.DataFrame(np.load(shell.folder / "X.npy"), columns=list("abcd")).assign(
        cls=np.load(shell.folder / "y.npy")
    ).to_csv(shell.folder / "broken.csv", index=False)
    done = shell("kmaps train broken.csv other.npz --label-column cls", code=2)
    shell.check("a row of a csv is one line, which is said", "line break" in done.stderr)


def test_small_lies(shell):
    files.digits(shell.folder)
    files.breast_cancer(shell.folder)
    done = shell(
        "kmaps train bc_train.csv m.npz --label-column cls -q; ls -l m.npz; kmaps info m.npz"
    )
    shell.check("small sizes are not 0.0 MB", "0.0 MB" not in done.stdout)
    trained = shell("kmaps train train.csv digits.npz --label-column digit")
    shell.check("nor are those of training", "0.0 MB" not in trained.stdout)
    done = shell("kmaps train train.csv x.pkl --label-column digit", code=2)
    shell.check("a model is no .pkl", "x.npz" in done.stderr)
    done = shell.python("import kmaps\nhelp(kmaps.CodedSVC)")
    shell.check("help begins with no private types", "numpy._typing" not in done.stdout[:2000])
    table = files.classes_that_overlap(4000, 6)
    rare = table["cls"].ne("ash") | (np.arange(4000) % 8 == 0)
    table = table[rare].assign(cls=lambda t: np.where(t["cls"] == "ash", "yes", "no"))
    table.to_csv(shell.folder / "rare.csv", index=False)
    shell(
        "kmaps train rare.csv rare.npz --label-column cls --class-weight balanced "
        "--probability temperature"
    )
    shell("kmaps predict rare.npz rare.csv rare_p.csv --label-column cls --proba")
    mean = pd.read_csv(shell.folder / "rare_p.csv")["proba:yes"].mean()
    print(f"rate {(table['cls'] == 'yes').mean():.3f}, mean probability {mean:.3f}")
    documented = (ROOT / "docs" / "python.md").read_text()
    shell.check(
        "what balanced does to probabilities is documented",
        re.search(r'class_weight="balanced"` the prob', documented),
    )
