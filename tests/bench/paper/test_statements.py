"""Every claim stands once, and something decides it or says what is missing."""

import hashlib
from functools import cache

import yaml

from kmaps.bench.paper.statements import OWN_NAME, claims, elsewhere
from tests.bench.records.published import ROOT


@cache
def entries() -> list[str]:
    """Return the identifiers of the entries of all experiments."""
    return [
        claim["id"]
        for path in sorted((ROOT / "experiments").glob("*.yaml"))
        for claim in yaml.safe_load(path.read_text()).get("claims", [])
    ]


def test_sentences_are_those_of_the_papers():
    """A change of a sentence is a change of what is claimed, and has to be made here as well."""
    sentences = "\n".join(f"{claim.id} {claim.text}" for claim in claims().values())
    assert hashlib.sha256(sentences.encode()).hexdigest()[:16] == "a5c6094447cef023"
    assert all(claim.source for claim in claims().values())


def test_each_claim_is_decided():
    assert claims().keys() - {*entries()} - {check.id for check in elsewhere()} == set()


def test_entries_of_experiments_are_claims_or_have_names():
    names = set(entries())
    assert len(names & claims().keys()) >= 22
    for name in names - claims().keys():
        assert OWN_NAME.fullmatch(name), name


def test_tests_that_decide_claims_exist():
    named = [check.test for check in elsewhere()]
    assert len(named) == 8
    for place in named:
        path, name = place.split("::")
        assert f"def {name}(" in (ROOT / path).read_text(), place
