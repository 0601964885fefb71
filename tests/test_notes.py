"""The notes on published runs interpret: each number of their tables is one of the records."""

import re
from pathlib import Path

import pytest

from kmaps.bench.paper.numbers import printed_numbers
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.records.summary import summarize
from tests.bench.records.published import ROOT, records

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")


def tables(text: str) -> list[list[str]]:
    """Return the cells of the bodies of Markdown tables, row by row, without the rows' names."""
    lines = [line.strip() for line in text.splitlines()]
    is_row = [line.startswith("|") for line in lines]
    rule = [bool(re.fullmatch(r"\|[ :|-]+\|", line)) for line in lines]
    body, rows = False, []
    for line, row, ruled in zip(lines, is_row, rule, strict=True):
        body = row and (body or ruled)
        if body and not ruled:
            rows.append(line.strip("|").split("|")[1:])
    return rows


def numbers(text: str) -> list[str]:
    """Return the numbers in the tables of a text, as they stand there."""
    return [found for row in tables(text) for cell in row for found in NUMBER.findall(cell)]


def measured(name: str) -> list[float]:
    """Return the means, spreads and medians of a run, in the units of its page."""
    values = []
    for line in summarize(records()[name], list(MEASURES)):
        scale = MEASURES[line["measure"]].scale
        kept = [line[statistic] for statistic in ("mean", "std", "median")]
        values += [scale * value for value in kept if value is not None]
        if MEASURES[line["measure"]].unit == "fraction" and line["n"]:
            values.append(100 - scale * line["mean"])  # the error
    return values


def is_found(text: str, values: list[float]) -> bool:
    digits = text.replace(",", "").lstrip("+")
    _, _, decimals = digits.partition("e")[0].partition(".")
    form = f".{len(decimals)}{'e' if 'e' in digits else 'f'}"
    return any(float(f"{value:{form}}") == float(digits) for value in values)


def lacking(name: str, text: str) -> list[str]:
    """Return the numbers of a text's tables that neither the run nor a paper has."""
    values = measured(name) + [number.value for number in printed_numbers()]
    return [number for number in numbers(text) if not is_found(number, values)]


NOTES = sorted(ROOT.glob("results/*/NOTES.md"))
WITH_TABLES = [path for path in NOTES if numbers(path.read_text())]


@pytest.mark.parametrize("path", WITH_TABLES, ids=lambda path: path.parent.name)
def test_tables_of_notes_have_numbers_of_the_records(path: Path):
    assert lacking(path.parent.name, path.read_text()) == []


@pytest.mark.parametrize("path", WITH_TABLES, ids=lambda path: path.parent.name)
def test_other_numbers_are_not_found(path: Path):
    """Each number moved: hardly one is by chance that of another row."""
    text = path.read_text()
    moved = NUMBER.sub(lambda found: str(round(float(found[0].replace(",", "")) + 7.77, 2)), text)
    assert len(numbers(moved)) == len(numbers(text))
    assert len(lacking(path.parent.name, moved)) > 0.9 * len(numbers(text))
