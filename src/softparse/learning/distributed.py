"""Several processes that train one model, each on its share of every batch (started by torchrun)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist


class Group:
    """The processes of this run; one alone unless torchrun has started more."""

    def __init__(self) -> None:
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0")) if self.size > 1 else 0
        self.local_rank = int(os.environ.get("LOCAL_RANK", "0")) if self.size > 1 else 0
        if self.size > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def share(self, batch: list[int]) -> list[int]:
        """This process's part of a batch; shares may be empty."""
        return batch[self.rank :: self.size]

    def add_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Sum the gradients of all processes, in one message."""
        if self.size == 1:
            return
        parameters = list(parameters)
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters])  # type: ignore[union-attr]
        dist.all_reduce(flat)
        for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
            parameter.grad.copy_(part.view_as(parameter))  # type: ignore[union-attr]

    def total(self, *values: float) -> list[float]:
        """Sums over all processes."""
        if self.size == 1:
            return list(values)
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        tensor = torch.tensor(values, dtype=torch.float64, device=device)
        dist.all_reduce(tensor)
        return tensor.tolist()

    def from_first(self, value: Any) -> Any:
        """What the first process says."""
        if self.size == 1:
            return value
        values = [value]
        dist.broadcast_object_list(values, src=0)
        return values[0]

    def gathered(self, value: Any) -> list[Any]:
        """The values of all processes, in all of them."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value)
        return values

    def close(self) -> None:
        if self.size > 1 and dist.is_initialized():
            dist.barrier()
            dist.destroy_process_group()
