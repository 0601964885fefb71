"""``kmaps warmup``: compile ahead what is compiled on first use."""

import click

from kmaps.cli.flags import say
from kmaps.cli.progress import progress_bar


@click.command(epilog="\b\nExample:\n  kmaps warmup --quiet")
@click.option("--quiet", "-q", is_flag=True, help="No progress bar and no summary.")
def command(quiet: bool) -> None:
    """Compile the loops for this processor, so that nothing has to on first use.

    What is compiled is kept (`kmaps info` says where), until kmaps or numba change. The usual types
    and settings are compiled, dense and sparse; what is rare still compiles when it is used.
    """
    from kmaps.cli.compiling import watched
    from kmaps.models import compile_ahead

    with progress_bar("compile", quiet=quiet) as report, watched() as compiled:
        compile_ahead(report)
    if quiet:
        return
    if compiled.loops:
        say(f"compiled {compiled.loops} loops in {compiled.seconds:.0f} s", err=True)
    else:
        say("nothing to do: all of it is compiled", err=True)
