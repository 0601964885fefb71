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
class MeasuringOnWorker:
    """Measures a batch on a worker of a cluster; can be pickled.

    It refuses a worker that has other data or versions than there are where the run was started, or
    that may start no processes.
    """

    function: Function
    kind: Kind
    digests: dict[str, str]
    versions: tuple[str, Any]

    def __call__(self, batch: Batch) -> tuple[dict[str, Any], list[Finished]]:
        """Return the description of this computer, and the items of the batch as they ended."""
        computer = describe()
        self._check(computer, next(iter(batch.values())))
        check_solvers(self.kind, batch.values())
        imports = self.kind.imports(batch.values())
        return computer, list(run_batches(self.function, [batch], 1, imports))

    def _check(self, computer: dict[str, Any], cell: Any) -> None:
        versions = computer["versions"]["kmaps"], MAP_VERSION
        if versions != self.versions:
            raise ConfigError(
                f"a worker has kmaps {versions[0]} with maps of version {versions[1]}, the run "
                f"started with {self.versions[0]} with {self.versions[1]}: install the same on all "
                "computers"
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

    Yields what has ended when all of its batch has, with the columns of its computer and, as
    ``jobs``, how many cells that measures at a time. The cells of a batch whose worker was lost
    three times, Dask's limit, have failed. A lost scheduler is a ConnectionError.
    """
    from kmaps.dask import called  # needs an extra

    digests = {cell.dataset: kind.digest(cell) for batch in batches for cell in batch.values()}
    versions = describe()["versions"]["kmaps"], MAP_VERSION
    measuring = MeasuringOnWorker(function, kind, digests, versions)
    with closing(called(client, measuring, batches)) as calls:
        for call in calls:
            if call.lost:
                for key in batches[call.number]:
                    yield Finished(key, Failure(call.lost), datetime.now(UTC), 0.0), {}
                continue
            computer, finished = call.result
            for item in finished:
                yield item, {**computer, "jobs": call.neighbours}
