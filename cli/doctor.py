"""``kmaps doctor``: say what may spoil a run, and what to do."""

import json
from dataclasses import asdict

import click

from kmaps.cli.flags import say


@click.command(epilog="\b\nExample:\n  kmaps doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Examine versions, threads, libraries, folders, mirrors and leftovers, and say what to do.

    Nothing is changed and no address is contacted. The exit code is 2 when something has to be done
    before commands can work or times can be compared.
    """
    from kmaps.bench.run.doctor import examine
    from kmaps.cli.compiling import compiled_folder

    findings = examine(compiled_folder())
    if as_json:
        say(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        width = max(len(finding.subject) for finding in findings)
        for finding in findings:
            mark = "!" if finding.fault else "?" if finding.remedy else " "
            say(f"{mark} {finding.subject:{width}}  {finding.found}")
            if finding.remedy:
                say(f"  {'':{width}}  → {finding.remedy}")
    if any(finding.fault for finding in findings):
        ctx.exit(2)
