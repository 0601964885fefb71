"""``kmaps download``."""

import gzip
from dataclasses import replace

import pytest
from commands import kmaps, refused


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.delenv("KMAPS_MIRROR", raising=False)
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path / "cache"))


def run(*arguments, **options):
    return kmaps("download", *arguments, **options)


@pytest.fixture
def packaged(tiny, monkeypatch):
    """The tiny dataset, as if it were one of ours."""
    monkeypatch.setattr("kmaps.data.available", lambda: ["tiny"])
    monkeypatch.setattr("kmaps.data.load_manifest", lambda name: tiny.manifest)
    return tiny


def test_one_line_per_dataset(packaged, tmp_path):
    done = run("tiny", "--mirror", packaged.folder)
    known = f"83 bytes, sha256 {packaged.manifest.digest}"
    assert done.stdout == f"tiny: downloaded, {known} ok, {tmp_path}/cache/tiny\n"
    assert done.stderr == ""
    assert run("--all").stdout.startswith(f"tiny: already present, {known} as verified earlier")
    again = run("--all", "--verify").stdout
    assert again == f"tiny: already present, {known} ok, {tmp_path}/cache/tiny\n"
    run("tiny", "--mirror", packaged.folder, "--data-dir", tmp_path / "other")
    assert (tmp_path / "other/tiny/images.npy").exists()


def test_wrong_content_is_a_data_error_and_the_others_are_fetched(tiny, monkeypatch, tmp_path):
    (tmp_path / "m/bad").mkdir(parents=True)
    (tmp_path / "m/tiny").symlink_to(tiny.folder / "tiny")
    (tmp_path / "m/bad/x.gz").write_bytes(gzip.compress(b"<html>"))
    sources = tuple(replace(source, path="bad/x.gz") for source in tiny.manifest.files)
    known = {"bad": replace(tiny.manifest, name="bad", files=sources), "tiny": tiny.manifest}
    monkeypatch.setattr("kmaps.data.load_manifest", known.get)
    done = run("bad", "tiny", "--mirror", tmp_path / "m", code=4)
    assert done.stderr.startswith("error: bad/x.gz: no source has it: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout.startswith("tiny: downloaded, ")
    assert not (tmp_path / "cache/bad").exists()


def test_offline_unknown_and_embedded():
    assert "offline, so no address was tried" in run("mnist", "--offline", code=4).stderr
    assert "did you mean 'mnist'?" in refused("download", "digits", "mnits")
    assert run("digits").stdout == "digits: embedded in scikit-learn, nothing to download\n"
