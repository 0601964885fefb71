"""Experiment files to change, and what is wrong with one."""

import pytest

from kmaps.bench.kinds import load as spec
from kmaps.errors import ConfigError

GOOD = """\
experiment: small
about: words
dataset: {name: digits, train: 200, test: 100}
features: {name: intensity, normalize: l1}
splits: 2
kernels: [chi2, js]
reductions: [ovo, ovr]
baselines: [linear, exact]
maps:
  - {map: homogeneous, order: [1, 2]}
  - map: homogeneous
    order: 3
learner: {loss: hinge, bias: 1}
C:
  grid: [1, 1e-2, 10]
  folds: 3
  samples: 100
"""

ROWS = """\
experiment: small
dataset: {name: digits, train: 200, test: 100}
splits: 2
kernels: [chi2, js]
reductions: [ovo, ovr]
baselines: [linear, exact]
maps:
  - {map: homogeneous, order: [1, 2]}
C: {grid: [0.1, 1], folds: 3}
"""

SMALL = """\
experiment: small
dataset: {name: digits, train: 120, test: 80}
splits: 2
kernels: [chi2]
reductions: [ovo]
baselines: [linear, exact]
C: {grid: [0.1, 1], folds: 3}
"""


def mistakes(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        spec.parse(text, "e.yaml")
    assert caught.value.exit_code == 2
    return str(caught.value).splitlines()


def replaced(old: str, new: str) -> str:
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def refuses(message: str, text: str, old: str, new: str) -> None:
    """Assert that an experiment is refused, with words that a pattern finds, once it is changed."""
    assert old in text
    with pytest.raises(ConfigError, match=message):
        spec.parse(text.replace(old, new, 1))
