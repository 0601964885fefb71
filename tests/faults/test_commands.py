"""Whatever happens to a command that writes: never half a file, never a traceback, and it resumes.

A fault comes at a call by which files come, change and go: the same whatever the machine does. What
`make test` has of it is in ``test_short.py``.
"""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.faults.forked import Ended, Forked
from tests.faults.injected import ERRORS, SIGNALS, TWICE
from tests.faults.writing import COMMANDS, files, prepare

pytestmark = pytest.mark.soak
MOST_CALLS = {"run": 3, "run --again": 2}  # of a command, spread over all it makes; 6 otherwise
OLD = b"what was there before"
RESUMING = ("run", "run --again")
INTERRUPTED = 130


@pytest.fixture(scope="module")
def forked():
    with Forked() as process:
        yield process


@pytest.fixture(scope="module")
def ready(forked, tmp_path_factory):
    """A function that returns a folder in which a command can be run, and what it must leave."""
    known = {}

    def prepared(name: str):
        if name not in known:
            command = COMMANDS[name]
            before = tmp_path_factory.mktemp(name) / "before"
            before.mkdir()
            prepare(before)
            for arguments in command.prepared_by:
                assert forked.run(before, arguments).code == 0
            for folder in ("first", "after"):  # the first may compile, whose calls do not count
                after = before.with_name(folder)
                shutil.copytree(before, after)
                done = forked.run(after, command.arguments)
                assert done.code == 0, done.stderr
            known[name] = before, after, done
        return known[name]

    return prepared


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def of_session(leader: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, *numbers = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(numbers[2]) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found


def wait_until(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def check_end(done: Ended, fault: str) -> None:
    """Check how a command ended: by its signal, or with one line and an exit code."""
    assert "Traceback" not in done.stderr, done.stderr
    if fault in ("SIGKILL", "SIGTERM", "SIGHUP"):
        assert done.code == -getattr(signal, fault)
    elif fault == "SIGINT":
        assert done.code == INTERRUPTED
        assert done.stderr.splitlines()[-1] == "interrupted"
    elif fault == TWICE:
        assert done.code in (INTERRUPTED, -signal.SIGINT), done.stderr
    else:
        assert done.code in (2, 4), done.stderr
        assert done.stderr.startswith("error: "), done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr


class Case:
    """A command in a folder of its own, to be disturbed, then checked and run again."""

    def __init__(self, forked: Forked, prepared, name: str, folder: Path, *, old: bool) -> None:
        self.forked, self.name, self.command = forked, name, COMMANDS[name]
        before, self.after, _ = prepared
        self.folder = folder
        shutil.copytree(before, folder)
        if old and self.command.target:
            (folder / self.command.target).write_bytes(OLD)
        self.before = snapshot(folder)
        self.arguments = [*self.command.arguments, *(["--force"] if self._forced else [])]

    @property
    def _forced(self) -> bool:
        return bool(self.command.target) and (self.folder / self.command.target).exists()

    def check(self) -> None:
        """Check that what is there is whole, and that another try leaves what it should."""
        whole = files(self.after) if self.name not in RESUMING else {}
        for path, content in files(self.folder).items():
            hidden = any(part.startswith(".") for part in Path(path).parts)
            if path in whole and not hidden:
                assert content in (whole[path], self.before.get(path)), f"{path} is damaged"
        if snapshot(self.folder) == self.before:
            return
        arguments = [*self.command.arguments, *self.command.after]
        again = self.forked.run(self.folder, arguments + (["--force"] if self._forced else []))
        assert again.code == 0, again.stderr
        assert self.command.found(self.folder) == self.command.found(self.after)
        shutil.rmtree(self.folder)


@pytest.mark.parametrize("fault", [*SIGNALS, TWICE, *ERRORS])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_at_a_call_of_the_system(forked, ready, tmp_path, record_property, name, fault):
    prepared = ready(name)
    calls = prepared[2].calls
    last, most = sum(calls.values()) - 1, MOST_CALLS.get(name, 6)
    numbers = sorted({round(i * last / (most - 1)) for i in range(most)})
    for number in numbers:
        case = Case(forked, prepared, name, tmp_path / str(number), old=number % 2 == 1)
        pid = forked.start(case.folder, case.arguments, fault={"call": fault, "at": number})
        done = forked.end(pid, case.folder)
        wait_until(lambda pid=pid: not of_session(pid))
        try:
            if done.code or fault not in ERRORS:  # what only tidies up may fail
                check_end(done, fault)
            case.check()
        except AssertionError as error:
            raise AssertionError(f"{fault} at call {number} of {calls}: {error}") from error
    record_property("soak", ("faults: calls of the system", len(numbers)))


@pytest.mark.parametrize("fault", SIGNALS)
def test_a_fault_in_the_middle_of_training(forked, ready, tmp_path, record_property, fault):
    for number in (0, 1, 7):
        case = Case(forked, ready("train"), "train", tmp_path / str(number), old=number == 1)
        done = forked.run(case.folder, case.arguments, {"pass": number, "signal": fault})
        check_end(done, fault)
        assert snapshot(case.folder) == case.before
        case.arguments = [*case.command.arguments, *(["--force"] if number == 1 else [])]
        assert forked.run(case.folder, case.arguments).code == 0
        assert files(case.folder) == files(case.after)
    record_property("soak", ("faults: passes of a training", 3))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_is_full_after_some_bytes(forked, ready, tmp_path, record_property, name):
    prepared = ready(name)
    for size in (400, 1000, 3000):
        case = Case(forked, prepared, name, tmp_path / str(size), old=size == 1000)
        done = forked.run(case.folder, case.arguments, {"size": size})
        assert "Traceback" not in done.stderr, done.stderr
        assert done.code in (0, 2, 3, 4), done.stderr
        case.check()
    record_property("soak", ("faults: full disks", 3))


@pytest.mark.parametrize("name", COMMANDS)
def test_two_at_once(forked, ready, tmp_path, record_property, name):
    case = Case(forked, ready(name), name, tmp_path / "both", old=False)
    pids = {
        which: forked.start(case.folder, case.arguments, name=which) for which in ("one", "other")
    }
    ended = [forked.end(pid, case.folder, name=which) for which, pid in pids.items()]
    assert any(done.code == 0 for done in ended), [done.stderr for done in ended]
    for done in ended:
        assert done.code in (0, 2), done.stderr
        assert "Traceback" not in done.stderr
    assert case.command.found(case.folder) == case.command.found(case.after)
    record_property("soak", ("faults: two at once", 1))


@pytest.mark.parametrize("name", RESUMING)
def test_a_worker_that_is_killed(forked, ready, tmp_path, record_property, name):
    """With the server that they are forked from: cells fail, none is there twice, nothing ends."""
    case = Case(forked, ready(name), name, tmp_path / "lost", old=False)
    pid = forked.start(case.folder, case.arguments)
    lines = case.folder / "runs" / ("records.jsonl" if name == "run" else "times.jsonl")
    wait_until(lambda: lines.exists() and lines.read_bytes().count(b"\n") > 0, 120)
    for worker in of_session(pid):
        if worker != pid:
            os.kill(worker, signal.SIGKILL)
    done = forked.end(pid, case.folder)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.code in (0, 3), done.stderr
    case.check()
    record_property("soak", ("faults: workers killed", 1))
