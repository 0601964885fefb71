"""The group: lazy, one line an error, the designed exit codes."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from commands import kmaps, refused

from kmaps import CodedSVC
from kmaps.cli.main import COMMANDS, GROUPS, RENAMED, cli
from kmaps.errors import CellsFailed, ConfigError, DataError, GateFailed, NothingMeasured

KMAPS = Path(sys.executable).parent / "kmaps"
ROOT = Path(__file__).resolve().parents[2]


CLOSED = "error: standard output is closed: send it to a file, or to /dev/null\n"
FULL = "error: standard output: No space left on device\n"


def failing(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


@pytest.fixture
def run_failing(monkeypatch):
    """Run `kmaps info` with a body that raises the given error."""

    def run(error: BaseException):
        module = import_module("kmaps.cli.info")
        monkeypatch.setattr(module, "command", failing(error))
        return CliRunner().invoke(cli, ["info"])

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_listed_and_has_help_with_an_example(name):
    assert re.search(rf"^  {name} +{re.escape(COMMANDS[name])}$", kmaps("--help").output, re.M)
    assert f"kmaps {name} " in kmaps(name, "--help").output.partition("Example")[2]


def test_every_command_is_in_a_group():
    for path in Path(import_module("kmaps.cli").__file__).parent.glob("*.py"):
        is_command = "\ndef command(" in path.read_text() and path.stem != "completion"
        assert is_command == (path.stem in COMMANDS), f"cli/main.py: GROUPS lacks {path.stem}"
    assert re.findall(r"^(\w+):$", kmaps("--help").output, re.M) == ["Options", *GROUPS]


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_renamed_command_is_the_new_one_with_a_line_that_names_it(old, new):
    renamed = kmaps(old, "--help")
    assert renamed.stdout == kmaps(new[0], "--help").stdout
    assert renamed.stderr == f"warning: `kmaps {old}` is now `kmaps {' '.join(new)}`\n"
    assert f"\n  {old}" not in kmaps("--help").output


def test_a_run_in_the_place_of_a_model_and_the_other_way_round():
    run = str(ROOT / "results" / "quickstart")
    CodedSVC().fit(np.eye(4), [0, 0, 1, 1]).save("m.npz")
    np.save("x.npy", np.eye(4))
    for name in ("table", "plot", "report", "compare"):
        assert "kmaps info m.npz" in refused(name, "m.npz")
    assert "kmaps info m.npz" in refused("check", run, "--against", "m.npz")
    for records in (run, f"{run}/records.jsonl"):
        for name, *files in (
            ["info"],
            ["explain"],
            ["evaluate", "x.npy"],
            ["predict", "x.npy", "p.txt"],
        ):
            assert f"kmaps table {records}" in refused(name, records, *files)
    assert f"kmaps run --again {run}" in refused("run", run)


def test_options_of_other_ways_to_run_are_refused():
    for arguments in (
        ["quickstart", "--repeats", 3],
        ["quickstart", "lac-figure3-toy", "--jobs", 2],
        ["--all", "--set", "splits=1"],
        ["--again", "runs/quickstart", "--jobs", 2],
    ):
        assert str(arguments[-2]) in refused("run", *arguments)
    kmaps("run", code=2)
    kmaps("run", "--again", code=2)


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (ConfigError("no kernel 'ch2'"), 2, "error: no kernel 'ch2'\n"),
        (GateFailed("1 worse"), 1, "error: 1 worse\n"),
        (CellsFailed("2 cells"), 3, "error: 2 cells\n"),
        (DataError("no data"), 4, "error: no data\n"),
        (NothingMeasured("nothing"), 5, "error: nothing\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (OSError(28, "No space", "out.npy"), 2, "error: out.npy: No space\n"),
        (MemoryError("the codes need 9.0 GiB"), 2, "error: the codes need 9.0 GiB\n"),
        (MemoryError(), 2, "error: out of memory\n"),
        (
            RuntimeError("two\n  lines"),
            70,
            "error: unforeseen, a mistake of kmaps: RuntimeError: two lines; "
            "`kmaps --traceback COMMAND …` shows its place; please report it\n",
        ),
    ],
)
def test_an_error_is_one_line_with_its_exit_code(run_failing, error, code, told):
    result = run_failing(error)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", told)
    if code == 70:
        traced = CliRunner().invoke(cli, ["--traceback", "info"])
        assert isinstance(traced.exception, RuntimeError)


def test_the_installed_script_gives_exit_codes_and_no_traceback(tmp_path):
    done = subprocess.run([KMAPS, "table", tmp_path], capture_output=True, text=True)
    assert done.returncode == 5
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "redirection", "told"),
    [
        ("--version", ">&-", CLOSED),
        ("list kernels", ">&-", CLOSED),
        ("list kernels", ">/dev/full", FULL),
        ("info --help", ">/dev/full", FULL),
    ],
)
def test_output_that_is_lost_is_an_error(redirection, told, arguments):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        f"{KMAPS} {arguments} {redirection}",
        shell=True,
        capture_output=True,
        text=True,
        env=buffered,
    )
    assert (done.returncode, done.stderr) == (2, told)


def test_a_reader_that_goes_away_is_no_error():
    with subprocess.Popen(
        [KMAPS, "list", "kernels", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def python(*arguments, folder=None, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
    )


def test_the_folder_that_holds_a_clone_called_kmaps(tmp_path):
    """Python looks there first, and a folder without __init__.py would be a package too."""
    (tmp_path / "kmaps").symlink_to(ROOT)
    done = python("-c", "import kmaps.cli; print(kmaps.__file__)", folder=tmp_path)
    assert done.stdout.decode().strip() == str(ROOT / "kmaps" / "__init__.py"), done.stderr


def test_a_refusal_quotes_at_most_200_characters_of_a_file():
    Path("long.yaml").write_text(f"experiment: '{'q' * 5000}!'\nreductions: [ovr]\n")
    Path("r").mkdir()
    columns = json.dumps({"key": "a", "format": 2, "c" * 5000: 1})
    Path("r/records.jsonl").write_text(f"{columns}\n")
    for arguments in (["run", "long.yaml"], ["table", "r"]):
        said = kmaps(*arguments, code=2).stderr
        assert re.search("q{190}|c{190}", said)
        assert not re.search("q{201}|c{201}", said)
