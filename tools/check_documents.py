"""Check what the project's documents say: links, commands, names and numbers (`make lint`).

Prints a line for each statement that is not true, and exits with 1 if there is one.
"""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from statistics import fmean

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kmaps.bench.kinds import KINDS  # noqa: E402
from kmaps.bench.kinds.load import parse  # noqa: E402
from kmaps.bench.paper.entries import packaged  # noqa: E402
from kmaps.bench.paper.numbers import printed_numbers  # noqa: E402
from kmaps.bench.records.file import read_records  # noqa: E402
from kmaps.bench.records.measures import MEASURES  # noqa: E402
from kmaps.bench.records.summary import summarize  # noqa: E402
from kmaps.cli.main import cli  # noqa: E402
from kmaps.cli.map_options import MapCommand, map_options  # noqa: E402
from kmaps.data import archives, transfer, yaml_text  # noqa: E402
from kmaps.io import text_files  # noqa: E402
from kmaps.maps import MAPS  # noqa: E402

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "experiments" / "README.md"]
COMMAND = re.compile(r"`kmaps ([a-z]+[^`]*)`|^ {4,}(?:\S+/)?kmaps (.*)$", re.MULTILINE)
ENTRY_POINTS = ("kmaps.maps", "kmaps.kinds")  # groups of entry points, in pyproject.toml
ON_THE_INDEX = re.compile(r"pip install (-\S+ )*['\"]?kmaps\b|(?<![\w/])kmaps\[")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")
LOCKED = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M)


def links_and_targets() -> Iterator[str]:
    """Yield the links between files, and the targets of make, that lead nowhere."""
    makefile = (ROOT / "Makefile").read_text()
    for page in PAGES:
        text = page.read_text()
        for link in re.findall(r"\]\((?!http)([^)#]+)\)", text):
            if not (page.parent / link).exists():
                yield f"{page.name}: there is no {link}"
        for target in sorted(set(re.findall(r"\bmake ([a-z-]+)\b(?= {2,}#|`)", text))):
            if not re.search(rf"^{target}:", makefile, re.MULTILINE):
                yield f"{page.name}: the Makefile has no target {target}"


def commands() -> Iterator[str]:
    """Yield the commands and the options on pages that kmaps does not have."""
    of_maps = {word for name in MAPS for option in map_options(name) for word in option.opts}
    for page in PAGES:
        if page.name in ("CONTRIBUTING.md", "CHANGELOG.md"):  # of code to come, and of the past
            continue
        text = page.read_text()
        blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        text += re.sub("^", "    ", blocks, flags=re.MULTILINE)
        for inline, line in COMMAND.findall(text):
            name, *words = shlex.split(inline or line, comments=True)
            command = cli.get_command(click.Context(cli), name)
            if command is None:
                yield f"{page.name}: kmaps has no command {name}"
                continue
            options = {word for option in command.params for word in option.opts}
            named = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
            for option in sorted(named - options - of_maps - {"--help"}):
                yield f"{page.name}: kmaps {name} has no option {option}"
            if not isinstance(command, MapCommand):
                with suppress(click.UsageError):  # an option is named without its value
                    _, rest, _ = command.make_parser(click.Context(command)).parse_args(words)
                    if rest:
                        yield f"{page.name}: kmaps {name} does not take {' '.join(rest)}"


