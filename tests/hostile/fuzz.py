"""A coverage-guided fuzz target for each reader: `python -m tests.hostile.fuzz READER SECONDS`.

It needs the extra ``fuzz`` (atheris, libFuzzer for Python). libFuzzer changes whole files of the
format, and keeps changes that reach code which none before them did. It ends at once, with a code
other than 0, at an input that a reader neither reads nor refuses, and prints that.
"""

import sys
import warnings
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory

from kmaps import _loops

FOLLOWED = ("kmaps", "yaml", "zipfile", "tarfile")
LOOPS = [f"kmaps._loops.{module.name}" for module in iter_modules(_loops.__path__)]
"""Compiled: what follows branches in Python cannot follow them."""

LONGEST_BYTES = 1 << 14


def main() -> None:
    """Fuzz a reader for some seconds."""
    import atheris  # the doctests import this module where there is none

    name, seconds = sys.argv[1:]
    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=FOLLOWED, exclude=LOOPS):
        from tests.hostile.check import IN_MEMORY, is_refused
        from tests.hostile.readers import formats
    with TemporaryDirectory(dir=IN_MEMORY) as folder:
        form = formats(Path(folder))[name]
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for number, content in enumerate(form.whole):
            (corpus / str(number)).write_bytes(content)
        path = Path(folder, f"file{form.suffix}")
        options = [
            *(f"-max_total_time={seconds}", f"-max_len={LONGEST_BYTES}", "-timeout=10"),
            *("-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={folder}/"),
        ]
        target = lambda content: is_refused(name, form, path, content)  # noqa: E731
        atheris.Setup([sys.argv[0], *options, str(corpus)], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
