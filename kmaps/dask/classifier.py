"""The classifier on codes, trained on a cluster of Dask."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from dask.delayed import Delayed
from distributed import Client, Future, get_client
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps._loops.train import Task
from kmaps.dask.chunks import LazyPredictions, Summary, labelled, merged_in_steps, summary_of
from kmaps.dask.cluster import answering
from kmaps.dask.team import (
    DaskTeam,
    LostBlocks,
    NewtonTeam,
    block_task,
    coded_groups,
    codes_bytes,
    row_counts,
    square_norms,
)
from kmaps.errors import ConfigError, InputError
from kmaps.svm.coded.classifier import CodedSVC
from kmaps.svm.coded.code_design import features_of
from kmaps.svm.coded.descent import MARGIN
from kmaps.svm.coded.model import CodedModel, deviations
from kmaps.svm.coded.problem import CodedSolution
from kmaps.svm.coded.rounds import Rounds, count_blocks
from kmaps.svm.coded.training import CodedRows, learned, learns, listed_below, warn_of_unweighted
from kmaps.svm.learner import class_factors, input_errors, refuse_one_class
from kmaps.svm.losses import Hinge, Logistic, SquaredHinge
from kmaps.svm.newton import MOST_WEIGHTS, LossKind, minimise
from kmaps.svm.reduction import count_problems

_LOSS_KINDS: dict[str, LossKind] = {
    Hinge.name: "sharp",
    SquaredHinge.name: "squared",
    Logistic.name: "logistic",
}
# Newton's method needs this many rows per weight; its blocks have this many codes each.
_ROWS_PER_WEIGHT = 2
_CODES_PER_BLOCK = 1 << 22
_MOST_BLOCKS = 64
_MOST_RETRIES = 3  # of a problem after a worker was lost
_NOT_ON_CLUSTER = (
    "penalty",
    "calibrate",
    "probability",
    "warm_start",
    "levels",
    "smooth",
    "n_jobs",
)


@dataclass(frozen=True, eq=False)
class ClusterCodes:
    """A training set on the workers: its levels and layout here, and futures for each block."""

    coding: CodedRows
    rows: list[Future]  # the codes of each block
    numbers: list[Future]  # the class numbers of its rows
    norms: list[Future]  # the kernel of each of its rows with itself
    layout: Future
    factors: NDArray[np.float64]  # the weight of each class
    few_weights: bool  # whether Newton's method trains, else blocks of the dual


@dataclass(eq=False, repr=False)
class BlockwiseSVC(LazyPredictions, CodedSVC):
    """`kmaps.CodedSVC` for samples in the memory of many computers, too large for one of them.

    What it learns is the same, and :meth:`save` writes the same files. It refuses ``penalty``,
    ``calibrate``, ``probability``, ``warm_start``, ``levels``, ``smooth`` and ``n_jobs``.

    Parameters
    ----------
    map, C, n_levels, bias, tol, max_iter
        As in `kmaps.CodedSVC`.
    warm_start
        Refused unless it is the default, False.
    random_state, form
        As in `kmaps.CodedSVC`.
    levels
        Refused unless it is the default, None.
    level_ranges
        As in `kmaps.CodedSVC`.
    smooth
        Refused unless it is the default, 0.
    n_blocks : int or "auto", default="auto"
        The number of blocks of each binary problem. They are made of neighbouring blocks of the
        collection, which therefore limits their number. "auto" is one for every 4 million codes,
        at most 64; with more than 4,096 weights (outputs of the map, of all features), or fewer
        than two rows for each, it is as in `kmaps.CodedSVC`. The model does not depend on the
        number of workers; at most ``n_blocks`` blocks are worked on at a time, each on one thread.
    penalty
        Refused unless it is the default, "l2".
    loss, multiclass, class_weight
        As in `kmaps.CodedSVC`.
    calibrate, probability, n_jobs
        Refused unless they are the defaults, False, None and None.
    verbose
        As in `kmaps.CodedSVC`.
    client : distributed.Client, optional
        By default the current client.

    Attributes
    ----------
    n_rows_ : int
        The number of training samples.
    blocks_sha256_ : str
        The SHA-256 of the digests of all blocks (`kmaps.io.data_digest`), in order.
        `kmaps.CodedSVC` describes the other attributes.

    Notes
    -----
    The samples are read twice: for the levels, and for the codes. Codes stay with the workers and
    take one byte per feature of a row (or three per value that is not zero), and about 100 bytes
    per row. With up to 4,096 weights m, training is Newton's method (`kmaps.svm.newton`): in each
    of its 4 to 10 steps (of the hinge 10 to 80) a block sends the sums of its rows, and a matrix of
    8 m² bytes; these add up. With more, blocks of the dual descend at the same time: in each of
    tens to hundreds of rounds a block sends one table of weights, 4 bytes each, and gets the sum of
    all tables. No row travels. 10⁹ rows of 100 features take twenty workers of 16 GB. If a worker
    is lost, its codes are made again from the samples, and the binary problem starts again, up to
    three times.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from distributed import Client
    >>> from kmaps.dask import BlockwiseSVC
    >>> X = np.random.default_rng(0).random((300, 4))
    >>> y = X[:, 0] > X[:, 1]
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     model = BlockwiseSVC("chi2", tol=0.01).fit(da.from_array(X, 100), da.from_array(y, 100))
    ...     accuracy = (model.predict(da.from_array(X, 50)).compute() == y).mean()
    >>> bool(accuracy > 0.9)
    True
    """

    _: KW_ONLY
    n_blocks: int | str = "auto"
    client: Client | None = None

    @classmethod
    def like(cls, model: CodedSVC, client: Client | None = None) -> "BlockwiseSVC":
        """Return an unfitted model with the parameters of another model.

        Parameters
        ----------
        model : CodedSVC
            The model, fitted or not, whose parameters are taken.
        client : distributed.Client or None, default=None
            The client that trains; None: the current one.

        Returns
        -------
        BlockwiseSVC
            The model, not fitted.
        """
        return cls(**model.get_params(deep=False), client=client)

    def _check_parameters(self) -> None:
        for name in _NOT_ON_CLUSTER:
            if np.any(getattr(self, name) != getattr(CodedSVC, name)):
                raise ConfigError(f"{name}={getattr(self, name)!r}: not for clusters; leave it out")
        super()._check_parameters()

    def fit(self, X: Any, y: Any) -> "BlockwiseSVC":  # type: ignore[override]
        """Code the samples on their workers and train; warn and raise as `kmaps.CodedSVC.fit`.

        Parameters
        ----------
        X : dask array (n, d), DataFrame, list of delayed blocks, or path
            Blocks of rows, dense or CSR; the path names a ``.npy`` file, a Zarr folder, or a
            Parquet file or folder.
        y : dask array (n,), Series, list of delayed blocks, Path, or str
            Labels, in the blocks of X; a Path names a Zarr folder or a ``.npy`` file, a str a
            column of a DataFrame or a Parquet folder.

        Notes
        -----
        A lost scheduler, or a task on which one worker after the other is lost, raises
        ConnectionError.
        """
        self._check_parameters()
        self.timings_ = {}
        client = self.client or get_client()
        with answering():
            samples, labels = labelled(X, y)
            self._codes = self._timed("convert_s", self._code_samples, client, samples, labels)
            n_problems = count_problems(len(self.classes_), self.multiclass)
            self.n_blocks_ = np.zeros(n_problems, np.intp)
            solutions = self._timed("train_s", self._train_problems, client)
            self._keep(self._codes.coding, solutions, np.ones(0))
        del self._codes
        return self

    def _code_samples(
        self, client: Client, samples: list[Delayed], labels: list[Delayed]
    ) -> ClusterCodes:
        """Choose levels, and let the workers turn the samples into codes."""
        delayed_summary = summary_of(samples, labels, self.n_levels, learns(self.map))
        summary: Summary = client.gather(client.compute(delayed_summary))
        columns = summary.columns
        if not columns.n_rows:
            raise InputError("no samples: expected at least one row")
        self.n_rows_ = columns.n_rows
        self.n_features_in_ = columns.n_columns
        self.classes_ = summary.classes
        self.blocks_sha256_ = sha256("\n".join(summary.digests).encode()).hexdigest()
        refuse_one_class(self.classes_)
        with input_errors():
            class_numbers = np.arange(len(self.classes_))
            factors = class_factors(
                self.class_weight, self.classes_, class_numbers, summary.counts.astype(float)
            )
        sample = summary.sample
        if sample is None:
            sample = np.zeros((1, columns.n_columns))
        coding = learned(
            self.map,
            columns,
            sample,
            self.n_levels,
            self.form,
            level_ranges=self.level_ranges,
        )
        warn_of_unweighted(coding, None, stacklevel=4)
        sparse = listed_below(coding, columns)
        n_codes = columns.n_nonzero if sparse else columns.n_rows * columns.n_columns
        few_weights = self._few_weights(coding, columns.n_rows)
        if self.n_blocks != "auto":
            n_blocks = int(self.n_blocks)
        elif few_weights:  # more blocks cost Newton's method no further rounds
            n_blocks = min(max(1, n_codes // _CODES_PER_BLOCK), _MOST_BLOCKS)
        else:
            n_blocks = count_blocks(n_codes)
        rows, numbers = coded_groups(
            client, samples, labels, coding, sparse, self.classes_, min(n_blocks, len(samples))
        )
        layout = client.submit(_identity, coding.layout, pure=False)
        norms = client.map(square_norms, [layout] * len(rows), rows, pure=False)
        return ClusterCodes(coding, rows, numbers, norms, layout, factors, few_weights)

    def _train_problems(self, client: Client) -> list[CodedSolution]:
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        n_problems = len(self.n_blocks_)
        solve = self._progress(n_problems).counted(partial(self._solve_problem, client))
        return [solve(column, (seed, column)) for column in range(n_problems)]

    def _solve_problem(self, client: Client, column: int, seed: tuple[int, ...]) -> CodedSolution:
        codes = self._codes
        layout = codes.coding.layout
        task_of_block = partial(
            block_task,
            reduction=self.multiclass,
            factors=codes.factors,
            column=column,
            C=self.C,
            loss=self.loss,
            bias=self.bias,
        )
        all_tasks = client.map(task_of_block, codes.numbers, codes.norms, pure=False)
        n_members = client.gather(client.map(_count_members, all_tasks, pure=False))
        rows = []
        tasks = []
        for block_rows, task, n in zip(codes.rows, all_tasks, n_members, strict=True):
            if n:  # a block may have no row of the two classes
                rows.append(block_rows)
                tasks.append(task)
        self.n_blocks_[column] = len(rows)
        n_weights = self.n_features_in_ * layout.form.size
        if codes.few_weights:
            solve = partial(self._by_newton, client, rows, tasks)
        else:
            solve = partial(self._by_rounds, client, rows, tasks, sum(n_members), seed)
        solution = _with_retries(solve, n_weights)
        return solution._replace(weights=layout.kept(solution.weights))

    def _few_weights(self, coding: CodedRows, n_rows: int) -> bool:
        """Return whether rows outnumber weights, which are few enough for Newton's method."""
        _, n_levels, r = features_of(coding.layout).shape
        n_weights = coding.n_features * min(n_levels, r)
        return n_weights <= MOST_WEIGHTS and n_rows >= _ROWS_PER_WEIGHT * n_weights

    def _by_newton(
        self, client: Client, rows: list[Future], tasks: list[Future], n_weights: int
    ) -> CodedSolution:
        codes = self._codes
        team = NewtonTeam(client, rows, tasks, codes.coding.layout, codes.layout, n_weights)
        result = minimise(
            team,
            np.zeros(team.n_weights + 1),
            loss_kind=_LOSS_KINDS[self.loss],
            tol=MARGIN * self.tol,
            most_passes=self.max_iter,
        )
        return team.solution(result)

    def _by_rounds(
        self,
        client: Client,
        rows: list[Future],
        tasks: list[Future],
        n_rows: int,
        seed: tuple[int, ...],
        n_weights: int,
    ) -> CodedSolution:
        team = DaskTeam(client, rows, tasks, self._codes.layout, n_weights, n_rows, seed)
        solution = Rounds(team, self.tol, self.max_iter).solve(begun=self.loss == "logistic")
        return solution._replace(weights=team.weights())

    def _importances(
        self, model: CodedModel, training: CodedRows, weights: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        client = self.client or get_client()
        rows = self._codes.rows
        shape = (self.n_features_in_, model.n_rows)
        count = partial(row_counts, shape=shape, zero=model.zero)
        counts = client.map(count, rows, pure=False)
        total = merged_in_steps(partial(client.submit, sum, pure=False), counts)
        self.codes_bytes_ = sum(client.gather(client.map(codes_bytes, rows, pure=False)))
        return deviations(model, client.gather(total))

    def save(
        self, path: str | Path, *, force: bool = False, record: Mapping[str, Any] | None = None
    ) -> None:
        """Write the model to an ``.npz`` file, as `kmaps.CodedSVC` does.

        Parameters
        ----------
        path : str or Path
            Where the file is written.
        force : bool, default=False
            Whether an existing file is replaced; else it raises InputError.
        record : mapping of str to object, optional
            How the model was trained, in what JSON can hold, for `kmaps info`.
        """
        check_is_fitted(self)
        self._local_model().save(path, force=force, record=record)

    def _local_model(self) -> CodedSVC:
        """Return the model without the cluster, for tasks on the workers."""
        parameters = {name: getattr(self, name) for name in CodedSVC().get_params(False)}
        model = CodedSVC(**parameters)
        model.classes_ = self.classes_
        model.model_ = self.model_
        model.map_ = self.map_
        model.n_features_in_ = self.n_features_in_
        return model


def _with_retries(solve: Callable[[int], CodedSolution], n_weights: int) -> CodedSolution:
    """Solve a problem, again from its beginning if a worker is lost."""
    for _ in range(_MOST_RETRIES):
        with suppress(LostBlocks):
            return solve(n_weights)
    return solve(n_weights)


def _count_members(task: Task) -> int:
    return len(task.members)


def _identity(value: Any) -> Any:
    return value
