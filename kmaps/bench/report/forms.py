r"""Text as part of a document: escaped for Markdown, LaTeX, CSV and XML; tables.

Names in records may come from a stranger. They become part of a document here only, so that no name
is markup there; text in HTML passes :func:`html.escape`.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from urllib.parse import quote

from kmaps.errors import printable

# Small installations lack the font for a plain $, and plain <, > and | print as other signs.
_TABLE = (files("kmaps.bench.report") / "latex.csv").read_text("utf-8")
_LATEX = dict(csv.reader(_TABLE.splitlines()[1:]))
_LATEX |= {character: f"\\{character}" for character in "&%#_{}"}
_LATEX |= {character: f"$_{digit}$" for digit, character in enumerate("₀₁₂₃₄₅₆₇₈₉")}

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_KERNELS = {"chi2": r"$\chi^2$", "js": "JS"}
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EQUATION = re.compile(r"(?<!\w)([A-Za-zσγε]) = (\d[\d,.]*\d|\d)")


def csv_text(text: str) -> str:
    """Return text that no spreadsheet takes for a formula; a number such as -1 is none."""
    may_be_formula = text.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{text}" if may_be_formula and not _NUMBER.fullmatch(text) else text


def xml_text(text: str) -> str:
    """Return text that XML can hold: the characters that it forbids are shown as escapes."""
    return _NOT_XML.sub(lambda match: ascii(match.group())[1:-1], text)


_MARKUP = re.compile(
    r"[\\*]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=!)\[|\](?=[(\[:])|~(?=~)|(?<!\w)_|_(?!\w)"
)
_MARKUP_IN_LINK = re.compile(rf"{_MARKUP.pattern}|[\[\]]")
_BLOCK = re.compile(r"(?=>|#{1,6}\s|[-+]\s|-{3}|=)")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}


def aligned(rows: Iterable[Sequence[str]], *, texts: int = 1) -> list[str]:
    """Return rows as lines of columns: the first ``texts`` to the left, numbers to the right."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            cells.append(cell.ljust(width) if place < texts else cell.rjust(width))
        lines.append("  ".join(cells).rstrip())
    return lines


class Markdown(str):
    """Text that is Markdown already; :func:`markdown` leaves it as it is."""


def one_line(text: str) -> str:
    """Return text in one line; controls and lone surrogates, which nobody sees, as escapes."""
    return printable(" ".join(text.split())).encode(errors="backslashreplace").decode()


def markdown(text: str) -> str:
    """Return Markdown that shows a text, in one line."""
    if isinstance(text, Markdown):
        return text
    escaped = _escape(_MARKUP, text)
    return f"\\{escaped}" if _BLOCK.match(escaped) else escaped


def _escape(special: re.Pattern[str], text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        return _ENTITIES.get(match.group(), f"\\{match.group()}")

    return special.sub(escape, one_line(text))


def markdown_code(text: str) -> str:
    """Return a line of a block of code, where ``<`` cannot be escaped as in other places."""
    return "    " + one_line(text).replace("<", r"\x3c")


def link(text: str, place: str) -> Markdown:
    """Return a link to a file, by its place next to the document."""
    target = quote(place, errors="replace")
    return Markdown(f"[{_escape(_MARKUP_IN_LINK, text)}]({target})")


def bold(text: str, is_bold: bool = True) -> str:
    """Return text that is bold in Markdown, or as it is."""
    return Markdown(f"**{markdown(text)}**") if is_bold else text


def latex(text: str) -> str:
    """Return text with LaTeX's special characters escaped, and equations set as such."""
    pieces = _EQUATION.split(one_line(text))  # text, name, number, text, …
    output = _escaped(pieces[0])
    for name, number, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        letter = _LATEX.get(name, name).strip("$")
        output += f"${letter} = {number.replace(',', '{,}')}${_escaped(after)}"
    return output


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_column(name: str) -> str:
    """Return the head of a column: a kernel as papers write it, and perhaps a measure."""
    kernel, space, measure = name.partition(" ")
    additive = kernel.removeprefix("exp-")
    prefix = kernel.removesuffix(additive)
    symbol = _KERNELS.get(additive, _escaped(additive))
    return prefix + symbol + space + latex(measure)


def latex_label(words: Sequence[str]) -> str:
    r"""Return the label of a table for ``\ref``, from the words that distinguish the table."""
    return "tab:" + re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(filter(None, words))).strip("-")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table in Markdown, without a newline at its end.

    The first ``texts`` columns hold text; the others hold numbers and are aligned to the right.
    """
    alignment = ["---" if i < texts else "---:" for i in range(len(head))]
    lines = [_markdown_cells(head), alignment, *map(_markdown_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _markdown_cells(row: Sequence[str]) -> list[str]:
    return [markdown(cell).replace("|", r"\|") for cell in row]


def latex_table(
    caption: str,
    label: str,
    kernels: Sequence[str],
    rows: Sequence[tuple[str, Sequence[tuple[str, bool]]]],
    note: str = "",
) -> str:
    r"""Return a ``table`` environment with booktabs; graphicx shrinks one wider than a line."""
    body = []
    for name, numbers in rows:
        cells = [latex(name)]
        for text, is_bold in numbers:
            cells.append(rf"\textbf{{{latex(text)}}}" if is_bold else latex(text))
        body.append(" & ".join(cells) + r" \\")
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(caption)}}}",
        rf"\label{{{label}}}",
        rf"\sbox0{{\begin{{tabular}}{{l{'r' * len(kernels)}}}",
        r"\toprule",
        " & ".join(["", *map(_latex_column, kernels)]) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}}%",
        r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
    ]
    if note:
        lines.append(rf"\par\smallskip\footnotesize {latex(note)}")
    lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"
