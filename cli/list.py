"""``kmaps list``: list maps, kernels, datasets and experiments."""

import inspect
import json
import re
import textwrap
from collections.abc import Callable
from importlib import resources
from typing import Any

import click

from kmaps.cli.flags import say
from kmaps.errors import ConfigError

_BIBTEX = (resources.files("kmaps.cli") / "papers.bib").read_text("utf-8")
PAPERS = {entry.split("{")[1].split(",")[0]: entry for entry in re.split(r"\n(?=@)", _BIBTEX)}
"""The entries of the papers by the short names that maps give as their source."""

_WIDTH = 80  # columns of a terminal

KINDS = ("maps", "kernels", "datasets", "features", "kinds", "experiments")


@click.command(epilog="\b\nExample:\n  kmaps list maps")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--bibtex", "as_bibtex", is_flag=True, help="Print the papers of the maps as BibTeX.")
def command(kind: str | None, as_json: bool, as_bibtex: bool) -> None:
    """List maps (with paper and equation), kernels, datasets, features, kinds or experiments.

    Maps and kinds of installed packages are listed too, with the name of their package.

    Without KIND the command lists all of these.
    """
    if as_bibtex:
        if kind != "maps" or as_json:
            raise ConfigError("--bibtex: only maps have papers; use `kmaps list maps --bibtex`")
        say(bibtex().rstrip())
        return
    lists = {name: _LISTS[name]() for name in ([kind] if kind else KINDS)}
    if as_json:
        say(json.dumps(lists, indent=2, ensure_ascii=False))
        return
    blocks = [_block(rows, title="" if kind else name) for name, rows in lists.items()]
    say("\n\n".join(blocks))


Row = dict[str, Any]


def _block(rows: list[Row], title: str) -> str:
    """Align the columns of some rows under the name of their kind, paragraphs cut to a sentence.

    Columns for which a terminal is too narrow go below the others.
    """
    texts = []
    for row in rows:
        if "about" in row:
            row = row | {"about": re.split(r"(?<=\.) ", row["about"])[0]}
        texts.append([str(value) for value in row.values()])
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    indent = "  " if title else ""
    n_columns = _fitting_columns(widths, len(indent))
    lines = [title] if title else []
    for row_texts in texts:
        lines += _lines(row_texts, widths, indent, n_columns)
    return "\n".join(lines)


def _fitting_columns(widths: list[int], indent: int) -> int:
    """Return how many columns, two spaces apart, fit in a line; at least one."""
    end = indent + widths[0]
    for n_columns, width in enumerate(widths[1:], 1):
        end += 2 + width
        if end > _WIDTH:
            return n_columns
    return len(widths)


def _lines(row: list[str], widths: list[int], indent: str, n_columns: int) -> list[str]:
    """Return a row: some columns next to each other, the others wrapped below them."""
    first_line = indent + "  ".join(map(str.ljust, row[:n_columns], widths)).rstrip()
    wrapper = textwrap.TextWrapper(
        _WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False
    )
    lines = [first_line]
    for text in row[n_columns:]:
        lines += [f"{indent}    {line}" for line in wrapper.wrap(text)]
    return lines


def _maps() -> list[Row]:
    from kmaps.maps import MAPS

    rows = []
    for name in MAPS:
        try:
            cls = MAPS[name]
        except ConfigError as error:
            rows.append({"name": name, "class": "", "source": "", "paper": str(error)})
            continue
        origins = [_title(word) for word in re.findall(r"\w+", cls.source) if word in PAPERS]
        package = MAPS.package_of(name)
        if package:
            origins.append(package)
        paper = "; ".join(origins)
        rows.append({"name": name, "class": cls.__name__, "source": cls.source, "paper": paper})
    return rows


def _title(paper: str) -> str:
    entry = dict(re.findall(r"(\w+) = \{(.*)\}", PAPERS[paper]))
    authors = ", ".join(name.split(",")[0] for name in entry["author"].split(" and "))
    return re.sub("[{}]", "", f"{authors}: {entry['title']}, {entry['year']}")


def bibtex() -> str:
    """Return the papers of the maps, each below the maps that come from it."""
    sources = {row["name"]: re.findall(r"\w+", row["source"]) for row in _maps()}
    blocks = []
    for key, entry in PAPERS.items():
        maps = [name for name, words in sources.items() if key in words]
        blocks.append(f"% {', '.join(maps)}\n{entry}")
    return "\n".join(blocks)


def _kinds() -> list[Row]:
    from kmaps.bench.kinds import KINDS

    rows = []
    for name in KINDS:
        try:
            about = _first_paragraph(type(KINDS[name]).__doc__)
        except ConfigError as error:
            about = str(error)
        rows.append({"name": name, "about": f"{about} {KINDS.package_of(name)}".strip()})
    return rows


def _first_paragraph(docstring: str | None) -> str:
    return " ".join(inspect.cleandoc(docstring or "").split("\n\n")[0].split())


def _kernels() -> list[Row]:
    from kmaps.kernels import EXP_KERNELS, GRAM_KERNELS, KERNELS

    kinds = dict.fromkeys(KERNELS, "additive")
    kinds |= {name: f"exponential of the {base} distance" for name, base in EXP_KERNELS.items()}
    kinds |= {"linear": "inner product", "rbf": "exponential of the Euclidean distance"}
    return [{"name": name, "kind": kinds[name]} for name in GRAM_KERNELS]


def _datasets() -> list[Row]:
    from kmaps.data import available, load_manifest

    return [{"name": name, "title": load_manifest(name).title} for name in available()]


def _features() -> list[Row]:
    from dataclasses import fields

    from kmaps.features import FEATURES

    return [
        {
            "name": name,
            "about": _first_paragraph(feature.__doc__),
            "parameters": ", ".join(
                f"{parameter.name}={parameter.default}" for parameter in fields(feature)
            ),
        }
        for name, feature in FEATURES.items()
    ]


def _experiments() -> list[Row]:
    from kmaps.bench.kinds.load import overview
    from kmaps.bench.paper.entries import packaged

    rows = []
    for name in packaged():
        subject, about = overview(name)
        rows.append({"name": name, "subject": subject, "about": " ".join(about.split())})
    return rows


_LISTS: dict[str, Callable[[], list[Row]]] = {
    "maps": _maps,
    "kernels": _kernels,
    "datasets": _datasets,
    "features": _features,
    "kinds": _kinds,
    "experiments": _experiments,
}
