"""What the papers say in words, once, and what decides it besides the experiments.

``claims.csv`` has the claims with their identifiers and sources; the ``claims`` of experiment files
refer to them. ``elsewhere.csv`` has, claim by claim, the tests that decide it, or a part of it.
Comparisons of something that no paper claims have names of words.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

OWN_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
"""The names of comparisons that no paper claims: words, never a letter and a number."""


@dataclass(frozen=True)
class Claim:
    """A claim of the papers."""

    id: str  # A letter (A: annfm, C: ldefm, G: genrbf, L: lac, V: hkm) and a number
    text: str  # the sentence
    source: str  # where the papers say it


@dataclass(frozen=True)
class Paper:
    """A paper: its short name, the letter of its claims, and its authors and title."""

    name: str
    letter: str
    title: str


@dataclass(frozen=True)
class Elsewhere:
    """What decides a claim, or a part of it, besides the experiments."""

    id: str  # the claim
    test: str  # file::name of the test that decides it
    note: str  # which part it decides; empty when all of it


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers."""
    return tuple(Paper(**line) for line in _read("papers.csv"))


@cache
def claims() -> dict[str, Claim]:
    """Return the claims by identifier."""
    return {line["id"]: Claim(**line) for line in _read("claims.csv")}


@cache
def elsewhere() -> tuple[Elsewhere, ...]:
    """Return what decides claims besides the experiments."""
    return tuple(Elsewhere(**line) for line in _read("elsewhere.csv"))


def _read(name: str) -> list[dict[str, str]]:
    path = files("kmaps.bench.paper") / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
