"""Ctrl-C: in loops that do not look at signals, and while modules are imported."""

import signal
import subprocess
import sys
from time import sleep

import pytest
from commands import ROOT

# A hash in C, as a compiled loop, takes many minutes and does not look at signals.
LOOP = """
from hashlib import pbkdf2_hmac
from kmaps.cli.interrupts import ended_by_interrupt

with ended_by_interrupt():
    print("begun", flush=True)
    pbkdf2_hmac("sha256", b"", b"", 2 * 10**9)
"""
IMPORT = """
import sys
from importlib.abc import MetaPathFinder

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "click":
            print("begun", flush=True)
            import time
            time.sleep(1000)

sys.meta_path.insert(0, Slow())
from kmaps.cli import main
main()
"""
# As packages that catch everything while they look for others.
LOST = """
import time
from importlib import import_module
from kmaps.cli import main as start, progress
from kmaps.cli.interrupts import ended_by_interrupt

def work():
    try:
        print("begun", flush=True)
        time.sleep(1000)
    except BaseException:
        pass
    {goes_on}

import_module("kmaps.cli.main").main = work
start()
"""
LOST_IN_LOOP = LOST.format(
    goes_on="""
    with ended_by_interrupt():
        pass"""
)
LOST_IN_STAGE = LOST.format(
    goes_on="""
    with progress.progress_bar("stage") as report:
        report(1, 2)"""
)
PROGRAMS = {
    "loop": LOOP,
    "import": IMPORT,
    "lost before a loop": LOST_IN_LOOP,
    "lost before a stage": LOST_IN_STAGE,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_ctrl_c_ends_the_process_with_one_line(program):
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT)},
        text=True,
    ) as process:
        assert process.stdout.readline() == "begun\n"
        sleep(0.5)  # until it is in the loop
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert (process.returncode, told) == (130, "interrupted\n")
