"""Each promise of SECURITY.md names tests that are there, and its numbers are those of the code."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from kmaps.data import archives, transfer, yaml_text
from kmaps.io import text_files

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "SECURITY.md").read_text()
PROMISES = re.findall(r"^\| (?!promise|---)(.*?) \| (.*) \|$", TEXT, re.MULTILINE)
REST = re.findall(r"^- .*(?:\n  .*)*", TEXT.partition("## What is not promised")[2], re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/\S+\.py)::(\w+)`", TEXT)))


@cache
def names_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("sentences", REST, ids=lambda sentences: sentences[2:40])
def test_what_is_not_promised_names_tests_too(sentences):
    assert re.search(r"\(`tests/\S+::test_\w+`(,\s+`tests/\S+::test_\w+`)*\)\.$", sentences)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise[0][:40])
def test_every_promise_names_tests(promise):
    said, tests = promise
    assert said.endswith(".")
    assert re.fullmatch(r"`tests/\S+::test_\w+`(, `tests/\S+::test_\w+`)*", tests), said


def test_the_tests_that_are_named_are_there():
    assert len(PROMISES) > 15 > len(REST) > 6
    assert [f"{path}::{name}" for path, name in NAMED if name not in names_in(path)] == []


def test_numbers_are_those_of_the_code():
    for number in (
        f"{yaml_text.MOST_CHARACTERS:,} characters",
        f"a depth of {yaml_text.MOST_DEPTH} and {yaml_text.MOST_NODES:,} values",
        f"{text_files.LONGEST_LINE:,} bytes",
        f"and {archives.UNWANTED_BYTES >> 20} MiB",
        f"{transfer._LEAST_RATE:,} bytes per second",
        f"more than {transfer._PATIENCE_S} s",
        f"At most {transfer._REDIRECTIONS} redirections",
    ):
        assert number in TEXT, number
    makefile = (ROOT / "Makefile").read_text()
    assert {"SOAK_INPUTS ?= 1000000", "SOAK_SECONDS ?= 5"} <= {*makefile.splitlines()}


def test_one_publisher_is_asked_without_encryption():
    plain = {
        path.stem for path in (ROOT / "datasets").glob("*.yaml") if "- http://" in path.read_text()
    }
    assert plain == {"daimler"}
