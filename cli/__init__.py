"""The command line: one file per command, each parses, calls the library, prints."""


def main() -> None:
    """Run the command line of this process; Ctrl-C while modules are imported is one line, too."""
    try:
        from kmaps.cli.interrupts import note_interrupts

        note_interrupts()
        from kmaps.cli.main import main as run

        run()
    except KeyboardInterrupt:
        import os

        os.write(2, b"interrupted\n")
        os._exit(130)