def package_index() -> Iterator[str]:
    """Yield what sends people to the package index, where `kmaps` is another project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        path = ROOT / name
        is_text = path.suffix in (".md", ".py", ".yaml", ".toml", "") and path.is_file()
        if not is_text or name in ("CHANGELOG.md", str(Path(__file__).relative_to(ROOT))):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if ON_THE_INDEX.search(line):
                yield f"{name}:{number}: installs another project: {line.strip()}"


@cache
def _functions(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def names() -> Iterator[str]:
    """Yield the tests and the names of kmaps on pages that there are not."""
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        text = page.read_text()
        for path, name in re.findall(r"`(tests/\S+\.py)::(\w+)`", text):
            if name not in _functions(ROOT / path):
                yield f"{page.name}: there is no test {path}::{name}"
        for name in sorted(set(re.findall(r"`(kmaps(?:\.\w+)+)(?:\(\))?`", text))):
            if name not in ENTRY_POINTS and not _is_importable(name):
                yield f"{page.name}: there is no {name}"


def _is_importable(name: str) -> bool:
    module, _, attribute = name.rpartition(".")
    with suppress(ImportError):
        import_module(name)
        return True
    with suppress(ImportError):
        return hasattr(import_module(module), attribute)
    return False


def security() -> Iterator[str]:
    """Yield the promises of SECURITY.md without a test, and numbers that the code does not have."""
    text = (ROOT / "SECURITY.md").read_text()
    promises = re.findall(r"^\| (?!promise|---)(.*?) \| (.*) \|$", text, re.MULTILINE)
    rest = re.findall(r"^- .*(?:\n  .*)*", text.partition("## What is not promised")[2], re.M)
    for promise, tests in promises:
        if not re.fullmatch(r"`tests/\S+::test_\w+`(, `tests/\S+::test_\w+`)*", tests):
            yield f"SECURITY.md: no test of: {promise}"
    for sentences in rest:
        if not re.search(r"\(`tests/\S+::test_\w+`(,\s+`tests/\S+::test_\w+`)*\)\.$", sentences):
            yield f"SECURITY.md: no test of: {sentences}"
    for number in (
        f"{yaml_text.MOST_CHARACTERS:,} characters",
        f"a depth of {yaml_text.MOST_DEPTH} and {yaml_text.MOST_NODES:,} values",
        f"{text_files.LONGEST_LINE:,} bytes",
        f"and {archives.UNWANTED_BYTES >> 20} MiB",
        f"{transfer._LEAST_RATE:,} bytes per second",
        f"more than {transfer._PATIENCE_S} s",
        f"At most {transfer._REDIRECTIONS} redirections",
    ):
        if number not in text:
            yield f"SECURITY.md: does not say {number!r}"
    for path in (ROOT / "datasets").glob("*.yaml"):
        if "- http://" in path.read_text() and path.stem not in ("daimler", "inria-person"):
            yield f"SECURITY.md: does not say that {path.stem} comes by http"


def experiments() -> Iterator[str]:
    """Yield the experiments, the keys of their files and the examples that pages lack."""
    page = (ROOT / "docs" / "experiments.md").read_text()
    table = page.split("| experiment | what it measures |")[1].split("\n\n")[0]
    for name in sorted(set(re.findall(r"`([a-z0-9-]+)`", table)) ^ set(packaged())):
        yield f"docs/experiments.md: {name} is missing, or is no experiment"
    keys = (ROOT / "experiments" / "README.md").read_text()
    for name, kind in KINDS.items():
        for key in kind.model.model_fields:
            if f"`{key}`" not in keys and f"`{key}:" not in keys:
                yield f"experiments/README.md: {key} of {name} is not described"
    for example in re.findall(r"```yaml\n(.*?)```", keys, re.DOTALL):
        try:
            parse(example)
        except ValueError as error:
            yield f"experiments/README.md: {error}"


def packages() -> Iterator[str]:
    """Yield the packages that CONTRIBUTING lacks, and those that there are not."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"^\| `(kmaps/[\w/]+)(?:\.py)?` \|", text, re.MULTILINE))
    there = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("kmaps/**/__init__.py")}
    there |= {str(path.with_suffix("").relative_to(ROOT)) for path in ROOT.glob("kmaps/[!_]*.py")}
    there -= {name for name in there if name.startswith("kmaps/bench/kinds/")}
    for name in sorted(named ^ (there - {"kmaps", "kmaps/bench"})):
        yield f"CONTRIBUTING.md: {name} is missing in the table of packages, or is none"


