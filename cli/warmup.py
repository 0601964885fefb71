"""``kmaps warmup``: compile the loops now instead of on first use."""

import click

from kmaps.cli.flags import say
from kmaps.cli.progress import progress_bar


@click.command(epilog="\b\nExample:\n  kmaps warmup --quiet")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no summary.")
def command(quiet: bool) -> None:
    """Compile the loops for this processor, so that first uses need not wait.

    Compiled loops are kept (`kmaps info` says where) until kmaps or numba change. The command
    compiles the usual types and settings, dense and sparse; rare ones still compile on first use.
    """
    from kmaps.cli.compiling import compile_counter
    from kmaps.models import compile_ahead

    with progress_bar("compile", quiet=quiet) as report, compile_counter() as compiled:
        compile_ahead(report)
    if quiet:
        return
    if compiled.loops:
        say(f"compiled {compiled.loops} loops in {compiled.seconds:.0f} s", err=True)
    else:
        say("nothing to do: all loops are compiled", err=True)
