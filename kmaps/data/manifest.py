"""Manifests: where a dataset comes from, and the digest that identifies it.

A digest always covers the decompressed content, so that a repacked mirror is accepted and a wrong
file never is. The content of a single file is its bytes; the content of several files, or of an
archive, is their list as ``sha256sum`` prints it, in code-point order of the paths
(:func:`tree_digest`).

Where nobody has recorded the content's digest yet, a manifest says null, and the digest of the file
as the publisher packed it (``packed``) verifies a download; a repacked mirror is then refused. If
that is not known either, whoever downloads the dataset has to give it.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, partial
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from kmaps.checks import is_whole
from kmaps.data.yaml_text import read_text, read_yaml
from kmaps.errors import ConfigError, suggest


@dataclass(frozen=True)
class SourceFile:
    """One file to fetch, with the digest and the size of its decompressed content.

    Where the digest is not recorded, ``packed`` is the digest of the file itself, such as
    ``md5:3138…``, or None, and the size is the file's.
    """

    path: str  # its place in a mirror: mnist/train-labels-idx1-ubyte.gz
    urls: tuple[str, ...]  # the publishers' addresses, in the order to try them
    sha256: str | None
    size: int
    role: str = "archive"  # how the dataset's format uses the file
    packed: str | None = None

    @property
    def mirror_paths(self) -> tuple[str, ...]:
        """The paths to try in a mirror: this path, then the official names in its folder."""
        folder = PurePosixPath(self.path).parent
        official = (str(folder / url.rsplit("/", 1)[-1]) for url in self.urls)
        return tuple(dict.fromkeys((self.path, *official)))


@dataclass(frozen=True)
class Manifest:
    """The description of a dataset before any file is fetched.

    Label ``i`` means ``classes[i]``. The digest (SHA-256) is the digest of the only file, or the
    tree digest of the files; None where that of a file is not recorded. Groups are the official
    subsets; the shape (height, width) is None if the sizes of images differ, ``n_samples`` if the
    manifest does not state it. ``first_per_class`` keeps this many images of each class, in name
    order. The protocol is the usual split (:func:`kmaps.data.draw_split`). A dataset without files
    comes with a dependency.

    Of rows in text, ``label`` says which field is the class, ``n_features`` how many values are
    kept, ``group_sizes`` how many rows of the file each group has, in order, and with
    ``equal_rows_together`` no split puts equal rows on both sides.
    """

    name: str
    title: str
    licence: str
    citation: str
    homepage: str
    format: str
    classes: tuple[str, ...]
    digest: str | None
    groups: tuple[str, ...] = ()
    shape: tuple[int, int] | None = None
    n_samples: int | None = None
    max_level: int = 255
    first_per_class: int | None = None
    label: str = "last"
    n_features: int | None = None
    group_sizes: tuple[int, ...] = ()
    equal_rows_together: bool = False
    protocol: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[SourceFile, ...] = ()

    @property
    def embedded(self) -> bool:
        """Whether scikit-learn brings the dataset."""
        return not self.files

    @property
    def size(self) -> int:
        """The bytes of all files to download."""
        return sum(source.size for source in self.files)


def tree_digest(digests: Mapping[str, str]) -> str:
    """Return the digest of several files from the digest of each.

    It is the SHA-256 of the lines ``<sha256>  <path>``, in code-point order of the paths, which
    ``LC_ALL=C sha256sum $(paths in order) | sha256sum`` prints.
    """
    total = hashlib.sha256()
    for path in sorted(digests):
        total.update(f"{digests[path]}  {path}\n".encode())
    return total.hexdigest()


@cache
def packaged() -> tuple[str, ...]:
    """Return the names of the datasets of kmaps."""
    folder = resources.files("kmaps.datasets")
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".yaml")))


def available() -> list[str]:
    """Return the names of the datasets that have a manifest.

    The datasets that come with kmaps precede the user's datasets, which lie in the folders of
    ``KMAPS_DATA_PATH``, separated as in ``PATH``.
    """
    names = {path.stem for folder in _user_folders() for path in folder.glob("*.yaml")}
    return [*packaged(), *sorted(names - set(packaged()))]


def _user_folders() -> list[Path]:
    folders = os.environ.get("KMAPS_DATA_PATH", "").split(os.pathsep)
    return [Path(folder).expanduser() for folder in folders if folder]


def load_manifest(name: str, folder: str | Path | None = None) -> Manifest:
    """Return the manifest of a dataset that comes with kmaps, or of the user's NAME.yaml.

    The user's file is looked for in ``folder`` and in the folders of ``KMAPS_DATA_PATH``.
    """
    if name in packaged():
        return _packaged_manifest(name)
    folders = _user_folders()
    if folder is not None:
        folders.insert(0, Path(folder))
    for place in folders:
        file = place / f"{name}.yaml"
        if os.path.isfile(file):  # takes any name
            return _of_name(read_manifest(file), name)
    names = available()
    raise ConfigError(f"unknown dataset {name!r}{suggest(name, names)} (known: {', '.join(names)})")


@cache
def _packaged_manifest(name: str) -> Manifest:
    text = (resources.files("kmaps.datasets") / f"{name}.yaml").read_text("utf-8")
    return _of_name(parse_manifest(text, f"{name}.yaml"), name)


def _of_name(manifest: Manifest, name: str) -> Manifest:
    if manifest.name != name:
        raise ConfigError(f"{name}.yaml: name: expected {name!r}, got {manifest.name!r}")
    return manifest


def read_manifest(path: str | Path) -> Manifest:
    """Return the manifest in a YAML file."""
    try:
        return parse_manifest(read_text(Path(path)), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot read the manifest: {error}") from error


def parse_manifest(text: str, where: str) -> Manifest:
    """Validate a YAML text as a whole and return the manifest.

    A ConfigError names every mistake: unknown or missing keys, wrong values, a digest that does not
    follow from the digests of the files.
    """
    _, tree = read_yaml(text, where)
    problems: list[str] = []
    values = _checked(tree, Manifest, _MANIFEST_RULES, "", problems)
    sources = []
    for i, entry in enumerate(values.pop("files", ())):
        arguments = _checked(entry, SourceFile, _FILE_RULES, f"files[{i}].", problems)
        if arguments.keys() >= _required(SourceFile):
            sources.append(SourceFile(**arguments))
    if not problems:
        problems += _inconsistencies(values["digest"], sources)
    if problems:
        raise ConfigError(f"{where}: {'; '.join(problems)}")
    return Manifest(**values, files=tuple(sources))


def _inconsistencies(digest: str | None, sources: list[SourceFile]) -> Iterable[str]:
    if not sources:
        if digest is None:
            yield "digest: expected 64 hexadecimal digits, got None, and there are no files"
        return
    if len({source.role for source in sources}) < len(sources):
        yield "files: each of several files needs a role that no other has"
    derived = digest_of_files({source.role: source.sha256 for source in sources})
    if digest != derived:
        expected = derived or "null, since that of a file is null"
        yield f"digest: expected {expected}, the digest of the files, got {digest}"


def digest_of_files(by_role: Mapping[str, str | None]) -> str | None:
    """Return the digest of a dataset from its files' by role; None where one is not known."""
    recorded = {role: digest for role, digest in by_role.items() if digest is not None}
    if len(recorded) < len(by_role):
        return None
    return tree_digest(recorded) if len(recorded) > 1 else next(iter(recorded.values()))


