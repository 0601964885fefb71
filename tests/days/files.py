"""Files of the shapes that users have: smaller, where the size does not matter."""

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

FORGING = ["two\nlines", "=SUM(A1)", "\x1b[2Jred", "plain"]
"""Labels that would break lines or become formulas."""


def breast_cancer(folder: Path) -> None:
    """Write bc_train.csv and bc_test.csv: 30 columns of unlike units and the column cls."""
    table = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "cls"})
    table["cls"] = np.array(["malignant", "benign"])[table["cls"]]
    table = table.sample(frac=1, random_state=0)
    table[:398].to_csv(folder / "bc_train.csv", index=False)
    table[398:].to_csv(folder / "bc_test.csv", index=False)


def digits(folder: Path) -> None:
    """Write train.csv and test.csv: 64 columns of pixels and the column digit."""
    table = load_digits(as_frame=True).frame.rename(columns={"target": "digit"})
    table[:1200].to_csv(folder / "train.csv", index=False)
    table[1200:].to_csv(folder / "test.csv", index=False)


def diabetes(folder: Path) -> None:
    """Write diabetes.csv: 10 columns and the numbers of the column target."""
    load_diabetes(as_frame=True, scaled=False).frame.to_csv(folder / "diabetes.csv", index=False)


def forging_labels(folder: Path) -> None:
    """Write X.npy and y.npy: 300 rows of four classes, whose names break lines."""
    rng = np.random.default_rng(0)
    places = np.arange(300) % len(FORGING)
    np.save(folder / "X.npy", np.eye(len(FORGING))[places] + 0.1 * rng.random((300, 4)))
    np.save(folder / "y.npy", np.array(FORGING)[places])


def classes_that_overlap(n_rows: int, n_columns: int = 60) -> pd.DataFrame:
    """Return rows of five classes that overlap, in single precision, with the column cls."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(n_rows, n_columns)).astype(np.float32)
    scores = np.log1p(X) @ rng.normal(size=(n_columns, 5)) + rng.gumbel(0, 2, (n_rows, 5))
    table = pd.DataFrame(X, columns=[f"bin_{j}" for j in range(n_columns)])
    table["cls"] = np.array(["ash", "birch", "cedar", "elm", "fir"])[scores.argmax(axis=1)]
    return table


def trees_know_better(folder: Path) -> None:
    """Write mixed.csv: a class by the parity of three columns, which no sum of functions has."""
    X = np.random.default_rng(0).random((1500, 6))
    cls = ((X[:, :3] > 0.5).sum(axis=1) % 2).astype(int)
    columns = list("abcdef")
    pd.DataFrame(X, columns=columns).assign(cls=cls).to_csv(folder / "mixed.csv", index=False)


def photographs(folder: Path) -> None:
    """Write photos/: two folders of colour images, smooth shapes on a slope."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:96, :120]
    for name, shape in {"disc": np.hypot, "rhomb": lambda dy, dx: abs(dy) + abs(dx)}.items():
        (folder / "photos" / name).mkdir(parents=True)
        for number in range(6):
            image = np.stack([40 + x, 60 + y, 200 - x], axis=-1).astype(float)
            centre = rng.uniform(30, 66, 2)
            inside = shape(y - centre[0], x - centre[1]) < rng.uniform(12, 28)
            image[inside] = rng.uniform(0, 255, 3)
            path = folder / "photos" / name / f"{number}.png"
            Image.fromarray(np.clip(image, 0, 255).astype(np.uint8)).save(path)
