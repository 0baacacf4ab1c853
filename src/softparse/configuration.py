"""Configuration: frozen dataclasses beside what they configure, filled from TOML and dotted overrides.

Every key is checked: an unknown one, or a value of the wrong type or outside of a stated choice, is an error that says
what would be right. A field's choices are in its metadata, `choice("crf", "heads")`.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Dataclass = TypeVar("Dataclass")


class ConfigurationError(ValueError):
    """A key or value that means nothing here."""


def choice(*options: str) -> Any:
    """A field with a few possible values, the first of which is the default."""
    return dataclasses.field(default=options[0], metadata={"options": options})


def at_least(default: Any, least: float, below: float | None = None) -> Any:
    """A number with a lower bound (and an upper one that is not reached)."""
    return dataclasses.field(default=default, metadata={"least": least, "below": below})


def build(kind: type[Dataclass], values: Mapping[str, Any], prefix: str = "") -> Dataclass:
    """The dataclass with these values, nested tables for nested dataclasses; other fields have their defaults."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    result: dict[str, Any] = {}
    for key, value in values.items():
        if key not in fields:
            raise _unknown(prefix + key, _all_keys(kind, prefix))
        if dataclasses.is_dataclass(hints[key]):
            if not isinstance(value, Mapping):
                raise ConfigurationError(f"{prefix}{key} is a group of settings, not a value: {prefix}{key}.NAME=…")
            result[key] = build(hints[key], value, f"{prefix}{key}.")
        else:
            result[key] = _checked(prefix + key, value, hints[key], fields[key].metadata)
    return kind(**result)


def _all_keys(kind: Any, prefix: str = "") -> list[str]:
    keys = []
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if dataclasses.is_dataclass(hints[field.name]):
            keys += _all_keys(hints[field.name], f"{prefix}{field.name}.")
        else:
            keys.append(prefix + field.name)
    return keys


def _unknown(key: str, known: list[str]) -> ConfigurationError:
    last = key.rsplit(".", 1)[-1]
    close = difflib.get_close_matches(key, known, 2, 0.6)
    close += [name for name in known if name.rsplit(".", 1)[-1] == last and name not in close]
    hint = f"; did you mean {' or '.join(close)}?" if close else f"; there are: {', '.join(known)}"
    return ConfigurationError(f"unknown setting {key!r}{hint}")


def _checked(key: str, value: Any, hint: Any, metadata: Mapping[str, Any]) -> Any:
    if get_origin(hint) is list:
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise ConfigurationError(f"{key} must be a list of strings, got {value!r}")
        return list(value)
    kinds = get_args(hint) or (hint,)
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", type(None): "nothing"}
    if not any(type(value) is kind for kind in kinds):
        wanted = " or ".join(names.get(kind, str(kind)) for kind in kinds if kind is not type(None))
        raise ConfigurationError(f"{key} must be {wanted}, got {value!r}")
    if "options" in metadata and value not in metadata["options"]:
        raise ConfigurationError(f"{key} must be one of {', '.join(metadata['options'])}, got {value!r}")
    least, below = metadata.get("least"), metadata.get("below")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if least is not None and not value >= least:
            raise ConfigurationError(f"{key} must be at least {least}, got {value}")
        if below is not None and not value < below:
            raise ConfigurationError(f"{key} must be below {below}, got {value}")
    return value


def read_toml(path: str | Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: not a TOML file: {error}") from None


def overrides(assignments: Iterable[str]) -> dict[str, Any]:
    """Nested tables from dotted assignments.

    >>> overrides(["train.epochs=3", "model.characters.encoder=none"])
    {'train': {'epochs': 3}, 'model': {'characters': {'encoder': 'none'}}}
    """
    result: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise ConfigurationError(f"{assignment!r} is not of the form key=value")
        *groups, name = key.strip().split(".")
        table = result
        for group in groups:
            table = table.setdefault(group, {})
            if not isinstance(table, dict):
                raise ConfigurationError(f"{assignment!r}: {group} has been given a value before")
        table[name] = _value(text.strip())
    return result


def _value(text: str) -> Any:
    """A TOML value; what is none is taken as a string, so that quotes are not needed."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def merged(*tables: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables into one, later ones winning."""
    result: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            if isinstance(value, Mapping) and isinstance(result.get(key), dict):
                result[key] = merged(result[key], value)
            else:
                result[key] = merged(value) if isinstance(value, Mapping) else value
    return result


def different_keys(one: Any, other: Any, prefix: str = "") -> list[str]:
    """Dotted keys of the values that differ between two nested tables.

    >>> different_keys({"train": {"epochs": 3, "seed": 1}}, {"train": {"epochs": 4, "seed": 1}})
    ['train.epochs']
    """
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(one.keys() | other.keys())
        return [name for key in keys for name in different_keys(one.get(key), other.get(key), f"{prefix}{key}.")]
    return [] if one == other else [prefix.rstrip(".")]


def as_table(configuration: Any) -> dict[str, Any]:
    return dataclasses.asdict(configuration)


def as_json(configuration: Any) -> str:
    return json.dumps(as_table(configuration), indent=1, ensure_ascii=False)
