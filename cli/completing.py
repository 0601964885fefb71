"""Completions for shells: files, and the names of kernels, measures and datasets."""

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    return [CompletionItem(incomplete, type="file")]


def names(list_names: Callable[[], Iterable[str]], *, or_files: bool = False) -> Completer:
    """Return a completion by some names, or by files if no name fits and files are allowed."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        matches = [name for name in list_names() if name.startswith(incomplete)]
        if not matches and or_files:
            return files(ctx, param, incomplete)
        return [CompletionItem(name) for name in matches]

    return complete


def kernels() -> Iterable[str]:
    """Return the names of additive and exponential kernels."""
    from kmaps.kernels import EXP_KERNELS, KERNELS

    return [*KERNELS, *EXP_KERNELS]


def measures() -> Iterable[str]:
    """Return the names of the measures of tables."""
    from kmaps.bench.records.measures import MEASURES

    return [*MEASURES, "all"]


def datasets() -> Iterable[str]:
    """Return the names of the packaged datasets."""
    from kmaps.data import available

    return available()


def experiments() -> Iterable[str]:
    """Return the names of the packaged experiments."""
    from kmaps.bench.paper.entries import packaged

    return packaged()
