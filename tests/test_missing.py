"""What a new map, command, kind or loss still lacks, said in a sentence that names the file."""

import ast
import re
from pathlib import Path

import click
import pytest
import yaml

from kmaps.bench.kinds import KINDS
from kmaps.cli.main import COMMANDS, cli
from kmaps.maps import MAPS
from tests.faults.writing import COMMANDS as WRITING

ROOT = Path(__file__).resolve().parent.parent
FIGURES_ONLY = {"error", "recommend"}
"""They replace figures alone, by the code of `kmaps plot`, which is disturbed."""


def texts(folder: str) -> str:
    return "\n".join(path.read_text() for path in sorted((ROOT / folder).rglob("*.py")))


def test_every_map_has_a_test():
    known = texts("tests/maps")
    for name in MAPS:
        file = f"tests/maps/test_{name.replace('-', '_')}.py"
        class_name = MAPS[name].__name__
        assert class_name in known, f"write {file}: no test of maps names {class_name}"


def test_every_command_has_a_test():
    for name in COMMANDS:
        assert (ROOT / f"tests/cli/test_{name}.py").exists(), f"write tests/cli/test_{name}.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_replaces_files_is_disturbed_by_tests(name):
    command = cli.get_command(click.Context(cli), name)
    replaces = any("--force" in param.opts for param in command.params)
    known = WRITING.keys() | FIGURES_ONLY
    assert not replaces or name in known, f"add {name!r} to COMMANDS in tests/faults/writing.py"


def test_commands_write_files_whole_or_not_at_all():
    for path in (ROOT / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            modes = [ast.unparse(given) for given in [*node.args[1:2], *node.keywords]]
            writes = called == "open" and any(re.search(r"'\w*[wax]\w*'", mode) for mode in modes)
            if writes or called in ("write_text", "write_bytes"):
                where = f"cli/{path.name}:{node.lineno}"
                assert "os.devnull" in ast.unparse(node), f"{where}: use kmaps.io.atomic_file"


def test_every_kind_has_an_experiment_and_a_test():
    files = [*(ROOT / "experiments").glob("*.yaml")]
    used = {yaml.safe_load(file.read_text()).get("kind", "classification") for file in files}
    known = texts("tests/bench")
    for name in KINDS:
        assert name in used, f"write an experiment of it: experiments/{name}.yaml, kind: {name}"
        module = name.replace("-", "_")
        assert f"kinds.{module}" in known or f'"{name}"' in known or f"kind: {name}" in known, (
            f"write tests/bench/kinds/test_{module}.py"
        )
