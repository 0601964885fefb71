"""What the papers say in words, once, and what decides each of these claims.

``claims.csv`` has the claims with their identifiers and sources. ``claim_checks.csv`` has, claim by
claim, the comparisons of the experiments and the tests that decide it, and the parts that nothing
decides yet, each with what is missing. Comparisons of something that no paper claims have names of
their own, which are never a letter and a number.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Claim:
    """A claim of the papers.

    Parameters
    ----------
    id : str
        A letter (A: annfm, C: ldefm, G: genrbf, L: lac, V: hkm) and a number.
    text : str
        The sentence.
    source : str
        Where the papers say it.
    """

    id: str
    text: str
    source: str


@dataclass(frozen=True)
class Check:
    """What decides a claim, or a part of it.

    Parameters
    ----------
    id : str
        The claim; or the name of a comparison that no paper claims.
    decided_by : str
        The file of an experiment, or ``file::name`` of a test; empty when nothing does yet.
    id_today, text : str
        The entry of the experiment, as it stands there.
    note : str
        Which part it decides, or what is missing.
    """

    id: str
    decided_by: str
    id_today: str
    text: str
    note: str


@cache
def claims() -> dict[str, Claim]:
    """Return the claims by identifier.

    Examples
    --------
    >>> claims()["V4"].text
    'the error bound of Lemma 3 holds for every pair of rows'
    """
    return {line["id"]: Claim(**line) for line in _read("claims.csv")}


@cache
def checks() -> tuple[Check, ...]:
    """Return what decides the claims, in their order, then what is checked besides.

    Examples
    --------
    >>> [check.decided_by for check in checks() if check.id == "C3"]
    ['experiments/ldefm-figure4-rbf.yaml']
    """
    return tuple(Check(**line) for line in _read("claim_checks.csv"))


def _read(name: str) -> list[dict[str, str]]:
    path = files("kmaps.bench.records_new") / name
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
