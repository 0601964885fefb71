"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1) -> str:
    r"""Return a table in Markdown, without a newline at its end.

    Parameters
    ----------
    head : sequence of str
        The headings of the columns.
    rows : iterable of sequence of str
        As long as the head.
    texts : int
        So many of the first columns hold text; the others hold numbers, aligned to the right.

    Examples
    --------
    >>> print(markdown_table(["map", "error"], [["a|b", "0.1"]]))
    | map | error |
    | --- | ---: |
    | a\|b | 0.1 |
    """
    alignment = ["---" if i < texts else "---:" for i in range(len(head))]
    lines = [_escaped(head), alignment, *map(_escaped, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(cells: Iterable[str]) -> list[str]:
    return [cell.replace("|", r"\|") for cell in cells]