def versions() -> Iterator[str]:
    """Yield the versions of dependencies that the conda recipe and the lock file lack."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / "packaging" / "meta.yaml").read_text()
    if f'version = "{project["version"]}"' not in recipe:
        yield f"packaging/meta.yaml: is not of version {project['version']}"
    needed = {line.replace("matplotlib>", "matplotlib-base>") for line in project["dependencies"]}
    needed |= {"python" + project["requires-python"]}
    listed = re.findall(r"^    - (\S+) (>=\S+)$", recipe, re.MULTILINE)
    for line in sorted({name + bound for name, bound in listed} ^ needed):
        yield f"packaging/meta.yaml: {line} is missing there, or in pyproject.toml"
    texts = [(ROOT / f"requirements-{name}.txt").read_text() for name in ("published", "vlfeat")]
    locked = {name: version for text in texts for name, version, _ in LOCKED.findall(text)}
    optional = project["optional-dependencies"]
    extras = chain.from_iterable(optional[name] for name in ("images", "comparison", "parquet"))
    for name in sorted({line.split(">=")[0] for line in [*project["dependencies"], *extras]}):
        if name not in locked:
            yield f"requirements-published.txt: {name} is missing"
    measured = {
        name_and_version
        for path in (ROOT / "results").rglob("records.jsonl")
        for line in path.read_text().splitlines()
        for name_and_version in json.loads(line)["versions"].items()
    }
    for name, version in sorted(measured):
        if name not in ("kmaps", "kmaps-svm") and locked.get(name) != version:
            yield f"requirements-published.txt: results were measured with {name} {version}"


def choices() -> Iterator[str]:
    """Yield what the page of choices says of records otherwise than they do."""
    accuracies: dict[str, list[float]] = {}
    for record in read_records(ROOT / "results" / "genrbf-figure2-features"):
        accuracies.setdefault(record["kernel"], []).append(100 * record["accuracy"])
    gain = fmean(accuracies["exp-chi2"]) - fmean(accuracies["chi2"])
    sentence = f"exp-chi2 is {gain:.1f} points above chi2"
    if sentence not in (ROOT / "docs" / "choose.md").read_text():
        yield f"docs/choose.md: does not say {sentence!r}"


def notes() -> Iterator[str]:
    """Yield the numbers in tables of notes that neither their run nor a paper has."""
    printed = [number.value for number in printed_numbers()]
    for path in sorted(ROOT.glob("results/*/NOTES.md")):
        numbers = numbers_in_tables(path.read_text())
        if not numbers:
            continue
        values = [*printed, *_measured(path.parent)]
        for number in numbers:
            if not _is_rounded(number, values):
                yield f"results/{path.parent.name}/NOTES.md: {number} is no number of the records"


def numbers_in_tables(text: str) -> list[str]:
    """Return the numbers in the bodies of a text's tables, without their first columns."""
    bodies = re.findall(r"^ *\|[ :|-]+\|\n((?: *\|.*\n?)+)", text, re.MULTILINE)
    rows = "\n".join(bodies).splitlines()
    cells = [cell for row in rows for cell in row.strip(" |").split("|")[1:]]
    return [number for cell in cells for number in NUMBER.findall(cell)]


def _measured(run: Path) -> list[float]:
    """Return the means, spreads and medians of a run, in the units of its page."""
    values = []
    for line in summarize(read_records(run), list(MEASURES)):
        measure = MEASURES[line["measure"]]
        statistics = [line["mean"], line["std"], line["median"]]
        values += [measure.scale * value for value in statistics if value is not None]
        if measure.unit == "fraction" and line["n"]:
            values.append(100 - measure.scale * line["mean"])  # the error
    return values


def _is_rounded(text: str, values: list[float]) -> bool:
    """Return whether a number, as a text has it, is one of some values when they are rounded."""
    digits = text.replace(",", "").lstrip("+")
    mantissa, exponent, _ = digits.partition("e")
    decimals = len(mantissa.partition(".")[2])
    form = f".{decimals}e" if exponent else f".{decimals}f"
    return any(float(f"{value:{form}}") == float(digits) for value in values)


CHECKS = (
    links_and_targets,
    commands,
    package_index,
    names,
    security,
    experiments,
    packages,
    versions,
    choices,
    notes,
)


def main() -> int:
    """Print what is not true; return an exit code."""
    problems = [problem for check in CHECKS for problem in check()]
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
