"""Claims in experiment files."""

import pytest

from kmaps.bench.kinds import load as spec
from kmaps.errors import ConfigError

CLAIMS = """
claims:
  - {id: A2, text: as good, left: {method: homogeneous}, right: {method: exact}, relation: about}
"""
TEXT = """\
experiment: trial
about: What it is.
dataset: {name: digits, train: 100, test: 50}
reductions: [ovo]
baselines: [linear]
C: 1
"""


def test_claims_of_an_experiment_are_checked():
    assert spec.parse(TEXT + CLAIMS).claims[0].id == "A2"
    with pytest.raises(ConfigError, match="unknown key, did you mean 'relation'"):
        spec.parse(TEXT + CLAIMS.replace("relation:", "relatoin:"))
    with pytest.raises(ConfigError, match=r"claims\[0\]\.relation"):
        spec.parse(TEXT + CLAIMS.replace("about}", "abut}"))
