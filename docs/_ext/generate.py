"""Writes the pages that are generated, before Sphinx reads its sources."""

import os
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

ELSEWHERE = {
    "README.md": "index",
    "CONTRIBUTING.md": "project/contribute",
    "CHANGELOG.md": "project/changelog",
    "SECURITY.md": "project/security",
    "CODE_OF_CONDUCT.md": "project/conduct",
    "CITATION.cff": "reference/cite",
    "experiments/README.md": "reference/yaml",
    "results/README.md": "results/index",
}
"""The page of each file outside docs/ that has one."""

FOLDERS = {
    "reference": ("Reference", "api\ncommands\nyaml\ncite"),
    "project": ("Project", "contribute\n../roadmap\nchangelog\nsecurity\nconduct"),
}
"""The generated folders that have a page of contents: its title, and the pages."""

_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(^```.*?^```$|^~~~.*?^~~~$|`[^`\n]+`(?!\]))", re.MULTILINE | re.DOTALL)


def everything(docs: Path) -> None:
    """Write every generated page and copy the scripts that the site serves."""
    import atlas
    import reference

    vendor(docs)
    for source in (one for one in ELSEWHERE if one.endswith(".md") and ELSEWHERE[one] != "index"):
        if source.startswith("results"):
            continue  # the atlas, which is made from records
        text = (ROOT / source).read_text("utf-8")
        write(docs / f"{ELSEWHERE[source]}.md", relink(text, source))
    for folder, (title, pages) in FOLDERS.items():
        write(
            docs / folder / "index.md",
            f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n\n{pages}\n```\n",
        )
    reference.write_all(docs)
    atlas.write_all(docs)


def write(path: Path, text: str) -> None:
    """Write a page unless it is there already, so that Sphinx reads again only what changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def vendor(docs: Path) -> None:
    """Copy what browsers load from the npm packages to the static files of the site."""
    modules, target = docs / "node_modules", docs / "_build" / "static" / "vendor"
    if not (modules / "katex").is_dir():
        raise SystemExit("docs/node_modules is missing: run `npm install` in docs/, or `make docs`")
    for path in (
        "vega/build/vega.min.js",
        "vega-lite/build/vega-lite.min.js",
        "vega-embed/build/vega-embed.min.js",
        "katex/dist/katex.min.css",
        "katex/dist/katex.min.js",
    ):
        name = Path(path)
        folder = target / ("katex" if name.parts[0] == "katex" else "vega")
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(modules / path, folder / name.name)
    fonts = target / "katex" / "fonts"
    fonts.mkdir(exist_ok=True)
    for font in (modules / "katex/dist/fonts").glob("*.woff2"):
        shutil.copy(font, fonts / font.name)


def relink_source(app, docname: str, source: list[str]) -> None:
    """Let links of the pages in docs/ to files outside lead to those files' pages."""
    if (ROOT / "docs" / f"{docname}.md").exists() and "/" not in docname:
        source[0] = relink(source[0], f"docs/{docname}.md")


def relink(text: str, origin: str) -> str:
    """Return the text with links to pages of the site; a link to a file without one is its text."""

    def changed(match: re.Match) -> str:
        path = os.path.normpath(os.path.join(os.path.dirname(origin), match[1]))
        page = page_of(path)
        return f"]({page}{match[2] or ''})" if page else "\0"

    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(changed, part) for part in parts[::2]]
    # Where there is no page the words stay, and the brackets go.
    return re.sub(r"\[([^\[\]]*)\0", r"\1", "".join(parts))


def page_of(path: str) -> str | None:
    """Return the page of a file of the repository, as a link from the root of the site."""
    if path.endswith((".png", ".svg")):
        return f"/../{path}"
    if path in ELSEWHERE:
        return f"/{ELSEWHERE[path]}.md"
    if path.startswith("docs/gallery/"):
        return f"/examples/{Path(path).stem}.rst"
    if path.startswith("docs/") and (ROOT / path).exists():
        return path.removeprefix("docs")
    if (run := re.fullmatch(r"results/([^/]+)(?:/README\.md)?", path)) and run[1] != "small":
        return f"/results/runs/{run[1]}.md"
    return None
