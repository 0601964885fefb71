"""A page as parts, built once; its forms are Markdown, text, HTML, JSON and PDF.

Text is shown as it is, but for :class:`~kmaps.bench.report.forms.Markdown`, which is formatted.
What folds is in every form but Markdown and text, which are short.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmaps.bench.report import browser, forms
from kmaps.errors import InputError, printable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markupsafe import Markup

MOST_BYTES = 2_000_000  # the largest page in HTML; its figures take at most half

_MOST_ROWS = (10_000, 1_000, 100, 10)  # rows of each table, tried until the page is small enough
_IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}
_SCROLLS = '<div class="table" role="region" tabindex="0" aria-label="Numbers of the findings">'
_SIGNATURES = (b"\x89PNG\r\n", b"<?xml", b"<svg")  # the first bytes of these images


@dataclass(frozen=True)
class Text:
    """A paragraph; as Markdown any number of blocks. What is ``short`` is of short pages only."""

    text: str
    short: bool = False


@dataclass(frozen=True)
class Code:
    """Lines of code, such as commands."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table; the first ``texts`` columns hold text, the others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1
    title: str = ""


@dataclass(frozen=True)
class Picture:
    """An image file, and a description of it in words."""

    path: Path
    said: str


@dataclass(frozen=True)
class Section:
    """Parts under a title."""

    title: str
    parts: Sequence["Part"]


@dataclass(frozen=True)
class Folded(Section):
    """Parts that are read when they are asked for."""


Part = Text | Code | Table | Picture | Section


@dataclass(frozen=True)
class Page(Section):
    """A page, with its title."""


def as_markdown(part: Part, level: int = 1) -> str:
    """Return a part in Markdown, without a newline at its end and without folded parts."""
    match part:
        case Text(text):
            return forms.markdown(text)
        case Code(lines):
            return "\n".join(map(forms.markdown_code, lines))
        case Table():
            table = forms.markdown_table(part.head, part.rows, texts=part.texts)
            if not part.title:
                return table
            return f"{'#' * level} {forms.markdown(part.title)}\n\n{table}"
        case Picture(path):
            return f"!{forms.link(path.name, path.name)}"
        case Folded():
            return ""
    blocks = [f"{'#' * level} {forms.markdown(part.title)}"]
    blocks += [as_markdown(child, level + 1) for child in part.parts]
    return "\n\n".join(block for block in blocks if block)


def as_text(parts: Iterable[Part]) -> str:
    """Return text and tables for a terminal."""
    blocks = []
    for part in parts:
        if isinstance(part, Text):
            blocks.append(part.text)
        elif isinstance(part, Table):
            lines = forms.aligned([part.head, *part.rows], texts=part.texts)
            blocks.append("\n".join(filter(None, [part.title, *lines])))
    return "\n\n".join(blocks)


def as_json(page: Page) -> str:
    """Return a page as a JSON object: each part with its kind, its texts as Markdown."""
    return json.dumps(_json_value(page), indent=2, ensure_ascii=False) + "\n"


def _json_value(value: Any) -> Any:
    if is_dataclass(value):
        content = {field.name: _json_value(getattr(value, field.name)) for field in fields(value)}
        return {"part": type(value).__name__.lower(), **content}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    return value.name if isinstance(value, Path) else value


def as_html(page: Page, *, opened: bool = False) -> str:
    """Return a page in HTML that needs no other file, of at most :data:`MOST_BYTES`.

    Rows of long tables and images that do not fit are left out, and the page says so.
    """
    from kmaps.templates import render

    image = _image_addresses()
    place = _anchors()
    for most in _MOST_ROWS:
        text = render(
            "report.html",
            page=page,
            opened=opened,
            most=most,
            image=image,
            place=place,
            plain=forms.one_line,
            inline=_inline,
            block=_block,
        )
        if len(text.encode()) <= MOST_BYTES:
            break
    return text


def _image_addresses() -> Callable[[Picture], str]:
    """Return a function that gives an image's bytes as its address, as long as there is room."""
    addresses: dict[Path, str] = {}

    def address(picture: Picture) -> str:
        path = picture.path
        if path not in addresses:
            addresses[path] = ""
            room = MOST_BYTES // 2 - sum(map(len, addresses.values()))
            if path.is_file() and path.stat().st_size < 0.7 * room:
                content = path.read_bytes()
                if content.startswith(_SIGNATURES):
                    data = b64encode(content).decode()
                    addresses[path] = f"data:{_IMAGES[path.suffix]};base64,{data}"
        return addresses[path]

    return address


def _anchors() -> Callable[[Section], str]:
    """Return a function that gives the same name to the same section, for links to it."""
    names: dict[int, str] = {}
    return lambda part: names.setdefault(id(part), f"part-{len(names) + 1}")


@cache
def _parser() -> "MarkdownIt":
    """Return a parser of Markdown for HTML: HTML in it is text, and images are links."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def _inline(text: str) -> "Markup":
    from markupsafe import Markup, escape

    if not isinstance(text, forms.Markdown):
        return escape(forms.one_line(text))
    return Markup(_parser().renderInline(printable(text)))


def _block(text: str) -> "Markup":
    from markupsafe import Markup

    if not isinstance(text, forms.Markdown):
        return Markup("<p>{}</p>").format(forms.one_line(text))
    html = _parser().render(printable(text)).replace("<table>", f"{_SCROLLS}<table>")
    return Markup(html.replace("</table>", "</table></div>"))


def as_pdf(page: Page) -> bytes:
    """Return a page as a browser prints it; an InputError says that none is installed."""
    return browser.pdf_of_html(as_html(page, opened=True))


FORMS: dict[str, Callable[[Page], bytes]] = {
    ".md": lambda page: f"{as_markdown(page)}\n".encode(),
    ".html": lambda page: as_html(page).encode(),
    ".json": lambda page: as_json(page).encode(),
    ".pdf": as_pdf,
}
"""The forms of a page by the suffix of its file."""


def check_form(path: Path) -> None:
    """Refuse the name of a page that has no form."""
    if path.suffix not in FORMS:
        raise InputError(f"{path}: the name of a page ends in {', '.join(FORMS)}")
