"""Devices by name, tried before they are used."""

from __future__ import annotations

import torch

from ..configuration import ConfigurationError


def usable_device(name: str | torch.device) -> torch.device:
    """The device, if a number can go there and back.

    >>> usable_device("cpu")
    device(type='cpu')
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # torch has one for every kind of absence
        reason = str(error).strip().partition("\n")[0][:100]
        raise ConfigurationError(f"the device {str(name)!r} cannot be used here ({reason}); use cpu") from None
    return device
