"""Models that are linear on a map of all features, whose samples a cluster of Dask encodes."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from time import perf_counter
from typing import Any, Self

import numpy as np
from dask.delayed import Delayed
from distributed import Client, get_client
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from kmaps.dask.chunks import LazyPredictions, Summary, labelled, mapped, summary_of
from kmaps.dask.cluster import answering
from kmaps.errors import ConfigError, InputError
from kmaps.matrices import AnyMatrix
from kmaps.models import choose_width
from kmaps.models.choice import is_chosen
from kmaps.models.mapped_rows import map_rows
from kmaps.models.mapped_svc import MappedSVC
from kmaps.svm.learner import refuse_one_class

_AHEAD = 4  # blocks for each thread of the workers that are encoded at a time


class BlockwiseMappedSVC(LazyPredictions, ClassifierMixin, BaseEstimator):
    """A `kmaps.LandmarkSVC` or `kmaps.RandomFeatureSVC` for collections of Dask.

    Landmarks, and a width and C that are "auto", come from a sample of 10,000 rows, evenly spaced
    and as many in each block, or from all rows if there are no more: then the model is the one that
    ``model`` learns from them in memory. The samples are read twice; the workers encode them. The
    outputs, 4 bytes each, come to this process, which trains: more than 2²⁸ are in a temporary file
    (in TMPDIR).

    Parameters
    ----------
    model : LandmarkSVC or RandomFeatureSVC
        Its parameters count; it stays unfitted.
    client : distributed.Client, optional
        By default the current client.

    Attributes
    ----------
    model_ : LandmarkSVC or RandomFeatureSVC
        The fitted copy, with its attributes and ``save``.
    n_rows_, blocks_sha256_ : int, str
        As in `BlockwiseSVC`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from kmaps import LandmarkSVC
    >>> from kmaps.dask import BlockwiseMappedSVC
    >>> X = da.random.default_rng(0).random((300, 4), chunks=(100, 4))
    >>> y = X[:, 0] > X[:, 1]
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     model = BlockwiseMappedSVC(LandmarkSVC(n_landmarks=50, C=10.0)).fit(X, y)
    ...     bool((model.predict(X) == y).mean().compute() > 0.9)
    True
    """

    def __init__(self, model: MappedSVC, client: Client | None = None):
        self.model = model
        self.client = client

    def fit(self, X: Any, y: Any) -> Self:
        """Choose landmarks and widths, let the workers encode, and train on the outputs.

        X and y, and the errors, are as for `BlockwiseSVC.fit`.
        """
        if not isinstance(self.model, MappedSVC):
            raise ConfigError(f"model={self.model!r}: expected a LandmarkSVC or RandomFeatureSVC")
        model: Any = clone(self.model)
        has_choice = is_chosen(model.sigma) or is_chosen(model.C)
        if not has_choice:
            model._check_parameters()  # before all samples are read
        start = perf_counter()
        client = self.client or get_client()
        samples, labels = labelled(X, y)
        with answering():
            summary: Summary = client.gather(client.compute(summary_of(samples, labels, 0, True)))
            if summary.sample is None:
                raise InputError("no samples: expected at least one row")
            refuse_one_class(summary.classes)
            if has_choice:
                choice = choose_width(model, summary.sample, summary.labels)
                model.set_params(sigma=choice.sigma, C=choice.C)
            row_map = model.prepare_rows(_SampleRows(summary.sample)).map
            outputs = partial(_outputs, client, row_map, samples)
            rows = replace(map_rows(_EncodedMap(row_map), None, outputs), map=row_map)
            encode_s = perf_counter() - start
            self.model_ = model.fit(rows, np.concatenate(client.gather(client.compute(labels))))
        self.model_.timings_["encode_s"] = encode_s
        self.n_rows_ = len(rows)
        self.n_features_in_ = summary.columns.n_columns
        self.classes_ = summary.classes
        self.blocks_sha256_ = sha256("\n".join(summary.digests).encode()).hexdigest()
        return self

    def _local_model(self) -> Any:
        return self.model_


class _SampleRows:
    """A sample, to which a map is fitted; the outputs of its one block are not needed."""

    def __init__(self, sample: AnyMatrix) -> None:
        self._sample = sample

    def sample(self) -> AnyMatrix:
        return self._sample

    def blocks(self) -> list[AnyMatrix]:
        return [self._sample[:1]]


class _EncodedMap:
    """The map of rows that come from the workers: they have encoded them, it changes nothing."""

    def __init__(self, row_map: Any) -> None:
        self.n_outputs_ = row_map.n_outputs_

    def fit(self, X: NDArray) -> Self:
        return self

    def transform(self, X: NDArray) -> NDArray:
        return np.asarray(X)


def _outputs(client: Client, row_map: Any, blocks: list[Delayed]) -> Iterator[NDArray]:
    """Yield the outputs of blocks, in order, of which the workers encode some at a time."""
    size = _AHEAD * max(1, sum(client.nthreads().values()))
    for start in range(0, len(blocks), size):
        encoded = mapped(
            blocks[start : start + size],
            row_map.transform,
            row_map.n_features_in_,
            np.float32,
            row_map.n_outputs_,
        )
        yield from client.gather(client.compute(encoded))
