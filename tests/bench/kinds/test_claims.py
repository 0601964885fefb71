"""Claims in experiment files."""

import pytest

from kmaps.bench.kinds import load as spec
from kmaps.errors import ConfigError

CLAIMS = """
claims:
  - {id: A2, left: {method: homogeneous}, right: {method: exact}, relation: about}
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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("id: A2, text: as good", "A2 is a claim of the papers, which has its sentence"),
        ("id: T1, text: as good", "unknown claim 'T1': expected one of the papers' (A1, "),
        ("id: as-good", "as-good needs text: what is compared, in words"),
    ],
)
def test_a_sentence_is_said_once(given, message):
    with pytest.raises(ConfigError) as refused:
        spec.parse(TEXT + CLAIMS.replace("id: A2", given))
    assert message in str(refused.value)
    named = spec.parse(TEXT + CLAIMS.replace("id: A2", "id: as-good, text: as good"))
    assert named.claims[0].text == "as good"
