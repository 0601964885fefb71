"""The cluster that a user names: the address of a scheduler, or workers on this computer."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster

from kmaps.errors import ConfigError

_PATIENCE_S = 10


@contextmanager
def connected(cluster: str) -> Iterator[Client]:
    """Connect to a cluster; what is computed inside the block is computed there.

    ``cluster`` is the address of a scheduler (``tcp://host:8786``), or ``local:N`` for N worker
    processes of one thread on this computer, which end with the block. Anything else, or a
    scheduler that does not answer, raises ConfigError.
    """
    local = re.fullmatch(r"local:([1-9]\d*)", cluster)
    if local:
        with (
            # A daemon may have no children, in which experiments measure their cells.
            dask.config.set({"distributed.worker.daemon": False}),
            LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as workers,
            Client(workers) as client,
        ):
            yield client
        return
    if not re.fullmatch(r"[a-z]+://\S+", cluster):
        raise ConfigError(
            f"cluster={cluster!r}: expected the address of a Dask scheduler, such as "
            "tcp://host:8786, or local:N for N workers on this computer"
        )
    try:
        client = Client(cluster, timeout=_PATIENCE_S)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(
            f"cluster={cluster!r}: no Dask scheduler answers there ({reason})"
        ) from None
    with client:
        yield client
