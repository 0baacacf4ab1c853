"""The model card: what a model is, what it was trained on, and how good it is, for people."""

from __future__ import annotations

from typing import Any

from .parsing import Parser


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
        "It was trained on text of the kinds named above, and will be worse on others. Arc probabilities "
        "(`--confidence`) are the model's own beliefs.",
        "",
    ]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
