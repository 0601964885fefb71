"""Tables in LaTeX, with booktabs."""

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
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "¶": r"\P{}",
    "§": r"\S{}",
    "¤": r"\textcurrency{}",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def latex(text: str) -> str:
    r"""Return text with what is special to LaTeX escaped.

    Examples
    --------
    >>> print(latex("50 % ± 1"))
    50 \% $\pm$ 1
    """
    return "".join(_ESCAPES.get(character, _subscript(character)) for character in text)


def _subscript(character: str) -> str:
    digit = "₀₁₂₃₄₅₆₇₈₉".find(character)
    return character if digit < 0 else f"$_{digit}$"


def latex_table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[tuple[str, bool]]],
    note: str = "",
) -> str:
    """Return a ``table`` environment, with a newline at its end.

    Parameters
    ----------
    caption : str
    head : sequence of str
        The headings of the columns; the first is aligned to the left, the others to the right.
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
        rf"\caption{{{latex(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(map(latex, head)) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in body),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\footnotesize {latex(note)}"] if note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
