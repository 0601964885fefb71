"""What a test consists of, as a digest: its function and all that it may use of its files."""

import ast
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

FOLDERS = ("tests", "tests/bench", "tests/bench/run", "tests/features")  # on pytest's path


class Digests:
    """The digests of the test functions in some files, by file and by function.

    A digest changes with the function, with what the function names (fixtures, helpers, constants,
    imports), with fixtures that every test gets, and with the modules and ``conftest.py`` files
    that the file takes from the tests.
    """

    def __init__(self, tree: Path, files: Iterable[str]) -> None:
        self.functions = {file: _digests(tree, tree / file) for file in files}

    def of(self, test: str) -> str:
        """Return the digest of a test, ``file::function[parameters]``; nothing where it is gone."""
        file, _, name = test.partition("::")
        function = name.partition("[")[0].partition("::")[0]
        digest = self.functions.get(file, {}).get(function)
        return f"{digest} {name}" if digest else ""


def _digests(tree: Path, file: Path) -> dict[str, str]:
    """Return the digests of the functions in a file of tests."""
    definitions = dict(_definitions(file.read_text()))
    shared = b"".join(path.read_bytes() for path in sorted(_helpers(tree, file)))
    for_all = [name for name, text in definitions.items() if "autouse" in text]
    for_all += [name for name in ("pytestmark", "RNG", "FILES") if name in definitions]
    digests = {}
    for name in definitions:
        if name.startswith(("test_", "Test")):
            needed = sorted(_closure([name, *for_all], definitions))
            text = "".join(definitions[each] for each in needed)
            digests[name] = sha256(shared + text.encode()).hexdigest()[:16]
    return digests


def _definitions(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of what a file defines or imports, joined by name."""
    texts: dict[str, str] = {}
    for statement in ast.parse(source).body:
        lines = source.splitlines()[_first_line(statement) - 1 : statement.end_lineno]
        for name in _defined(statement):
            texts[name] = texts.get(name, "") + "\n".join(lines)
            if isinstance(statement, ast.Import | ast.ImportFrom):
                texts[name] = f"{getattr(statement, 'module', '')} {name}"
    yield from texts.items()


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _defined(statement: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    assigned = [node.id for node in names if isinstance(node.ctx, ast.Store)]
    return assigned or [node.id for node in names] or [f"line {statement.lineno}"]


def _closure(names: list[str], definitions: dict[str, str]) -> set[str]:
    """Return the definitions that some need, with themselves."""
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in definitions and name not in needed:
            needed.add(name)
            waiting += _words(definitions[name])
    return needed


def _words(source: str) -> list[str]:
    """Return all words of a source, also those in strings, which may name fixtures."""
    return re.findall(r"\w+", source)


def _helpers(tree: Path, file: Path) -> set[Path]:
    """Return the files of the tests that a file imports, and each `conftest.py` above it."""
    found: set[Path] = set()
    waiting = [folder / "conftest.py" for folder in file.parents if folder.is_relative_to(tree)]
    waiting += _imported(tree, file)
    while waiting:
        path = waiting.pop()
        if path not in found and path.is_file():
            found.add(path)
            waiting += _imported(tree, path)
    return found


def _imported(tree: Path, file: Path) -> Iterator[Path]:
    """Yield where the modules that a file imports would be, if they belonged to the tests."""
    folders = [tree, *(tree / name for name in FOLDERS)]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            path = name.replace(".", "/") + ".py"
            yield from (folder / path for folder in folders if "kmaps" not in path.split("/")[0])
