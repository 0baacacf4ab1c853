"""Trees as JSON or CoNLL-U, by what the client accepts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...corpus.sentence import Sentence
from ...parser.bulk import Options, written_trees
from ...parser.parsing import Parse
from .limits import Refusal

JSON, CONLLU = "application/json", "text/x-conllu"
MATCHES = {
    "*/*": JSON, "application/*": JSON, JSON: JSON,
    CONLLU: CONLLU, "application/x-conllu": CONLLU, "text/plain": CONLLU, "text/*": CONLLU,
}  # fmt: skip


def wanted(accept: str) -> str:
    """The kind of answer that an Accept header prefers; of two that it likes equally, the first.

    >>> wanted("text/x-conllu, application/json;q=0.5"), wanted("")
    ('text/x-conllu', 'application/json')
    """
    best, result = 0.0, None
    for part in (accept or "*/*").split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = _quality(parameters)
        if name in MATCHES and quality > best:
            best, result = quality, MATCHES[name]
    if result is None:
        raise Refusal(406, f"answers are {JSON} or {CONLLU}, and the Accept header takes neither")
    return result


def _quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return min(1.0, float(parameter[2:]))
            except ValueError:
                return 0.0
    return 1.0


def as_json(sentences: Sequence[Sentence], parses: Sequence[Parse]) -> dict[str, Any]:
    return {"sentences": [_sentence(*pair) for pair in zip(sentences, parses, strict=True)]}


def _sentence(sentence: Sentence, parse: Parse) -> dict[str, Any]:
    result: dict[str, Any] = {"words": parse.words, **_tree(parse)}
    if sentence.sent_id is not None:
        result = {"sent_id": sentence.sent_id, **result}
    if parse.others:
        result["others"] = [_tree(other) for other in parse.others]
    return result


def _tree(parse: Parse) -> dict[str, Any]:
    tree: dict[str, Any] = {"heads": parse.heads, "labels": parse.labels}
    if parse.probabilities is not None:
        tree["probabilities"] = [round(probability, 6) for probability in parse.probabilities]
    if parse.label_probabilities is not None:
        tree["label_probabilities"] = [round(probability, 6) for probability in parse.label_probabilities]
    if parse.log_probability is not None:
        tree["probability"] = min(1.0, math.exp(parse.log_probability))
    return tree


def as_conllu(sentences: Sequence[Sentence], parses: Sequence[Parse], options: Options) -> bytes:
    pairs = zip(sentences, parses, strict=True)
    return b"".join(text for sentence, parse in pairs for text in written_trees(sentence, parse, options))
