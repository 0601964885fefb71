"""Claims in experiment files."""

import pytest
from spec_text import ROWS as TEXT

from kmaps.bench.kinds import load as spec
from kmaps.errors import ConfigError

CLAIMS = """
claims:
  - {id: A9, left: {method: homogeneous}, right: {method: exact}, relation: about}
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("id: A9, text: as good", "has a sentence and a criterion: leave out text, relation"),
        ("id: A5", "has a sentence and a criterion: leave out relation"),
        ("id: T1, text: as good", "unknown claim 'T1': expected one of the papers' (A1, "),
        ("id: as-good", "as-good needs text and relation: what is compared, and how"),
        ("id: as-good, text: so, part: exact", "only a claim of the papers has a part"),
    ],
)
def test_a_sentence_and_a_criterion_are_given_once(given, message):
    with pytest.raises(ConfigError) as refused:
        spec.parse(TEXT + CLAIMS.replace("id: A9", given))
    assert message in str(refused.value)
    named = spec.parse(TEXT + CLAIMS.replace("id: A9", "id: as-good, text: as good"))
    assert named.claims[0].text == "as good"


def test_a_claim_of_a_paper_takes_its_criterion():
    of_paper = CLAIMS.replace(", relation: about", "")
    [claim] = spec.parse(TEXT + of_paper).claims
    assert (claim.relation, claim.by) == ("above", -0.5)
    with pytest.raises(ConfigError, match="claim A5 has no part ''"):
        spec.parse(TEXT + of_paper.replace("A9", "A5"))


def _claim(left, right, *, more=""):
    given = f"id: some-rows, text: so, left: {{{left}}}, right: {{{right}}}, relation: smaller"
    return f"claims:\n  - {{{given}{more}}}\n"


H1, H2 = "method: homogeneous, order: 1", "method: homogeneous, order: 2"


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (H1, "method: exat", "claims[0].right: no row has method: exat, did you mean 'exact'?"),
        (H1, "method: homogeneous, order: 7", "right: no row has order: 7 (known: 1, 2)"),
        ("ordr: 1", "method: exact", "claims[0].left: no row has 'ordr', did you mean 'order'?"),
        (H1, "method: exact, order: 2", "claims[0].right: no row has all of these values"),
        (H1, H1, "claims[0]: left and right pick no two rows to compare"),
        ("method: homogeneous", "method: homogeneous", "pick no two rows to compare"),
        ("kernel: chi2", "kernel: intersection", "no row has kernel: intersection (known: "),
    ],
)
def test_a_claim_that_compares_no_rows_is_a_mistake(left, right, message):
    with pytest.raises(ConfigError) as refused:
        spec.parse(TEXT + _claim(left, right))
    assert message in str(refused.value)


def test_rows_of_another_kernel_or_of_none_in_common_are_not_compared():
    with pytest.raises(ConfigError, match="to compare of the kernels intersection"):
        spec.parse(TEXT + _claim(H1, H2, more=", kernels: [intersection]"))
    with pytest.raises(ConfigError, match="pick no common row"):
        spec.parse(TEXT + _claim(H1, H2, more=", measure: storage-train, against: storage"))
