"""Words that CONTRIBUTING has replaced do not come back; nothing names the package index."""

import re
import subprocess
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


WRONG = re.compile(r"pip install (-\S+ )*['\"]?kmaps\b")


def test_nothing_sends_people_to_the_package_index():
    """There, `kmaps` is another project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    files = [ROOT / name for name in listed.stdout.splitlines()] or list(ROOT.rglob("*.md"))
    texts = [file for file in files if file.suffix in (".md", ".py", ".yaml", ".toml", "")]
    wrong = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in texts
        if file.is_file() and file != Path(__file__) and file.name != "CHANGELOG.md"
        for line in file.read_text(errors="replace").splitlines()
        if WRONG.search(line)
    ]
    assert not wrong
