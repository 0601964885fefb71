"""Commands, options and numbers in the texts of the site are those of the code and of records."""

import re
import shlex
from contextlib import suppress
from pathlib import Path

import click
import numpy as np
import pytest

from kmaps.bench.records.file import read_records
from kmaps.cli.main import cli
from kmaps.cli.map_options import MapCommand, map_options
from kmaps.maps import MAPS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "experiments" / "README.md"]
# Old commands stand in the changelog, new ones of recipes in the other.
UNCHECKED = ("CHANGELOG.md", "CONTRIBUTING.md")
CODE = re.compile(r"`kmaps ([a-z]+[^`]*)`|^ {4,}(?:\S+/)?kmaps (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_on_a_page_exists(page):
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL))
    text = page.read_text() + re.sub("^", "    ", blocks, flags=re.MULTILINE)
    of_maps = [option for name in MAPS for option in map_options(name)]
    for inline, line in CODE.findall(text) if page.name not in UNCHECKED else ():
        name, *words = shlex.split(inline or line, comments=True)
        command = cli.get_command(click.Context(cli), name)
        assert command, f"kmaps {name}"
        known = {word for option in (*command.params, *of_maps) for word in option.opts}
        given = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
        assert given <= known | {"--help"}, (inline or line, given - known)
        if not isinstance(command, MapCommand):
            with suppress(click.BadOptionUsage):  # an option is named without its value
                _, more, _ = command.make_parser(click.Context(command)).parse_args(words)
                assert not more, (inline or line, more)


def test_the_points_on_the_page_of_choices_are_those_of_records():
    accuracies = {}
    for one in read_records(ROOT / "results" / "genrbf-figure2-features"):
        accuracies.setdefault(one["kernel"], []).append(100 * one["accuracy"])
    gain = np.mean(accuracies["exp-chi2"]) - np.mean(accuracies["chi2"])
    assert f"exp-chi2 is {gain:.1f} points above chi2" in (ROOT / "docs/choose.md").read_text()
