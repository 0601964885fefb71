"""YAML text: limits on length, depth and aliases; every refusal is one line with its place."""

import os

import pytest

from kmaps.bench.kinds.load import load
from kmaps.data.manifest import parse_manifest, read_manifest
from kmaps.data.yaml_text import MOST_CHARACTERS, MOST_DEPTH, read_yaml
from kmaps.errors import ConfigError

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 40))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, "x.yaml:16:6: more than 100,000 values, with the content of aliases"),
        (CHAIN, "x.yaml:30:12: more than 30 nested mappings and lists"),
        ("a: &a [*a]", "x.yaml:1:8: a value contains itself"),
        ("a: &a {b: [1, *a]}", "x.yaml:1:15: a value contains itself"),
        ("a: {<<: *b}", "x.yaml:1:9: found undefined alias"),
        ("[" * 500 + "]" * 500, f"x.yaml:1:{MOST_DEPTH + 1}: more than {MOST_DEPTH} nested"),
        ("[" * 100_000, f"more than {MOST_DEPTH} nested"),
        ("{a: " * 500 + "1" + "}" * 500, "nested mappings and lists"),
        ("a: !!bool maybe", "x.yaml: not YAML: "),
        ("a: !!int x", "x.yaml: not YAML: "),
        ("a: !!int ''", "x.yaml: not YAML: no number after !!int or !!float"),
        ("a: !!float ''", "x.yaml: not YAML: no number after !!int or !!float"),
        ("a: 2026-13-45", "x.yaml: not YAML: "),
        ("a: !!timestamp never", "x.yaml: not YAML: "),
        ("a: !!python/object/apply:os.system [ls]", "x.yaml:1:4: could not determine"),
        ("a: [1, 2", "x.yaml:2:1: did not find expected"),
        ("a: \x00", "x.yaml: not YAML: "),
        ("#" * (MOST_CHARACTERS + 1), "x.yaml: has more than 1,000,000 characters; shorten it"),
    ],
)
def test_hostile_text_is_refused_in_one_line(text, told):
    with pytest.raises(ConfigError) as caught:
        read_yaml(text, "x.yaml")
    assert told in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300


def test_manifests_have_the_same_limits():
    with pytest.raises(ConfigError, match="more than 100,000 values"):
        parse_manifest(BOMB, "x.yaml")


@pytest.mark.parametrize("read", [load, read_manifest])
def test_what_has_no_end_is_refused_before_it_is_read(tmp_path, read):
    path = tmp_path / "x.yaml"
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        make(path)
        with pytest.raises(ConfigError, match=r"x.yaml: is a device"):
            read(path)
        path.unlink()
    with path.open("wb") as file:
        file.truncate(10**12)  # a sparse file: no bytes on the disk
    with pytest.raises(ConfigError, match=r"x.yaml: has more than 1,000,000 char"):
        read(path)
