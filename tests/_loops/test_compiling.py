"""The code of a loop is taken from the disk as long as its sources are the same, and no longer."""

import importlib
import os
import pkgutil
import sys

import pytest
from commands import ROOT, python
from numba.core.dispatcher import Dispatcher

from kmaps import _loops
from kmaps._loops.compiling import source_digest

CALLED = """
from kmaps._loops.compiling import loop


@loop()
def called(x):
    return x + {added}
"""
CALLING = """
from typing import NamedTuple

from kmaps._loops.compiling import loop
from loops.called import called


class {type_name}(NamedTuple):
    value: int


@loop()
def calling(number):
    return called(number.value)
"""
CALL = """
from loops.calling import {type_name}, calling
print(calling({type_name}(1)), sum(calling.stats.cache_hits.values()))
"""


@pytest.fixture
def call(tmp_path):
    """Return a function that writes two modules of loops and calls them in a process."""
    (tmp_path / "loops").mkdir()
    (tmp_path / "loops" / "__init__.py").touch()

    def call(added, type_name):
        (tmp_path / "loops" / "called.py").write_text(CALLED.format(added=added))
        (tmp_path / "loops" / "calling.py").write_text(CALLING.format(type_name=type_name))
        path = os.pathsep.join([str(tmp_path), str(ROOT), *sys.path])
        lines = CALL.format(type_name=type_name)
        text = python("-c", lines, folder=tmp_path, PYTHONPATH=path, NUMBA_CACHE_DIR="")
        value, hits = map(int, text.split())
        return value, hits

    return call


def test_code_is_taken_from_the_disk_until_a_source_changes(call):
    assert call(1, "Number") == (2, 0)
    assert call(2, "Number") == (3, 0)  # what the loop calls, in another module
    assert call(2, "Whole") == (3, 0)  # the type of an argument, which has gone
    assert call(2, "Whole") == (3, 1)


def test_all_loops_on_disk_carry_the_digest_of_their_sources():
    names = [module.name for module in pkgutil.iter_modules(_loops.__path__)]
    modules = [importlib.import_module(f"kmaps._loops.{name}") for name in names]
    loops = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    ]
    assert len(loops) > 50
    for loop in loops:
        function = loop.py_func
        cached = loop._cache.cache_path is not None
        assert not cached or function.__qualname__.endswith(source_digest(function.__module__))
