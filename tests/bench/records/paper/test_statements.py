"""Every claim stands once, and something decides it or says what is missing."""

import hashlib
import re

import pytest
import yaml

from kmaps.bench.records.paper.statements import checks, claims
from tests.bench.records.published import ROOT

NUMBERS = {"A": 10, "C": 5, "G": 4, "L": 6, "V": 4}


def entries() -> list[tuple[str, str, str]]:
    """Return (file, identifier, text) of each claim of the experiments."""
    found = []
    for path in sorted((ROOT / "experiments").glob("*.yaml")):
        for claim in yaml.safe_load(path.read_text()).get("claims", []):
            found.append((f"experiments/{path.name}", claim["id"], claim["text"]))
    return found


def test_all_claims_are_there():
    wanted = [f"{letter}{i}" for letter, n in NUMBERS.items() for i in range(1, n + 1)]
    assert list(claims()) == wanted
    assert all(claim.text and claim.source for claim in claims().values())


def test_sentences_are_those_of_the_papers():
    """A change of a sentence is a change of what is claimed, and has to be made here as well."""
    sentences = "\n".join(f"{claim.id} {claim.text}" for claim in claims().values())
    assert hashlib.sha256(sentences.encode()).hexdigest()[:16] == "38cddc0b0b0b4d5a"


@pytest.mark.parametrize("name", claims())
def test_each_claim_is_decided_or_says_what_is_missing(name):
    found = [check for check in checks() if check.id == name]
    assert found
    assert all(check.decided_by or check.note for check in found)


def test_entries_of_experiments_belong_to_one_claim_each_or_have_a_name():
    listed = [(c.decided_by, c.id_today, c.text) for c in checks() if c.id_today]
    assert sorted(listed) == sorted(entries())


def test_tests_that_decide_claims_exist():
    named = [check.decided_by for check in checks() if "::" in check.decided_by]
    assert len(named) == 6
    for place in named:
        path, name = place.split("::")
        assert f"def {name}(" in (ROOT / path).read_text(), place


def test_names_of_other_comparisons_cannot_be_taken_for_claims():
    for check in checks():
        assert check.id in claims() or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", check.id), check.id


def test_what_nothing_decides_yet():
    """A list to be shortened."""
    missing = {check.id for check in checks() if not check.decided_by}
    decided = {check.id for check in checks() if check.decided_by}
    assert missing == {"A4", "A8", "G3", "L2", "L5", "V1", "V3"}
    assert missing - decided == {"L5", "V3"}
