"""``kmaps download``: fetch datasets and verify them."""

from typing import TYPE_CHECKING

import click

from kmaps.cli.completing import datasets, names
from kmaps.cli.flags import megabytes, say
from kmaps.cli.progress import byte_bar
from kmaps.errors import DataError

if TYPE_CHECKING:
    from kmaps.data import Download


@click.command(epilog="Example: kmaps download mnist --mirror ~/datasets")
@click.argument("datasets", nargs=-1, metavar="[DATASET]...", shell_complete=names(datasets))
@click.option(
    "--all", "everything", is_flag=True, help="Fetch every dataset whose digest is recorded."
)
@click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    metavar="DIR|URL",
    help="A copy to try before the publishers; may be repeated. [env: KMAPS_MIRROR]",
)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    help="Keep the datasets here. [env: KMAPS_DATA_DIR; default: the user's cache folder]",
)
@click.option(
    "--sha256",
    metavar="DIGEST",
    help="The SHA-256 of the file to download, for a dataset whose digest nobody recorded: "
    "inria-person.",
)
@click.option("--offline", is_flag=True, help="Never use the network. [env: KMAPS_OFFLINE=1]")
@click.option(
    "--verify", is_flag=True, help="Hash every file of the datasets in the cache, and repair them."
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress bar and no notes.")
def command(
    datasets: tuple[str, ...],
    everything: bool,
    mirrors: tuple[str, ...],
    data_dir: str | None,
    sha256: str | None,
    offline: bool,
    verify: bool,
    quiet: bool,
) -> None:
    """Fetch each DATASET, verify its content and put it into the cache.

    A dataset in the cache is left alone if its files still have the sizes and times with which they
    were verified; a broken download continues where it stopped. The command prints one line per
    dataset to standard output.

    Of voc2007 and caltech101-full nobody recorded the digest of the content yet: the publisher's
    digest of the file verifies them, a repacked copy is refused, and --all leaves them out.
    """
    from kmaps.data import available, download, load_manifest

    if everything == bool(datasets):
        raise click.UsageError(f"name datasets or give --all (known: {', '.join(available())})")
    manifests = [load_manifest(name) for name in (available() if everything else datasets)]
    if everything:
        manifests = [manifest for manifest in manifests if manifest.digest is not None]
    if sha256 is not None and len(manifests) != 1:
        raise click.UsageError("--sha256 is of one dataset: name it alone")
    failures = []
    for manifest in manifests:
        try:
            with byte_bar(quiet=quiet) as report:
                result = download(
                    manifest,
                    data_dir=data_dir,
                    mirror=mirrors or None,
                    offline=offline,
                    verify=verify,
                    sha256=sha256,
                    progress=report,
                )
        except DataError as error:
            failures.append(str(error))
            continue
        if not quiet:
            for note in result.notes:
                say(f"note: {note}", err=True)
        say(_line(result, verify))
        if manifest.digest is None and not quiet:
            say(f"note: nobody recorded the digest of {result.name} yet; report this one", err=True)
    if failures:
        raise DataError("; ".join(failures))


def _line(result: "Download", verify: bool) -> str:
    if result.status == "embedded":
        return f"{result.name}: embedded in scikit-learn, nothing to download"
    status = result.status
    proof = "ok"
    if status == "present":
        status = "already present"
        proof = "ok" if verify else "as verified earlier (--verify repeats it)"
    size = megabytes(result.size)
    return f"{result.name}: {status}, {size}, sha256 {result.digest} {proof}, {result.folder}"
