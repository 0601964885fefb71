"""Words that CONTRIBUTING has replaced do not come back, in code, messages and docstrings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REPLACED = {
    "crew": "threads",
    "a byte a value": "one byte per value",
    "one byte a value": "one byte per value",
    "one's own": "that users define",
    "anew": "again",
    "mended": "fixed",
}
"""What was said, and what is said instead. Append a word once it is gone."""


@pytest.mark.parametrize("word", REPLACED)
def test_a_replaced_word_is_not_said(word):
    said = re.compile(rf"\b{re.escape(word)}\b")
    for folder in ("kmaps", "cli"):
        for path in (ROOT / folder).rglob("*.py"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                where = f"{path.relative_to(ROOT)}:{number}"
                assert not said.search(line), f"{where}: write {REPLACED[word]!r}, not {word!r}"
