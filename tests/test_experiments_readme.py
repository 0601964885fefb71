"""The examples in experiments/README.md are experiments, and its keys are those there are."""

import re
from pathlib import Path

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec

TEXT = (Path(__file__).resolve().parent.parent / "experiments" / "README.md").read_text()


def test_examples_are_valid():
    kinds = [spec.parse(block).kind for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]
    assert kinds == [
        "classification",
        "classification",
        "classification",
        "scaling",
        "approximation",
        "random-features",
        "pairs",
        "places",
        "trade-off",
    ]


def test_every_key_is_described():
    for kind in KINDS.values():
        for key in kind.model.model_fields:
            assert f"`{key}`" in TEXT or f"`{key}:" in TEXT, key
