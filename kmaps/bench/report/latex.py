"""Tables in LaTeX, with booktabs; one that is wider than a line is shrunk to it, with graphicx."""

import re
from collections.abc import Sequence

_ESCAPES = {
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
} | {character: f"\\{character}" for character in "&%#_{}"}


_KERNELS = {"chi2": r"$\chi^2$", "js": "JS"}
_EQUATION = re.compile(r"(?<!\w)([A-Za-zσγε]) = (\d[\d,.]*\d|\d)")


def latex(text: str) -> str:
    r"""Return text with what is special to LaTeX escaped, and equations set as such.

    Examples
    --------
    >>> print(latex("50 % ± 1"))
    50 \% $\pm$ 1
    >>> print(latex("random Fourier, m = 1,000"))
    random Fourier, $m = 1{,}000$
    """
    pieces = _EQUATION.split(text)  # text, name, number, text, …
    set_pieces = [_escaped(pieces[0])]
    for name, number, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        letter = _ESCAPES.get(name, name).strip("$")
        set_pieces += [f"${letter} = {number.replace(',', '{,}')}$", _escaped(after)]
    return "".join(set_pieces)


def latex_kernel(name: str) -> str:
    r"""Return the name of a kernel as papers write it.

    Examples
    --------
    >>> print(latex_kernel("exp-chi2"), latex_kernel("intersection"))
    exp-$\chi^2$ intersection
    """
    additive = name.removeprefix("exp-")
    return name.removesuffix(additive) + _KERNELS.get(additive, _escaped(additive))


def latex_label(words: Sequence[str]) -> str:
    r"""Return what ``\ref`` calls a table by, of the words that tell it from the others.

    Examples
    --------
    >>> latex_label(["quickstart", "hog-pyramid cells=[9]", "", "accuracy"])
    'tab:quickstart-hog-pyramid-cells-9-accuracy'
    """
    return "tab:" + re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(filter(None, words))).strip("-")


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(character, _subscript(character)) for character in text)


def _subscript(character: str) -> str:
    digit = "₀₁₂₃₄₅₆₇₈₉".find(character)
    return character if digit < 0 else f"$_{digit}$"


def latex_table(
    caption: str,
    label: str,
    kernels: Sequence[str],
    rows: Sequence[Sequence[tuple[str, bool]]],
    note: str = "",
) -> str:
    r"""Return a ``table`` environment, with a newline at its end.

    Parameters
    ----------
    caption : str
    label : str
        From :func:`latex_label`.
    kernels : sequence of str
        The headings of the columns, but for the first, which holds the names of the rows; it is
        aligned to the left, the others to the right.
    rows : sequence of sequence of (str, bool)
        Texts, and whether each is bold.
    note : str
        A sentence below the table.
    """
    body = [
        [rf"\textbf{{{latex(text)}}}" if bold else latex(text) for text, bold in row]
        for row in rows
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
