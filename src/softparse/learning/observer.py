"""What a training run tells about itself."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]  # of an epoch: its number, losses, seconds, and scores on dev if it was evaluated


class Observer:
    """Keeps everything to itself; others show it."""

    def warn(self, message: str) -> None:
        """Something a user should know."""

    def started(self, summary: dict[str, Any], steps: int, epochs: int) -> None:
        """The data is read; so much is to come."""

    def stepped(self, step: int, steps: int, epoch: int, loss: float) -> None:
        """A batch is done."""

    def evaluated(self, record: Record) -> None:
        """An epoch is done."""

    def diagnosed(self, report: dict[str, Any]) -> None:
        """What the generative model has learnt; see `diagnostics`."""

    def calibrated(self, summary: dict[str, Any]) -> None:
        """What the probabilities are worth, see `calibration`; nothing if there are no trees to calibrate on."""

    def finished(self) -> None:
        """All is done, or was interrupted."""


class Observers(Observer):
    """Several of them."""

    def __init__(self, *observers: Observer):
        self.observers = observers

    def warn(self, message: str) -> None:
        for observer in self.observers:
            observer.warn(message)

    def started(self, summary: dict[str, Any], steps: int, epochs: int) -> None:
        for observer in self.observers:
            observer.started(summary, steps, epochs)

    def stepped(self, step: int, steps: int, epoch: int, loss: float) -> None:
        for observer in self.observers:
            observer.stepped(step, steps, epoch, loss)

    def evaluated(self, record: Record) -> None:
        for observer in self.observers:
            observer.evaluated(record)

    def diagnosed(self, report: dict[str, Any]) -> None:
        for observer in self.observers:
            observer.diagnosed(report)

    def calibrated(self, summary: dict[str, Any]) -> None:
        for observer in self.observers:
            observer.calibrated(summary)

    def finished(self) -> None:
        for observer in self.observers:
            observer.finished()
