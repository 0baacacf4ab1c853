"""What the parsing thread does for requests: trees for many, pictures for one."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ...corpus.problems import CorpusError
from ...corpus.sentence import Sentence
from ...drawing import arcs_svg, heads_table, heat_svg, tree_svg, tree_tikz
from ...drawing.width import drawable, is_right_to_left
from ...parser.bulk import Options, written_trees
from ...parser.parsing import Parse, Parser
from ...parser.restriction import Restricted
from ...trees import adjacency
from .limits import Refusal

logger = logging.getLogger(__name__)
CANDIDATES, UNLIKELY = 8, 0.0005  # heads that are offered for a word


@dataclass(frozen=True)
class ParseTogether:
    """Parses the sentences of several requests with the same options. Equal ones go together."""

    parser: Parser
    options: Options

    def __call__(self, requests: list[list[Sentence | Restricted]]) -> list[Any]:
        try:
            parses = iter(self._parse([sentence for request in requests for sentence in request]))
            return [[next(parses) for _ in request] for request in requests]
        except CorpusError as error:
            if len(requests) == 1:
                return [Refusal(422, _told(error, requests[0]))]
            return self._by_themselves(requests)
        except Exception as error:
            if len(requests) == 1:
                logger.exception("a request failed")
                return [error]
            return self._by_themselves(requests)

    def _by_themselves(self, requests: list[list[Sentence | Restricted]]) -> list[Any]:
        """What cannot be parsed is one request's own business."""
        return [result for request in requests for result in self([request])]

    def _parse(self, sentences: list[Sentence | Restricted]) -> list[Parse]:
        options = self.options
        return self.parser.parse(
            sentences, confidence=options.confidence, kbest=options.kbest, complete=options.complete
        )


def _told(error: CorpusError, sentences: list[Sentence | Restricted]) -> str:
    """What is wrong, and in which of several sentences; how to decode is not for a request to say."""
    message = str(error).partition(", or use --")[0]
    wrong = getattr(error, "sentence", None)
    if wrong is None or len(sentences) == 1:
        return message
    for place, each in enumerate(sentences, 1):
        if wrong is each or (isinstance(each, Restricted) and wrong is each.sentence):
            return f"sentence {place}: {message}"
    return message


@dataclass(frozen=True, eq=False)
class Alone:
    """Runs a function for one request. None is equal to another: there is nothing to gain from company, and whoever
    is done first should not wait for the last."""

    function: Callable[[Any], Any]

    def __call__(self, items: list[Any]) -> list[Any]:
        (item,) = items
        try:
            return [self.function(item)]
        except CorpusError as error:
            return [Refusal(422, str(error))]


@dataclass(frozen=True)
class Explorer:
    """Pictures of the trees of a sentence and of their distribution."""

    parser: Parser

    def explore(self, item: tuple[Restricted, int]) -> dict[str, Any]:
        restricted, kbest = item
        sentence = restricted.sentence
        assert isinstance(sentence, Sentence)
        (parse,) = self.parser.parse([restricted], confidence=True, kbest=kbest)
        marginals = self._marginals(restricted)
        words, probabilities = parse.words, parse.probabilities
        required = set(restricted.required)
        tree = words, parse.heads, parse.labels, probabilities
        text = b"".join(written_trees(sentence, replace(parse, others=[]), Options(confidence=True)))
        return {
            "words": words,
            "direction": direction(words),
            "probability": _probability(parse),
            "tree": tree_svg(*tree, required=required, clickable=True),
            "table": heads_table(*tree),
            "heat": heat_svg(words, marginals),
            "kbest": [
                {
                    "picture": tree_svg(words, other.heads, other.labels, other.probabilities),
                    "probability": _probability(other),
                }
                for other in (parse, *parse.others)
            ],
            "candidates": [_candidates(words, marginals, word) for word in range(1, len(words) + 1)],
            "conllu": text.decode(),
            "svg": tree_svg(*tree),
            "latex": tree_tikz(words, parse.heads, parse.labels, standalone=True),
        }

    @torch.inference_mode()
    def draw(self, item: tuple[Restricted, float, int, int]) -> dict[str, Any]:
        restricted, temperature, seed, number = item
        words = restricted.words
        trees = self._trees(restricted)

        def perturbed(**options: Any) -> str:
            generator = torch.Generator().manual_seed(seed)  # the same noise at every temperature
            return arcs_svg(words, trees.rsample(generator=generator, **options)[0].tolist())

        samples = trees.sample((number,), generator=torch.Generator().manual_seed(seed))
        chances = trees.log_prob(samples)[:, 0].exp().clamp(0, 1).tolist()
        return {
            "relaxed": perturbed(temperature=temperature),
            "hard": perturbed(hard=True),
            "samples": [
                {"picture": arcs_svg(words, matrix.tolist()), "probability": chance}
                for matrix, chance in zip(adjacency(samples[:, 0]), chances, strict=True)
            ],
        }

    def _trees(self, restricted: Restricted) -> Any:
        return self.parser.trees([restricted], projective=self.parser.config.decoding.method != "nonprojective")

    @torch.inference_mode()
    def _marginals(self, restricted: Restricted) -> list[list[float]]:
        return self._trees(restricted).marginals[0].clamp(0, 1).tolist()


def direction(words: list[str]) -> str:
    return "rtl" if is_right_to_left(words) else "ltr"


def _probability(parse: Parse) -> float:
    assert parse.log_probability is not None
    return min(1.0, math.exp(parse.log_probability))


def _candidates(words: list[str], marginals: list[list[float]], word: int) -> list[dict[str, Any]]:
    """The likeliest heads of a word, the best first."""
    column = [(row[word], head) for head, row in enumerate(marginals) if head != word and row[word] >= UNLIKELY]
    best = sorted(column, key=lambda pair: (-pair[0], pair[1]))[:CANDIDATES]
    return [
        {"head": head, "form": drawable(words[head - 1]) if head else "root", "probability": probability}
        for probability, head in best
    ]
