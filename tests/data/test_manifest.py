"""Manifests are validated as a whole, and the packaged ones are sound."""

import hashlib
import subprocess

import pytest
import yaml

from kmaps.data import available, load_manifest, read_manifest, tree_digest
from kmaps.data.formats import get_format
from kmaps.data.manifest import parse_manifest
from kmaps.errors import ConfigError

A, B = "a" * 64, "b" * 64
SOUND = {
    "name": "mine",
    "title": "My images",
    "licence": "mine",
    "citation": "none",
    "homepage": "https://example.org",
    "format": "jpeg-folders",
    "classes": ["cat", "dog"],
    "digest": A,
    "files": [{"path": "mine/a.tar", "urls": ["https://example.org/a"], "sha256": A, "size": 9}],
}


def parse(**changes):
    tree = {key: value for key, value in (SOUND | changes).items() if value is not None}
    return parse_manifest(yaml.safe_dump(tree), "mine.yaml")


@pytest.mark.parametrize("name", available())
def test_packaged_manifests(name):
    manifest = load_manifest(name)
    assert manifest.name == name
    assert manifest.embedded == (name in ("breast-cancer", "digits", "wine"))
    get_format(manifest)
    for source in manifest.files:
        assert source.path.count("/") == 1  # in a folder of the mirror


@pytest.mark.parametrize("name", ["mnits", "a" * 300, "a\0"])
def test_unknown_name(tmp_path, name):
    hint = r", did you mean 'mnist'\? \(known: " if name == "mnits" else ""
    with pytest.raises(ConfigError, match=f"unknown dataset .*{hint}"):
        load_manifest(name, tmp_path)


def test_tree_digest_is_what_sha256sum_prints(tmp_path):
    contents = {"B/x": b"1", "a/x": b"22", "a/y": b""}
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    shell = "find * -type f | LC_ALL=C sort | xargs sha256sum | sha256sum"
    done = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, check=True)
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    assert tree_digest(digests) == done.stdout.decode().split()[0]
    one, two = (SOUND["files"][0] | {"role": role, "sha256": A} for role in ("x", "y"))
    digest = tree_digest({"x": A, "y": A})
    assert parse(files=[one, two], digest=digest).digest == digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "My Data"}, r"name: expected lower-case letters, digits, - or _, .*'My Data'"),
        ({"name": "com1"}, "name: expected .* not a name that Windows reserves, got 'com1'"),
        ({"title": None}, "title: missing"),
        ({"citation": 3}, "citation: expected some text, got 3"),
        ({"homepage": "example.org"}, r"homepage: expected an http\(s\) address"),
        ({"classes": "cat"}, "classes: expected a list of names, got 'cat'"),
        ({"shape": [28]}, r"shape: expected \[height, width\], got \[28\]"),
        ({"max_level": True}, "max_level: expected a positive integer, got True"),
        ({"digest": "abc"}, "digest: expected 64 hexadecimal digits, got 'abc'"),
        ({"licens": "x"}, "licens: unknown key, did you mean 'licence'?"),
        ({"files": ["a"]}, r"files\[0\]: expected a mapping, got 'a'"),
        ({"files": [SOUND["files"][0] | {"size": 0}]}, r"files\[0\]\.size: expected a positive"),
        ({"files": [SOUND["files"][0] | {"path": "../a"}]}, "expected a relative path, folder/"),
        ({"files": [SOUND["files"][0] | {"urls": ["ftp://x/a"]}]}, "expected an http"),
        ({"files": [SOUND["files"][0]] * 2}, "each of several files needs a role"),
        ({"digest": B}, f"digest: expected {A}, the digest of the files, got {B}"),
    ],
)
def test_mistakes(changes, message):
    with pytest.raises(ConfigError, match=f"^mine.yaml: .*{message}"):
        parse(**changes)


def test_manifest_from_a_file(tmp_path):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(SOUND))
    manifest = read_manifest(tmp_path / "mine.yaml")
    assert manifest == parse()
    assert manifest.classes == ("cat", "dog")
    assert manifest.files[0].urls == ("https://example.org/a",)
    assert (manifest.size, manifest.shape, manifest.max_level) == (9, None, 255)
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot read the manifest"):
        read_manifest(tmp_path / "none.yaml")
