"""Words that CONTRIBUTING has replaced do not come back; nothing names the package index."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MANY = "bytes", "outputs", "values", "images", "object", "one line", "one point", "columns"
ONE = "value", "feature", "row", "class", "line", "map", "image", "axis", "split", "pixel"
REPLACED = {
    "crew": "threads",
    "a byte a value": "one byte per value",
    "one byte a value": "one byte per value",
    "one's own": "that users define",
    "anew": "again",
    "mended": "fixed",
    "told": "reported",
    "of the machine": "of the computer",
    **{f"{many} a {one}": f"{many} per {one}" for many in MANY for one in ONE},
}
"""What was said, and what is said instead. Append a word once it is gone."""
SAID = re.compile(rf"\b({'|'.join(map(re.escape, REPLACED))})\b", re.IGNORECASE)
TEXTS = (
    "kmaps/**/*.py",
    "cli/*.py",
    "*.md",
    "docs/*.md",
    "experiments/*.[my]*",
    "results/*/NOTES.md",
)


@pytest.mark.parametrize("pattern", TEXTS)
def test_replaced_words_are_not_said(pattern):
    for path in ROOT.glob(pattern):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            said = SAID.search(line)
            where = f"{path.relative_to(ROOT)}:{number}"
            assert not said, f"{where}: write {REPLACED[said[1].lower()]!r}, not {said[1]!r}"


WRONG = re.compile(r"pip install (-\S+ )*['\"]?kmaps\b|\bkmaps\[")


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
