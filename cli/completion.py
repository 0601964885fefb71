"""``kmaps completion``: print the completion script of a shell."""

import click
from click.shell_completion import get_completion_class

from kmaps.cli.flags import say


@click.command(epilog='\b\nExample:\n  eval "$(kmaps completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh or fish).

    Load it from the shell's start-up file, for instance ~/.bashrc.
    """
    from kmaps.cli.main import cli

    completer = get_completion_class(shell)(cli, {}, "kmaps", "_KMAPS_COMPLETE")
    say(completer.source())
