"""The atlas: pages on all published results, made from records."""

from pathlib import Path

import generate

RESULTS = generate.ROOT / "results"


def write_all(docs: Path) -> None:
    runs = [path.parent.name for path in sorted(RESULTS.glob("*/README.md"))]
    for run in runs:
        source = f"results/{run}/README.md"
        text = (generate.ROOT / source).read_text("utf-8")
        generate.write(docs / "results" / "runs" / f"{run}.md", generate.relink(text, source))
    text = (RESULTS / "README.md").read_text("utf-8")
    names = "\n".join(f"runs/{run}" for run in runs)
    tree = f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    generate.write(docs / "results" / "index.md", generate.relink(text, "results/README.md") + tree)
