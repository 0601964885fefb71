"""The code stays as small as it was made: lines, functions, files, options, what commands enter."""

import ast

import pytest

from tests.house import (
    MOST_IN_FILE,
    MOST_IN_FUNCTION,
    MOST_LINES,
    MOST_OPTIONS,
    WALKS,
    entered,
    files,
    functions,
    lines_per_package,
    options,
    sources,
)

LIMITS: dict[str, int] = {
    **MOST_LINES,
    **WALKS,
    # 44,624 once what repeated itself was gone; then came landmarks, widths, other systems.
    "kmaps and cli": 46_350,
    "tests": 33_250,
}
"""Those of `tests.house`, or what was reached where one is not met yet: raised by what is new."""
LONG_FUNCTIONS: set[str] = set()
LONG_FILES: set[str] = set()
"""What is longer than it may be; nothing is to be added."""


@pytest.mark.parametrize("folder", MOST_LINES)
def test_lines(folder):
    assert lines_per_package()[folder] <= LIMITS[folder], f"{folder}: delete what is not needed"


def test_functions_and_files_are_short():
    long = {place for n, place in functions() if n > MOST_IN_FUNCTION}
    named = {f"{place.partition(':')[0]} {place.split()[-1]}": place for place in long}
    assert {named[name] for name in named.keys() - LONG_FUNCTIONS} == set()
    assert {path for n, path in files() if n > MOST_IN_FILE} - LONG_FILES == set()


def test_no_check_is_an_assert():
    paths = [*sources("kmaps"), *sources("cli")]
    found = [
        f"{path}:{node.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assert)
    ]
    assert len(paths) > 100
    assert found == [], "python -O drops them: raise an error of kmaps.errors, or use present()"


def test_commands_have_few_options():
    assert {name: n for name, n in options().items() if n > MOST_OPTIONS} == {}


@pytest.mark.slow
@pytest.mark.parametrize("command", WALKS)
def test_a_command_enters_few_files(command):
    assert len(entered(command)) <= LIMITS[command]
