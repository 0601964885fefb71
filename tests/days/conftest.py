"""The shells that days are typed in; `kmaps warmup` is typed once before."""

import subprocess

import pytest

from tests.days.shell import Shell, environment


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """The folder of the loops that `kmaps warmup` compiles."""
    folder = tmp_path_factory.mktemp("compiled")
    variables = environment(tmp_path_factory.mktemp("home"), folder)
    subprocess.run("kmaps warmup --quiet", shell=True, env=variables, check=True)
    return folder


@pytest.fixture
def shell(tmp_path, compiled):
    """A shell in a new folder."""
    folder = tmp_path / "day"
    folder.mkdir()
    return Shell(folder, environment(tmp_path / "home", compiled))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail after a test's last line when one of its facts is false."""
    yield
    shell = item.funcargs.get("shell")
    assert shell is None or not shell.false, shell.false
