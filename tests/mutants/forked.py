"""The tests of a tree in forked processes: which lines each executes, and whether one fails.

A process that is forked from one with the libraries imports the tree alone, and starts at once.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest

TEST_S = 20.0  # a test that takes longer is left out
MUTANT_S = 20.0  # of the processor: a test that takes longer with a mutant ends the process
BUDGET_S = 60.0  # for the tests of one mutant, where they pass
MOST_S, MOST_BYTES = 600, 8 << 30  # for all tests of a process, whatever a mutant does
_IMPORT = ""  # who executes the lines that no test does


class Tests(NamedTuple):
    """Tests that pass: the seconds of each, ascending, and which execute a line of a module.

    The seconds are the processor's, so that a busy machine leaves out no test.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[str]]]

    def of(self, module: str, first: int, last: int) -> list[str]:
        """Return the tests that execute some lines, the fastest first, as many as there is time.

        What runs on import, such as a constant, belongs to all tests of its module, and what
        fixtures execute to all tests of the file.
        """
        lines = self.lines[module]
        found = {one for line in range(first, last + 1) for one in lines.get(str(line), ())}
        if _IMPORT in found:
            found = {one for some in lines.values() for one in some}
        chosen, left = [], BUDGET_S
        for test, seconds in self.seconds.items():
            if found & {test, _file(test)} and seconds <= left:
                chosen, left = [*chosen, test], left - seconds
        return chosen

    def of_file(self, file: str) -> "Tests":
        """Return what belongs to the tests of one file; what runs on import belongs to each."""
        seconds = {test: test_s for test, test_s in self.seconds.items() if _file(test) == file}
        lines: dict[str, dict[str, list[str]]] = {}
        for module, by_line in self.lines.items():
            lines[module] = {}
            for line, tests in by_line.items():
                if of_file := [test for test in tests if test == _IMPORT or _file(test) == file]:
                    lines[module][line] = of_file
        return Tests(seconds, lines)


def _file(test: str) -> str:
    return test.partition("::")[0]


def measured(tree: Path, modules: Sequence[str], files: Sequence[str], log: Path) -> Tests:
    """Run the tests of some files; then those that passed once more, the fastest first."""
    _, seconds, bad, lines = _forked(tree, log, modules, files, None, False)
    passed = sorted(seconds.keys() - set(bad), key=seconds.get)
    passed = [test for test in passed if seconds[test] <= TEST_S]
    _, seconds, bad, _ = _forked(tree, log, (), dict.fromkeys(map(_file, passed)), passed, False)
    if bad:
        print("fail without a mutant, left out:", *bad, file=sys.stderr)
    passed = [test for test in passed if test in seconds and test not in bad]
    return Tests({test: seconds[test] for test in passed}, lines)


def run(tree: Path, tests: Sequence[str], log: Path) -> str:
    """Run tests up to the first that fails; return it, or how all ended, or nothing.

    A test that ends the process has failed.
    """
    files = dict.fromkeys(map(_file, tests))
    code, _, bad, _ = _forked(tree, log, (), files, tests, True)
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return ""
    running = _running(log)
    ended_by = running.read_text() if running.exists() else f"exit code {code}"
    return bad[-1] if bad else ended_by


def _running(log: Path) -> Path:
    """Return the file that says which test of a process runs."""
    return log.with_suffix(".running")


def _forked(tree: Path, log: Path, *work: Any) -> tuple[int, dict, list, dict]:
    """Run tests in a process; return its exit code and what `_child` writes to a file."""
    result = log.with_suffix(".json")
    for path in (result, _running(log)):
        path.unlink(missing_ok=True)
    log.write_bytes(b"")
    process = get_context("fork").Process(target=_child, args=(tree, log, result, *work))
    process.start()
    process.join(3 * MOST_S)  # it may have to wait for the processor
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what it may have left running, too
    process.join()
    return process.exitcode, *(json.loads(result.read_text()) if result.exists() else ({}, [], {}))


def _child(tree, log, result, modules, arguments, tests, first_failure):
    """Run tests; write the seconds of each, those that did not pass, and who executes a line."""
    from coverage import Coverage

    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.chdir(tree)
    here = str(Path(__file__).parents[2])
    sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", here))]
    os.environ |= {"PYTHONPATH": str(tree), "KMAPS_MIRROR": ""}
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tests", "kmaps")]:
        del sys.modules[name]
    coverage = Coverage(data_file=None, include=[str(tree / name) for name in modules])
    if modules:
        coverage.start()
    for name in modules:
        import_module(name.removesuffix(".py").replace("/", "."))
    plugin = _Plugin(tests, coverage.switch_context if modules else None, _running(log))
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
    options += ("-x",) * first_failure
    code = pytest.main([*options, f"--rootdir={tree}", *arguments], plugins=[plugin])
    executed = coverage.get_data().contexts_by_lineno
    lines = {name: executed(str(tree / name)) for name in modules}
    result.write_text(json.dumps([plugin.seconds, plugin.bad, lines]))
    sys.exit(code)


def _processor_s() -> float:
    """Return the processor's seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


class _Plugin:
    """Runs the given tests, or all, and measures them."""

    def __init__(self, tests, switch, running):
        self.tests = tests
        self.switch = switch
        self.running = running
        self.seconds = {}
        self.bad = []

    def _enter(self, context, limit_s):
        if self.switch:
            self.switch(context)
        elif self.tests:  # not an exception, which could come while a lock is taken
            signal.setitimer(signal.ITIMER_PROF, limit_s)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        found = {item.nodeid: item for item in items}
        items[:] = [found[test] for test in self.tests or found if test in found]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        began_s = _processor_s()
        result = yield
        self.seconds[item.nodeid] = _processor_s() - began_s
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.running.write_text(item.nodeid)
        self._enter(_file(item.nodeid), MUTANT_S)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        self._enter(item.nodeid, MUTANT_S)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self):
        self._enter(_IMPORT, 0)

    def pytest_runtest_logreport(self, report):
        if not report.passed:
            self.bad.append(report.nodeid)

    def pytest_collectreport(self, report):
        if report.failed:
            self.bad.append(report.nodeid)
