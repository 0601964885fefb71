"""``kmaps completion``, until the next release: the scripts are printed by click itself."""

import click
from click.shell_completion import get_completion_class

from kmaps.cli.flags import say


@click.command(hidden=True, epilog='\b\nExample:\n  eval "$(kmaps completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL (bash, zsh or fish)."""
    from kmaps.cli.main import cli

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"no completion for {shell}")
    say(
        f"warning: `kmaps completion {shell}` is now `_KMAPS_COMPLETE={shell}_source kmaps`",
        err=True,
    )
    say(completer(cli, {}, "kmaps", "_KMAPS_COMPLETE").source())
