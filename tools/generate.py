"""Write the files that are generated from others: ``make generated``.

They are the schema of experiment files (from the models of their kinds), the page of each
published run and the page on all runs (from their records), with what the papers report.
"""

import json
import sys
from collections.abc import Iterable
from importlib import util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kmaps.cli.main import cli  # noqa: E402

RESULTS = ROOT / "results"


def write_schema(target: Path) -> None:
    """Write the JSON schema of experiment files below a folder."""
    spec = util.spec_from_file_location("schema", ROOT / "docs" / "_ext" / "schema.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path = target / "experiments" / "schema.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(module.schema(), indent=1, ensure_ascii=False) + "\n", "utf-8")


def published_runs() -> list[str]:
    """Return the names of the published runs."""
    return sorted(path.parent.name for path in RESULTS.glob("*/records.jsonl"))


def write_pages(target: Path, names: Iterable[str]) -> None:
    """Write the pages of some published runs below a folder."""
    for name in names:
        _report(str(RESULTS / name), target / "results" / name / "README.md")


def write_page_on_all_runs(target: Path) -> None:
    """Write the page on all published runs, and what the papers report, below a folder."""
    _report("--all", str(RESULTS), target / "results" / "README.md")


def _report(*arguments) -> None:
    *words, page = arguments
    page.parent.mkdir(parents=True, exist_ok=True)
    cli.main(["report", *words, "-o", str(page), "--force", "--quiet"], standalone_mode=False)


def main() -> None:
    """Write them where they stand in git; ``--without-runs``: without the pages of single runs."""
    write_schema(ROOT)
    if "--without-runs" not in sys.argv:
        write_pages(ROOT, published_runs())
    write_page_on_all_runs(ROOT)


if __name__ == "__main__":
    main()
