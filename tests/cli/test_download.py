"""``kmaps download``."""

import gzip

import pytest
from click.testing import CliRunner

from kmaps.cli.download import command
from kmaps.data import available
from kmaps.errors import ConfigError, DataError


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.delenv("KMAPS_MIRROR", raising=False)
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))
    return lambda *arguments: CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def packaged(tiny, monkeypatch):
    """The tiny dataset, as if it were one of ours."""
    monkeypatch.setattr("kmaps.data.available", lambda: ["tiny"])
    monkeypatch.setattr("kmaps.data.load_manifest", lambda name: tiny.manifest)
    return tiny


def test_one_line_per_dataset(run, packaged, tmp_path):
    done = run("tiny", "--mirror", packaged.folder)
    assert done.exit_code == 0
    line = f"0.0 MB, sha256 {packaged.manifest.digest} ok, {tmp_path}/cache/tiny\n"
    assert done.stdout == f"tiny: downloaded, {line}"
    assert done.stderr == ""
    assert run("--all").stdout == f"tiny: already present, {line}"
    run("tiny", "--mirror", packaged.folder, "--data-dir", tmp_path / "other")
    assert (tmp_path / "other/tiny/images.npy").exists()


def test_notes_go_to_standard_error(run, packaged, tmp_path):
    (tmp_path / "empty").mkdir()
    mirrors = ("--mirror", tmp_path / "empty", "--mirror", packaged.folder)
    noisy = run("tiny", *mirrors)
    assert noisy.stderr.count("note: ") == noisy.stderr.count("\n") == 4
    assert noisy.stdout.count("\n") == 1
    quiet = run("tiny", *mirrors, "--quiet", "--data-dir", tmp_path / "again")
    assert quiet.stderr == ""
    assert quiet.stdout.count("\n") == 1


def test_wrong_content_is_a_data_error_and_the_others_are_fetched(run, tiny, monkeypatch, tmp_path):
    from dataclasses import replace

    (tmp_path / "m/bad").mkdir(parents=True)
    (tmp_path / "m/tiny").symlink_to(tiny.folder / "tiny")
    (tmp_path / "m/bad/x.gz").write_bytes(gzip.compress(b"<html>"))
    sources = [replace(source, path="bad/x.gz") for source in tiny.manifest.files]
    known = {
        "bad": replace(tiny.manifest, name="bad", files=tuple(sources)),
        "tiny": tiny.manifest,
    }
    monkeypatch.setattr("kmaps.data.load_manifest", known.get)
    done = run("bad", "tiny", "--mirror", tmp_path / "m")
    assert isinstance(done.exception, DataError)
    assert done.exception.exit_code == 4
    assert str(done.exception).startswith("bad/x.gz: no source has it: ")
    assert done.stdout.startswith("tiny: downloaded, ")
    assert not (tmp_path / "cache/bad").exists()


def test_offline_missing_unknown_and_embedded(run):
    done = run("mnist", "--offline")
    assert isinstance(done.exception, DataError)
    assert "offline, so no address was tried" in str(done.exception)
    done = run("digits", "mnits")
    assert isinstance(done.exception, ConfigError)
    assert "did you mean 'mnist'?" in str(done.exception)
    assert done.stdout == ""  # nothing was fetched before
    done = run("digits")
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert done.stdout.startswith("digits: embedded in scikit-learn")


@pytest.mark.parametrize("arguments", [(), ("--all", "mnist")])
def test_names_or_all(run, arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert f"name datasets or give --all (known: {', '.join(available())})" in done.stderr


def test_errors_are_one_line_in_the_whole_command(monkeypatch, tmp_path):
    from kmaps.cli.main import cli

    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("KMAPS_MIRROR", raising=False)
    done = CliRunner().invoke(cli, ["download", "mnist"])
    assert done.exit_code == 4
    assert done.stderr.startswith("error: mnist/train-images-idx3-ubyte.gz: no source has it: ")
    assert done.stderr.count("\n") == 1
