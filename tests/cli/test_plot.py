"""kmaps plot: a figure of a run, of any measures, in three formats."""

from functools import partial
from pathlib import Path

import pytest
from commands import kmaps, refused

from tests.bench.sample_records import record

TIMES = {"fit_s": 0.1, "encode_s": 0.2, "convert_s": 0.3, "train_s": 0.4, "predict_s": 0.1}
CELLS = [
    record("linear", accuracy=0.8, cpu="a", **TIMES),
    record(accuracy=0.9, params={"order": 2}, cpu="a", **TIMES | {"train_s": 0.9}),
]
FILES = {"run/records.jsonl": CELLS}

plot = partial(kmaps, "plot")


def test_the_figure_stands_beside_the_records():
    assert plot("run").output == "run/front.png\n"
    assert Path("run/front.png").read_bytes().startswith(b"\x89PNG")
    assert "run/front.png: exists already" in refused("plot", "run")
    assert plot("run/records.jsonl", "--force", "-q").output == ""


def test_any_measure_over_any_other():
    plot("run", "--x", "train", "--x", "predict", "-o", "two.svg")
    drawn = Path("two.svg").read_text()
    assert "train, s" in drawn
    assert "all test samples, s" in drawn
    assert "chi2 homogeneous, r = 5" in drawn
    assert "training (fit" not in drawn
    plot("run", "--x", "accuracy", "--y", "train", "-o", "turned.svg")
    assert "train, s" in Path("turned.svg").read_text()


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--x", "trian"], 2, "unknown measure 'trian', did you mean 'train'? ("),
        (["--x", "gram"], 5, "--x gram: was not measured here"),
        (["--y", "linf"], 5, "--y linf: was not measured in any of these records"),
        (["-o", "a.jpg"], 2, "a.jpg: the name of a figure ends in .png, .svg or .pdf"),
        (["--figure", "cost"], 2, "--figure cost: is unknown, did you mean 'costs'?; records of"),
        (["--figure", "costs", "--x", "time"], 2, "--figure: the figure has fixed axes; leave"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(args, code, message):
    assert refused("plot", "run", *args, code=code).startswith(message)
    assert [path.name for path in Path("run").iterdir()] == ["records.jsonl"]
