"""Results that are computed once, as long as the scores they were computed from stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from . import arguments


class cached:
    """A property computed once, with its gradient, as in `torch.distributions`.

    It is not kept in inference mode, whose tensors can be part of no gradient later, unless the scores are such, too.
    """

    def __init__(self, function: Callable[[Any], Any]):
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        instance._refuse_changed_scores()
        has_gradients = torch.compiler.is_compiling() or not torch.is_inference_mode_enabled()
        with torch.set_grad_enabled(has_gradients):
            value = self.function(instance)
        if has_gradients or instance.scores.is_inference():
            setattr(instance, self.function.__name__, value)
        return value


class Caching:
    """Something with `scores` and cached results of them."""

    scores: Tensor
    _version: int | None

    def _version_now(self) -> int | None:
        """The number of times that the scores were changed in place; None where torch does not count them."""
        is_counted = not torch.compiler.is_compiling() and not self.scores.is_inference()
        return self.scores._version if is_counted and not arguments.is_transformed(self.scores) else None

    def _refuse_changed_scores(self) -> None:
        now = self._version_now()
        if now is not None and self._version is not None and now != self._version:
            raise RuntimeError("the scores were changed in place after this distribution was made; make it anew")

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached: it is made again, and its gradients cannot be copied."""
        is_cached = {name: isinstance(getattr(type(self), name, None), cached) for name in self.__dict__}
        return {name: value for name, value in self.__dict__.items() if not is_cached[name]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._version = self._version_now()