def _required(described_class: type[Manifest | SourceFile]) -> set[str]:
    """Return the names of the keys that have no default."""
    return {
        parameter.name
        for parameter in fields(described_class)
        if parameter.default is MISSING and parameter.default_factory is MISSING
    }


def _checked(
    tree: Any,
    described_class: type[Manifest | SourceFile],
    rules: Mapping[str, Callable[[Any], Any]],
    prefix: str,
    problems: list[str],
) -> dict[str, Any]:
    if not isinstance(tree, dict):
        problems.append(f"{prefix.rstrip('.') or 'the file'}: expected a mapping, got {tree!r}")
        return {}
    values = {}
    for key, value in tree.items():
        if key not in rules:
            problems.append(f"{prefix}{key}: unknown key{suggest(key, rules)}")
            continue
        try:
            values[key] = rules[key](value)
        except ValueError as error:
            problems.append(f"{prefix}{key}: expected {error}, got {value!r}")
    problems += [
        f"{prefix}{key}: missing" for key in sorted(_required(described_class) - tree.keys())
    ]
    return values


def _rule(
    expected: str,
    holds: Callable[[Any], object],
    convert: Callable[[Any], Any] = lambda value: value,
) -> Callable[[Any], Any]:
    def rule(value: Any) -> Any:
        if not holds(value):
            raise ValueError(expected)
        return convert(value)

    return rule


def _matches(pattern: str, expected: str) -> Callable[[Any], str]:
    matches = re.compile(pattern, re.DOTALL).fullmatch
    return _rule(expected, lambda value: isinstance(value, str) and matches(value), str.strip)


def _list_of(rule: Callable[[Any], Any], expected: str) -> Callable[[Any], tuple]:
    def is_list(value: Any) -> bool:
        return isinstance(value, list) and len(value) > 0

    return _rule(expected, is_list, lambda value: tuple(map(rule, value)))


def _is_path(value: Any) -> bool:
    path = PurePosixPath(value) if isinstance(value, str) else PurePosixPath("/")
    return not path.is_absolute() and ".." not in path.parts and len(path.parts) > 1


_text = _matches(r".*\S.*", "some text")
_url = _matches(r"https?://\S+", "an http(s) address")
_sha256 = _matches(r"[0-9a-f]{64}", "64 hexadecimal digits")
_packed = _matches(
    r"md5:[0-9a-f]{32}|sha256:[0-9a-f]{64}", "md5:DIGEST or sha256:DIGEST of the packed file"
)


def _or_null(rule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else rule(value)


_count = _rule("a positive integer", partial(is_whole, low=1))
_shape = _rule(
    "[height, width]",
    lambda value: isinstance(value, list) and len(value) == 2,
    lambda value: tuple(map(_count, value)),
)

_MANIFEST_RULES = {
    "name": _matches(
        r"(?!(con|prn|aux|nul|(com|lpt)\d)$)[a-z0-9][a-z0-9_-]*",
        "lower-case letters, digits, - or _, and not a name that Windows reserves",
    ),
    "title": _text,
    "licence": _text,
    "citation": _text,
    "homepage": _url,
    "format": _text,
    "classes": _list_of(_text, "a list of names"),
    "groups": _list_of(_text, "a list of names"),
    "shape": _shape,
    "max_level": _count,
    "n_samples": _count,
    "first_per_class": _count,
    "label": _matches("first|last", "first or last"),
    "n_features": _count,
    "group_sizes": _list_of(_count, "a list of numbers of rows"),
    "equal_rows_together": _rule("true or false", lambda value: isinstance(value, bool)),
    "protocol": _rule("a mapping", lambda value: isinstance(value, dict)),
    "digest": _or_null(_sha256),
    "files": _list_of(lambda entry: entry, "a list of files"),
}
_FILE_RULES = {
    "path": _rule(
        "a relative path, folder/file", _is_path, lambda value: str(PurePosixPath(value))
    ),
    "urls": _list_of(_url, "a list of http(s) addresses"),
    "sha256": _or_null(_sha256),
    "size": _count,
    "role": _text,
    "packed": _packed,
}
