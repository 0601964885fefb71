r"""Text as part of a document: what is escaped in Markdown, LaTeX, CSV and XML, and tables.

Text becomes part of a document here only; what goes into HTML passes :func:`html.escape`.
"""

import re
from collections.abc import Iterable, Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "⊗": r"$\otimes$",
    "σ": r"$\sigma$",
    "γ": r"$\gamma$",
    "ε": r"$\varepsilon$",
    "Ω": r"$\Omega$",
    "–": "--",
    "…": r"\dots{}",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": "$-$",
    "²": "$^2$",
    "µ": r"$\mu$",
    "$": r"$\$$",  # as text it would need a font that small installations lack
    # In the font that LaTeX starts with, these three print as other signs.
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "¶": r"$\P$",
    "§": r"$\S$",
    "¤": r"$\diamond$",
}
_LATEX |= {character: f"\\{character}" for character in "&%#_{}"}
_LATEX |= {character: f"$_{digit}$" for digit, character in enumerate("₀₁₂₃₄₅₆₇₈₉")}

_KERNELS = {"chi2": r"$\chi^2$", "js": "JS"}
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_EQUATION = re.compile(r"(?<!\w)([A-Za-zσγε]) = (\d[\d,.]*\d|\d)")


def csv_text(text: str) -> str:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def xml_text(text: str) -> str:
    """Return text that XML can hold: the characters that it forbids are shown as escapes."""
    return _NOT_XML.sub(lambda found: ascii(found.group())[1:-1], text)


def markdown(text: str) -> str:
    """Return text that stays one cell of a table in Markdown."""
    return " ".join(text.replace("|", r"\|").splitlines())


def latex(text: str) -> str:
    """Return text with what is special to LaTeX escaped, and equations set as such."""
    pieces = _EQUATION.split(text)  # text, name, number, text, …
    set_pieces = [_escaped(pieces[0])]
    for name, number, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        letter = _LATEX.get(name, name).strip("$")
        set_pieces += [f"${letter} = {number.replace(',', '{,}')}$", _escaped(after)]
    return "".join(set_pieces)


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def latex_kernel(name: str) -> str:
    """Return the name of a kernel as papers write it."""
    additive = name.removeprefix("exp-")
    return name.removesuffix(additive) + _KERNELS.get(additive, _escaped(additive))


def latex_label(words: Sequence[str]) -> str:
    r"""Return what ``\ref`` calls a table by, of the words that tell it from the others."""
    return "tab:" + re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(filter(None, words))).strip("-")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    """Return a table in Markdown, without a newline at its end.

    The first ``texts`` columns hold text; the others hold numbers and are aligned to the right.
    """
    alignment = ["---" if i < texts else "---:" for i in range(len(head))]
    lines = [map(markdown, head), alignment, *(map(markdown, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latex_table(
    caption: str,
    label: str,
    kernels: Sequence[str],
    rows: Sequence[tuple[str, Sequence[tuple[str, bool]]]],
    note: str = "",
) -> str:
    r"""Return a ``table`` environment with booktabs; graphicx shrinks one wider than a line."""
    body = [
        [latex(name), *(rf"\textbf{{{latex(t)}}}" if bold else latex(t) for t, bold in entries)]
        for name, entries in rows
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(caption)}}}",
        rf"\label{{{label}}}",
        rf"\sbox0{{\begin{{tabular}}{{l{'r' * len(kernels)}}}",
        r"\toprule",
        " & ".join(["", *map(latex_kernel, kernels)]) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in body),
        r"\bottomrule",
        r"\end{tabular}}%",
        r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi",
        *([rf"\par\smallskip\footnotesize {latex(note)}"] if note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
