"""Pages and messages name no package index: there, `kmaps` is another project."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WRONG = re.compile(r"pip install (-\S+ )*['\"]?kmaps\b")


def test_nothing_sends_people_to_the_package_index():
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
