"""Several processes that train one model, each on its share of every batch (started by torchrun)."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch import distributed as dist

Result = TypeVar("Result")


class OtherProcessError(Exception):
    """Another process of the run has stopped, so that this one cannot go on; the other has told why."""


class Group:
    """The processes of this run; one alone unless torchrun has started more."""

    def __init__(self) -> None:
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0")) if self.size > 1 else 0
        self.local_rank = int(os.environ.get("LOCAL_RANK", "0")) if self.size > 1 else 0
        if self.size > 1 and not dist.is_initialized():
            # Its functions keep the group that is there when they are defined. Were they imported later, as torch's
            # optimizers do, the group's threads would outlive its end, and abort the process at its exit.
            importlib.import_module("torch.distributed.nn.functional")
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def share(self, batch: list[Any]) -> list[Any]:
        """This process's part of a batch; shares may be empty."""
        return batch[self.rank :: self.size]

    def add_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Sum the gradients of all processes, in one message; None where none of them has one.

        Zeros instead would let an optimiser move, by its momentum, what has no part in this update.
        """
        if self.size == 1:
            return
        parameters = list(parameters)
        gradients = [parameter.grad for parameter in parameters]
        present = parameters[0].new_tensor([gradient is not None for gradient in gradients])
        parts = [
            torch.zeros_like(parameter) if gradient is None else gradient
            for parameter, gradient in zip(parameters, gradients, strict=True)
        ]
        message = torch.cat([present, *(part.flatten() for part in parts)])
        with _all_taking_part():
            dist.all_reduce(message)
        counts, *sums = message.split([len(parameters), *(part.numel() for part in parts)])
        for parameter, count, total in zip(parameters, counts.tolist(), sums, strict=True):
            parameter.grad = total.view_as(parameter) if count else None

    def total(self, *values: float) -> list[float]:
        """Sums over all processes."""
        if self.size == 1:
            return list(values)
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        tensor = torch.tensor(values, dtype=torch.float64, device=device)
        with _all_taking_part():
            dist.all_reduce(tensor)
        return tensor.tolist()

    def totals(self, values: dict[str, float], names: Sequence[str]) -> dict[str, float]:
        """Sums by name, of those names that some process has."""
        if self.size == 1:
            return values
        present = [float(name in values) for name in names]
        sums = self.total(*present, *(values.get(name, 0.0) for name in names))
        return {name: value for name, here, value in zip(names, sums, sums[len(names) :], strict=False) if here}

    def from_first(self, value: Any) -> Any:
        """What the first process says."""
        if self.size == 1:
            return value
        values = [value]
        with _all_taking_part():
            dist.broadcast_object_list(values, src=0)
        return values[0]

    def gathered(self, value: Any) -> list[Any]:
        """The values of all processes, in all of them."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        with _all_taking_part():
            dist.all_gather_object(values, value)
        return values

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Around work that every process does for itself: an error in one of them is an error in all."""
        error: Exception | None = None
        try:
            yield
        except Exception as caught:
            error = caught
        told = self.gathered(None if error is None else str(error))
        if error is not None:
            raise error
        for rank, message in enumerate(told):
            if message is not None:
                raise OtherProcessError(f"process {rank}: {message}")

    def by_first(self, work: Callable[[], Result]) -> Result:
        """The result of what the first process does alone; its error is an error in all."""
        with self.together():
            result = work() if self.is_first else None
        return self.from_first(result)

    def close(self, is_orderly: bool) -> None:
        """Part from the others: together at an end in order; otherwise at once, which they notice when they wait."""
        if self.size > 1 and dist.is_initialized():
            try:
                if is_orderly:
                    with _all_taking_part():
                        dist.barrier()
            finally:
                dist.destroy_process_group()


@contextlib.contextmanager
def _all_taking_part() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # the connection is closed, or nothing has come for very long
        raise OtherProcessError("another process of this run has stopped; see its message") from error
