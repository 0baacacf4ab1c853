"""Temperatures: what scores are divided by before they become probabilities, so that these mean what they say.

They are fitted on trees that were not trained on (see `learning.calibration`) and kept in metrics.json, as
`calibration.temperature`. A model without the entry has temperature 1, and its probabilities are those of its scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

CALIBRATION, TEMPERATURE = "calibration", "temperature"
LOWEST, HIGHEST = 1e-3, 1e3  # beyond that, probabilities say nothing


@dataclass(frozen=True)
class Temperatures:
    """Of the scores of arcs, and of those of labels.

    >>> Temperatures.of({"calibration": {"temperature": {"arcs": 1.25}}})
    Temperatures(arcs=1.25, labels=1.0)
    >>> Temperatures.of({})
    Temperatures(arcs=1.0, labels=1.0)
    """

    arcs: float = 1.0
    labels: float = 1.0

    @classmethod
    def of(cls, metrics: Mapping[str, Any]) -> Temperatures:
        """Those in a model's metrics; a value that is no temperature is an error."""
        table: Any = metrics
        for name in (CALIBRATION, TEMPERATURE):
            table = table.get(name, {})
            if not isinstance(table, Mapping):
                raise ValueError(f"{name} must be an object with names and values, got {str(table)[:40]!r}")
        return cls(**{field.name: _checked(field.name, table.get(field.name, 1.0)) for field in fields(cls)})


def _checked(name: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and LOWEST <= value <= HIGHEST):
        raise ValueError(
            f"the temperature of {name} must be a number from {LOWEST:g} to {HIGHEST:g}, got {str(value)[:40]!r}"
        )
    return float(value)
