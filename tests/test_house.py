"""The code stays as small as it was made: lines, functions, files, options, what commands enter."""

import ast

import pytest

from tests import house

LONG_FUNCTIONS: set[str] = set()
LONG_FILES: set[str] = set()
"""What is longer than it may be; nothing is to be added."""


def test_lines():
    counted, later = house.lines_per_package(), house.later_tests()
    assert counted["kmaps and cli"] <= house.MOST_LINES["kmaps and cli"] + house.MOST_LATER
    assert counted["tests"] - later <= house.MOST_LINES["tests"], "delete what is not needed"
    assert later <= house.MOST_LATER


def test_functions_and_files_are_short():
    long = {place for n, place in house.functions() if n > house.MOST_IN_FUNCTION}
    named = {f"{place.partition(':')[0]} {place.split()[-1]}": place for place in long}
    assert {named[name] for name in named.keys() - LONG_FUNCTIONS} == set()
    assert {path for n, path in house.files() if n > house.MOST_IN_FILE} - LONG_FILES == set()


def test_no_check_is_an_assert():
    paths = [*house.sources("kmaps"), *house.sources("cli")]
    found = [
        f"{path}:{node.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assert)
    ]
    assert len(paths) > 100
    assert found == [], "python -O drops them: raise an error of kmaps.errors, or use present()"


def test_commands_have_few_options():
    assert {name: n for name, n in house.options().items() if n > house.MOST_OPTIONS} == {}


@pytest.mark.slow
@pytest.mark.parametrize("command", house.WALKS)
def test_a_command_enters_few_files(command):
    assert len(house.entered(command)) <= house.WALKS[command]
