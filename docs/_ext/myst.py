"""Parts of a page in MyST, where more is markup than in Markdown: formulas, roles, comments."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import generate

from kmaps.bench.report.document import Code, Folded, Part, Picture, Section, Table, Text
from kmaps.bench.report.forms import Markdown, markdown_code, markdown_table, one_line

# All punctuation; what stands between the cells of tables is escaped there.
_MARKUP = re.compile(r"[!-/:-@\[-`{}~]")


def plain(text: str) -> Markdown:
    """Return MyST that shows a text, in one line; Markdown stays as it is."""
    if isinstance(text, Markdown):
        return text
    return Markdown(_MARKUP.sub(r"\\\g<0>", one_line(text)))


def slug(name: str) -> str:
    """Return the name of the page of a run, a dataset or a method."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", name)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    return markdown_table([*map(plain, head)], [[*map(plain, row)] for row in rows], texts=texts)


def folded(title: str, body: str, depth: int = 0) -> str:
    """Return a body that folds; what folds within it has a larger ``depth``, and no headings."""
    fence = ":" * (9 - depth)
    return f"{fence}{{dropdown}} {plain(title)}\n{body}\n{fence}"


def shown(part: Part, source: str, level: int = 2, depth: int = 0) -> str:
    """Return a part of the page that is in the file ``source``, with titles of a level."""

    def titled(title: str) -> str:
        return f"**{plain(title)}**" if depth else f"{'#' * level} {plain(title)}"

    match part:
        case Text(text):
            return generate.relink(plain(text), source)
        case Code(lines):
            return "\n".join(map(markdown_code, lines))
        case Table(head, rows, texts, title):
            made = generate.relink(table(head, rows, texts), source)
            return f"{titled(title)}\n\n{made}" if title else made
        case Picture(path, said):
            if quote(path.name) != path.name:  # Sphinx finds no file of another name
                return plain(f"{path.name} is not shown here: name it with plain letters.")
            place = f"/../{source.rpartition('/')[0]}/{path.name}"
            return f"![{plain(said)}]({place})\n\n{plain(said)}"
        case Folded(title, parts):
            return folded(title, all_shown(parts, source, level, depth + 1), depth)
        case Section(title, parts):
            return f"{titled(title)}\n\n{all_shown(parts, source, level + 1, depth)}"


def all_shown(parts: Iterable[Part], source: str, level: int = 2, depth: int = 0) -> str:
    return "\n\n".join(shown(one, source, level, depth) for one in parts)
