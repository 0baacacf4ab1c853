"""Parsing on many machines with Ray Data: files in, files out, each worker with its own copy of the model.

    reading       a task for every file cuts it into windows of sentences
    parsing       actors, which have loaded the model once, write the parts of the output
    joining       a task for every file puts its parts together, when all are there

The windows are those of a single process, so the output is the same, byte for byte. What Ray does again, because a
worker or a machine was lost, gives the same files once more. `parser.shards` keeps the books.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import pickle
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from ..corpus.problems import CorpusError
from ..corpus.sentence import Sentence
from ..parser.bulk import Options, parsed, windows, windows_of
from ..parser.folder import ModelError, load
from ..parser.shards import Shard, plan
from .tokenizing import INSTALL, tokenizer_of

log = logging.getLogger(__name__)

Row = dict[str, Any]
OBJECT_STORE = 256 << 20  # of a cluster on this machine only; a window of sentences takes some megabytes
RUNNING_TEXT = "running text"  # a kind of files that the model's tokenizer cuts into sentences
TRIES = 4  # of a window. Ray itself starts a worker that was lost again and again, for ever


def parse_shards(
    model: str, paths: Sequence[str], folder: str, options: Options, kind: str | None = None,
    workers: int | None = None, threads: int = 1, address: str | None = None,
) -> Generator[tuple[int, int], None, None]:  # fmt: skip
    """Fill the folder with the parsed files, and yield numbers of sentences and words as they are done.

    What an earlier run has done is kept, and counts at once. `address` is that of a cluster; without it, and without
    RAY_ADDRESS in the environment, one is started on this machine for as long as it takes. `workers` are as many as
    the cluster has processors for, unless given.
    """
    ray = _import_ray()
    load(model)  # what is wrong with it is said here
    # Parts of text that was cut in two ways would not fit together.
    cut = tokenizer_of(model).kind if kind == RUNNING_TEXT else ""
    shards = plan(folder, paths, model, options, f"{kind}, cut by {cut}" if cut else kind)
    waiting = []
    for shard in shards:
        counts = shard.counts
        if counts is None:
            waiting.append(shard)
        else:
            yield counts
    if len(waiting) < len(shards):
        log.info(f"{len(shards) - len(waiting)} of {len(shards)} files are done already")
    if not waiting:
        return
    model = os.path.abspath(model)
    with _cluster(ray, address, workers, threads), _one_row_a_block(ray):
        try:
            yield from _run(ray, waiting, (model, threads, options), (kind, cut), workers)
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, (CorpusError, OSError)) else error) from None
        except ray.exceptions.RayError as error:
            message = f"the cluster has failed ({str(error).splitlines()[0]})"
            raise ChildProcessError(f"{message}; run again to go on with what is missing") from None


def _run(
    ray: Any, shards: list[Shard], start: tuple[str, int, Options], kind: tuple[str | None, str], workers: int | None
) -> Iterator[tuple[int, int]]:
    threads = start[1]
    workers = workers or max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
    # The parts that are there are looked up once: a task that Ray runs again must yield the same rows again.
    items = [{"shard": place, "done": shard.start()} for place, shard in enumerate(shards)]
    rows = ray.data.from_items([{"item": pickle.dumps(item)} for item in items], override_num_blocks=len(items))
    # Reading takes little time. It asks for no processor, since the workers may have taken all of them.
    readers, pool = ray.data.TaskPoolStrategy(max(1, workers // 4)), ray.data.ActorPoolStrategy(size=workers)
    rows = rows.flat_map(read_windows, fn_args=(shards, *kind, start[0]), num_cpus=0, compute=readers)
    rows = rows.map(Worker, fn_constructor_args=(shards, *start), num_cpus=threads, compute=pool)
    join = ray.remote(num_cpus=0)(_join)
    books = [_Book() for _ in shards]
    joining = []
    try:
        for row in rows.iter_rows():
            if row["error"]:
                raise CorpusError(row["error"])
            book = books[row["shard"]]
            if book.is_complete_with(row):
                joining.append(join.remote(shards[row["shard"]], book.parts, book.sentences, book.words))
            yield row["sentences"], row["words"]
    finally:  # whatever has happened: the next run must not meet those that are still at work
        if joining:
            ray.wait(joining, num_returns=len(joining))
    ray.get(joining)
    missing = [shard.source for shard in shards if shard.counts is None]
    if missing:
        raise ChildProcessError(f"{missing[0]}: not all of it was parsed; run again to go on")


def read_windows(row: Row, shards: list[Shard], kind: str | None, cut: str = "", model: str = "") -> Iterator[Row]:
    """The windows of a file, without their sentences where an earlier run has parsed them, and the number of them.

    `cut` is the kind of the tokenizer that running text must be cut by.
    """
    item = pickle.loads(row["item"])
    place, done = item["shard"], set(item["done"])
    parts = 0
    try:
        for part, window in enumerate(_windows(shards[place], kind, cut, model)):
            content = b"" if part in done else pickle.dumps(window)
            yield _row(place, part=part, window=content, sentences=len(window), words=sum(map(len, window)))
            parts += 1
    except (CorpusError, OSError) as error:
        yield _row(place, error=_message(error))
    else:
        yield _row(place, parts=parts)


def _windows(shard: Shard, kind: str | None, cut: str, model: str) -> Iterator[list[Sentence]]:
    if kind != RUNNING_TEXT:
        return windows([shard.source], kind)
    tokenizer = tokenizer_of(model)
    if tokenizer.kind != cut:
        where = f"on {os.uname().nodename}; install the same there: {INSTALL}"
        raise CorpusError(f"text is cut by {cut}, but by {tokenizer.kind} {where}")
    return windows_of(tokenizer.document(shard.source, shard.name))


class Worker:
    """Parses windows and writes the parts. Errors come back as rows: Ray would put them into a report of its own."""

    def __init__(self, shards: list[Shard], model: str, threads: int, options: Options):
        import torch

        torch.set_num_threads(threads)
        self.shards, self.options = shards, options
        self.error = ""
        try:
            self.parser = load(model)
        except (ModelError, OSError) as error:
            self.error = f"{_message(error)} (on {os.uname().nodename}; all machines must see the same files)"

    def __call__(self, row: Row) -> Row:
        content = row.pop("window")
        return row | {"error": self._parse(row, content)} if content else row

    def _parse(self, row: Row, content: bytes) -> str:
        """Write a part, and say what is wrong if anything is."""
        shard, window = self.shards[row["shard"]], pickle.loads(content)
        if self.error:
            return self.error
        try:
            if shard.tries(row["part"]) > TRIES:
                message = f"parsing from here on lost its worker {TRIES} times, perhaps for want of memory"
                return str(window[0].problem(f"{message}; use fewer --workers, and run again to go on"))
            text, _, _ = parsed(self.parser, window, self.options)
            shard.write_part(row["part"], text)
        except (CorpusError, OSError) as error:
            return _message(error)
        return ""


def _row(shard: int, **values: Any) -> Row:
    empty: Row = {"part": -1, "parts": -1, "window": b"", "sentences": 0, "words": 0, "error": ""}
    return {"shard": shard, **empty, **values}


def _join(shard: Shard, parts: int, sentences: int, words: int) -> None:
    shard.put_together(parts, sentences, words)


class _Book:
    """How far a file has got."""

    def __init__(self) -> None:
        self.parts, self.seen, self.sentences, self.words = -1, 0, 0, 0

    def is_complete_with(self, row: Row) -> bool:
        if row["parts"] >= 0:
            self.parts = row["parts"]
        else:
            self.seen += 1
        self.sentences += row["sentences"]
        self.words += row["words"]
        return self.seen == self.parts


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _import_ray() -> Any:
    # Before the import: it tells nobody about its use, and leaves standard error to us.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.data")
    except ImportError as error:
        raise CorpusError(f"--engine ray needs Ray ({error}); run: pip install 'softparse[ray]'") from None
    return ray


@contextlib.contextmanager
def _cluster(ray: Any, address: str | None, workers: int | None, threads: int) -> Iterator[None]:
    """The cluster at the address, the one this process is in already, or one of its own."""
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address or os.environ.get("RAY_ADDRESS"):
        ray.init(address=address, **quiet)
    else:
        processors = (workers or max(1, (os.cpu_count() or 1) // threads)) * threads
        size = {"num_cpus": processors, "object_store_memory": OBJECT_STORE}
        ray.init(address="local", include_dashboard=False, **size, **quiet)
    try:
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _one_row_a_block(ray: Any) -> Iterator[None]:
    """Blocks are what Ray Data hands out to workers; by its own measure, one would hold a file of a million words."""
    context = ray.data.DataContext.get_current()
    ours = {"target_max_block_size": 1, "target_min_block_size": 1, "enable_progress_bars": False,
            "print_on_execution_start": False}  # fmt: skip
    theirs = {name: getattr(context, name) for name in ours}
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)
    for name, value in ours.items():
        setattr(context, name, value)
    try:
        yield
    finally:
        logger.setLevel(level)
        for name, value in theirs.items():
            setattr(context, name, value)
