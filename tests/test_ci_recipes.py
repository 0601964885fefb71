"""The recipes for continuous integration: they are YAML, and their commands do what is said."""

import json
import re
import shlex
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from click.testing import CliRunner

from kmaps.bench.records.file import read_records
from kmaps.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "continuous-integration.md").read_text()
GITHUB, GITLAB = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.S))
COMMANDS = {
    "github": [step["run"] for step in GITHUB["jobs"]["check"]["steps"] if "run" in step],
    "gitlab": GITLAB["experiment"]["script"],
}
SUMMARY = {"github": "$GITHUB_STEP_SUMMARY", "gitlab": "summary.md"}


@pytest.fixture(autouse=True)
def _repository(tmp_path, monkeypatch):
    """A repository with the quickstart as its experiment, measured already."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "experiments" / "quickstart.yaml", "experiment.yaml")
    for name in ("baseline", "new"):
        shutil.copytree(ROOT / "results" / "quickstart", name)


def follow(recipe):
    """Run the commands of a recipe; return the last exit code and the summary."""
    first, *commands = (shlex.split(command) for command in COMMANDS[recipe])
    assert first == ["pip", "install", "PATH"]
    assert [command[:2] for command in commands] == [["kmaps", "run"], ["kmaps", "check"]]
    for command in commands:
        redirected = [i for i, word in enumerate(command) if word in (">", ">>")]
        end = redirected[0] if redirected else len(command)
        assert command[end + 1 :] == [SUMMARY[recipe]] * len(redirected)
        done = CliRunner().invoke(cli, command[1:end])
    return done.exit_code, done.stdout


def cases():
    return ElementTree.parse("kmaps.xml").getroot().findall("testcase")


@pytest.mark.parametrize("recipe", COMMANDS)
def test_the_same_results_pass(recipe):
    code, summary = follow(recipe)
    assert code == 0
    assert summary.startswith("### quickstart: gate passed\n\n10 cells: 10 same.\n")
    assert len(cases()) == 10
    assert all(len(case) == 0 for case in cases())


@pytest.mark.parametrize("recipe", COMMANDS)
def test_worse_results_fail_and_are_named(recipe):
    better = read_records("baseline")
    for record in better:
        record["accuracy"] += 0.02 * (record["method"] == "linear")
        record.pop("repeats", None)
    Path("baseline/records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in better))
    Path("baseline/correct.npz").unlink()
    code, summary = follow(recipe)
    assert code == 1
    assert "gate failed" in summary
    [failed] = [case.get("name") for case in cases() if case.find("failure") is not None]
    assert failed == "digits intensity ovo any linear"


def test_what_the_recipes_keep_is_what_the_commands_write():
    kept = GITHUB["jobs"]["check"]["steps"][-1]["with"]["path"].split("\n")
    assert kept == ["new", "kmaps.xml"]
    artifacts = GITLAB["experiment"]["artifacts"]
    assert artifacts["reports"]["junit"] in COMMANDS["gitlab"][-1]
    assert artifacts["paths"] == ["new", SUMMARY["gitlab"]]
    for recipe, commands in COMMANDS.items():
        assert commands[-1].endswith(SUMMARY[recipe].join('""' if recipe == "github" else ["", ""]))
