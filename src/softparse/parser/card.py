"""The model card: what a model is, what it was trained on, and how good it is, for people."""

from __future__ import annotations

from typing import Any

from .parsing import Parser
from .temperature import CALIBRATION, TEMPERATURE

PROBABILITIES = "## Probabilities"


def model_card(parser: Parser) -> str:
    metrics = parser.metrics
    lines = [
        "# Dependency parser",
        "",
        "A model for softparse:",
        "",
        "    softparse parse THIS_FOLDER sentences.txt",
        "    softparse parse THIS_FOLDER --text running-text.txt",
        "",
    ]
    data = metrics.get("data", {})
    if data:
        lines += ["## Trained on", ""]
        lines += [f"- {name.replace('_', ' ')}: {_shown(value)}" for name, value in data.items()]
        lines.append("")
    best = metrics.get("best") or {}
    dev = best.get("dev") or {}
    lines += ["## How good", ""]
    if dev:
        lines += [
            f"On {data.get('dev', 'held-out trees')}, gold tokens, no part-of-speech tags (epoch {best.get('epoch')}):",
            "",
            "| UAS | LAS |",
            "|---|---|",
            f"| {dev['uas']:.2f} | {dev['las']:.2f} |",
        ]
    else:
        lines.append("Not evaluated: it was trained without a development set.")
    config = parser.config
    encoder, words = config.model.encoder, config.model.words
    parameters = sum(parameter.numel() for parameter in parser.network.parameters())
    decoding = f"{config.decoding.method}, {'a single root' if config.decoding.single_root else 'several roots'}"
    lines += [
        "",
        "## What it is",
        "",
        f"- {parameters:,} parameters; {encoder.layers} bidirectional LSTM layers of {encoder.hidden} per direction",
        f"- words: {len(parser.vocabulary.words):,} embeddings, characters: {words.characters.encoder}, "
        f"external vectors: {len(parser.vector_words):,}",
        f"- {len(parser.vocabulary.labels)} labels; {config.model.scorer.kind} arc scorer; decoding: {decoding}",
        "",
        "It was trained on text of the kinds named above, and will be worse on others.",
        "",
        _probabilities(parser),
    ]
    return "\n".join(lines)


def with_probabilities(card: str, parser: Parser) -> str:
    """A card, which its readers may have written on, with what is known by now about the parser's probabilities."""
    before, heading, after = card.partition(PROBABILITIES)
    if not heading:
        return f"{card.rstrip()}\n\n{_probabilities(parser)}"
    _, next_heading, rest = after.partition("\n## ")
    return before + _probabilities(parser) + next_heading + rest


def _probabilities(parser: Parser) -> str:
    """The section about them: whether they are calibrated, and how well."""
    found = parser.metrics.get(CALIBRATION) or {}
    at, fitted, measured = found.get(TEMPERATURE), found.get("fitted_on", {}), found.get("measured_on", {})
    where = fitted.get("trees", "other trees")
    if at:
        divided = " and ".join(f"scores of {name} are divided by {value:.3f}" for name, value in at.items())
        lines = [f"Calibrated on {where}: {divided}."]
        lines += [f"But {note}." for note in found.get("notes", [])]
    else:
        lines = [
            "Not calibrated: those of `--confidence` are the model's own beliefs, which may be too certain or too "
            "doubtful. `softparse calibrate THIS_FOLDER DEV.conllu` mends that with trees that it was not trained on."
        ]
        lines += [f"On {where}, {note}." for note in found.get("notes", [])]
    errors = found.get("expected_calibration_error", {}) if at else {}
    if errors:
        there = "there" if measured == fitted else f"on {measured.get('trees', 'other trees')}"
        lines += ["", f"How far probabilities are from what comes true {there} (expected calibration error, %):", ""]
        lines += ["| | before | after |", "|---|---|---|"]
        for name, change in errors.items():
            lines.append(f"| {name.replace('_', ' ')} | {100 * change['before']:.2f} | {100 * change['after']:.2f} |")
    return "\n".join([PROBABILITIES, "", *lines, ""])


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
