"""Learning curves for TensorBoard, where it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..learning.observer import Observer, Record


class TensorBoard(Observer):
    """Writes losses and dev scores by epoch into a folder."""

    def __init__(self, folder: str | Path):
        self.folder = str(folder)
        self.writer: Any = None

    def started(self, summary: dict[str, Any], steps: int, epochs: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(self.folder)

    @staticmethod
    def is_installed() -> bool:
        return find_spec("tensorboard") is not None

    def evaluated(self, record: Record) -> None:
        epoch = record["epoch"]
        for name, value in record["losses"].items():
            self.writer.add_scalar(f"train/{name}", value, epoch)
        self.writer.add_scalar("train/learning_rate", record["learning_rate"], epoch)
        for name, value in record.get("dev", {}).items():
            if name != "words":
                self.writer.add_scalar(f"dev/{name}", value, epoch)
        self.writer.flush()

    def finished(self) -> None:
        if self.writer is not None:
            self.writer.close()
