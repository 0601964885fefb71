"""Batches of cells on the workers of a Dask cluster, each in a process of its own there."""

import multiprocessing
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kmaps.bench.kinds.kind import Kind
from kmaps.bench.run.environment import check_solvers, describe
from kmaps.bench.run.processes import Batch, Failure, Finished, Function, run_batches
from kmaps.errors import ConfigError, DataError
from kmaps.maps import MAP_VERSION


@dataclass(frozen=True)
class There:
    """Measures a batch on a worker of a cluster; can be pickled.

    It refuses a worker that has other data or versions than there are where the run was started, or
    that may start no processes.
    """

    function: Function
    kind: Kind
    digests: dict[str, str]
    versions: tuple[str, Any]

    def __call__(self, batch: Batch) -> tuple[dict[str, Any], list[Finished]]:
        machine = describe()
        self._check(machine, next(iter(batch.values())))
        check_solvers(self.kind, batch.values())
        return machine, list(
            run_batches(self.function, [batch], 1, self.kind.imports(batch.values()))
        )

    def _check(self, machine: dict[str, Any], cell: Any) -> None:
        own = machine["versions"]["kmaps"], MAP_VERSION
        if own != self.versions:
            raise ConfigError(
                f"a worker has kmaps {own[0]} with maps of version {own[1]}, the run started with "
                f"{self.versions[0]} with {self.versions[1]}: install the same on all computers"
            )
        if multiprocessing.current_process().daemon:
            raise ConfigError(
                "cells are measured in processes, which these workers may not start: start them "
                "with --no-nanny or with DASK_DISTRIBUTED__WORKER__DAEMON=False"
            )
        if self.kind.digest(cell) != self.digests[cell.dataset]:
            raise DataError(
                f"{cell.dataset}: a worker has other data of this name than the computer that "
                "started the run; give both the same"
            )


def run_on_cluster(
    client: Any, kind: Kind, function: Function, batches: Sequence[Batch]
) -> Generator[tuple[Finished, dict[str, Any]], None, None]:
    """Measure batches on the workers, as many at a time as these have threads.

    Yields what has ended when all of its batch has, with the columns of its machine and, as
    ``jobs``, how many cells that measures at a time. The cells of a batch whose worker was lost
    three times, Dask's limit, have failed. A lost scheduler is a ConnectionError.
    """
    from kmaps.dask import called  # needs an extra

    digests = {cell.dataset: kind.digest(cell) for batch in batches for cell in batch.values()}
    own = describe()["versions"]["kmaps"], MAP_VERSION
    there = There(function, kind, digests, own)
    with closing(called(client, there, batches)) as results:
        for one in results:
            if one.lost:
                for key in batches[one.number]:
                    yield Finished(key, Failure(one.lost), datetime.now(UTC), 0.0), {}
                continue
            machine, finished = one.result
            for done in finished:
                yield done, {**machine, "jobs": one.neighbours}
