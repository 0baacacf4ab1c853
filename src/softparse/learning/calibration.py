"""Calibration: a parser's temperatures, fitted on trees it was not trained on, and what its probabilities are worth.

A temperature divides all scores of a kind, so it makes the parser more or less certain without changing which tree is
the best one (Guo et al. 2017). It is fitted by likelihood (see `temperature`) and judged by reliability (see
`evaluation.reliability`) on what `parser.pipe` shows, in the model's own way of decoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..corpus.problems import CorpusError
from ..corpus.sentence import Sentence
from ..evaluation.reliability import Judgements, Reliabilities, Reliability
from ..evaluation.table import table
from ..parser import Parser, Temperatures
from ..parser.temperature import CALIBRATION, TEMPERATURE
from .data import projective
from .temperature import Evidence, evidence

KINDS = {"arcs": "arcs", "labelled_arcs": "labelled arcs", "trees": "trees"}


class Change(NamedTuple):
    """A number at temperature 1 and at the temperature fitted."""

    before: float
    after: float


@dataclass(frozen=True)
class Calibration:
    """The temperatures that were fitted, and what they change on the trees that it is reported for."""

    fitted: dict[str, float]  # temperatures by name; one that these trees do not determine is not there, and stays 1
    notes: list[str]  # on what could not be fitted
    fitted_on: dict[str, Any]  # name, sentences and words
    measured_on: dict[str, Any]
    arc_loss: Change  # −log q of the right trees, nats a word
    label_loss: Change  # −log q of the right labels on the right arcs, nats a label
    before: Reliabilities
    after: Reliabilities

    @property
    def temperatures(self) -> Temperatures:
        return Temperatures(**self.fitted)

    @property
    def errors(self) -> dict[str, Change]:
        """Expected calibration errors, from 0 to 1."""
        pairs = zip(self.before, self.after, strict=True)
        return {name: Change(before.error, after.error) for (name, before), (_, after) in pairs}

    def summary(self) -> dict[str, Any]:
        """What is kept with a model."""
        losses = {"arcs": self.arc_loss, "labels": self.label_loss}
        return {
            TEMPERATURE: self.fitted,
            "fitted_on": self.fitted_on,
            "measured_on": self.measured_on,
            "negative_log_likelihood": {name: loss._asdict() for name, loss in losses.items()},
            "expected_calibration_error": {name: change._asdict() for name, change in self.errors.items()},
            "notes": self.notes,
        }

    def as_dict(self) -> dict[str, Any]:
        """The summary and all bins, for JSON."""
        pairs = zip(self.before, self.after, strict=True)
        bins = {name: {"before": one.as_dict(), "after": other.as_dict()} for (name, one), (_, other) in pairs}
        return self.summary() | {"reliability": bins}

    def text(self) -> str:
        """Tables for the terminal."""
        parts = [_overview(self)]
        for (name, before), (_, after) in zip(self.before, self.after, strict=True):
            parts.append(_bins(KINDS[name], before, after))
        parts += [f"note: {note}" for note in self.notes]
        return "\n\n".join(parts)


def calibrate(
    parser: Parser,
    sentences: Sequence[Sentence],
    *,
    measured_on: Sequence[Sentence] | None = None,
    names: tuple[str, str] = ("the trees given", "other trees"),
) -> Calibration:
    """Give the parser the temperatures at which the trees of these sentences are likeliest, and measure what that does.

    Sentences to measure on are the same ones unless others are given; `names` says what the two are. The temperatures
    are in `parser.metrics`, and are saved with the parser.
    """
    if not any(map(len, sentences)):
        raise CorpusError("there is no sentence with a tree to calibrate on")
    found = _evidence(parser, sentences)
    fitted, notes = _fitted(found)
    temperatures = Temperatures(**fitted)
    other = found if measured_on is None else _evidence(parser, measured_on)
    measured = sentences if measured_on is None else measured_on
    before = reliabilities(parser, measured, calibrated=False)
    parser.metrics[CALIBRATION] = {TEMPERATURE: fitted}
    result = Calibration(
        fitted,
        notes,
        {"trees": names[0], "sentences": len(sentences), "words": found.words},
        {"trees": names[measured_on is not None], "sentences": len(measured), "words": other.words},
        Change(other.arc_loss(1.0), other.arc_loss(temperatures.arcs)),
        Change(other.label_loss(1.0), other.label_loss(temperatures.labels)),
        before,
        reliabilities(parser, measured),
    )
    parser.metrics[CALIBRATION] = result.summary()
    return result


def _evidence(parser: Parser, sentences: Sequence[Sentence]) -> Evidence:
    """Trees that are not projective are treated as the model's training has treated them."""
    how = parser.metrics.get("settings", {}).get("data", {}).get("nonprojective", "lift")
    return evidence(parser, projective(sentences, how)[0])


def _fitted(found: Evidence) -> tuple[dict[str, float], list[str]]:
    values, notes = {}, []
    for name, fit in (("arcs", found.of_arcs), ("labels", found.of_labels)):
        temperature = fit()
        if temperature is not None:
            values[name] = temperature
        else:
            notes.append(f"the trees do not determine a temperature of {name} (are they few, or all parsed rightly?)")
    return values, notes


def reliabilities(parser: Parser, sentences: Sequence[Sentence], calibrated: bool = True) -> Reliabilities:
    """What the parser's probabilities promise on sentences with trees, and what comes of it."""
    judgements = Judgements()
    parses = parser.pipe([sentence.words for sentence in sentences], confidence=True, calibrated=calibrated)
    for sentence, parse in zip(sentences, parses, strict=True):
        if not len(sentence):
            continue
        assert parse.probabilities is not None
        assert parse.label_probabilities is not None
        assert parse.log_probability is not None
        judgements.add(
            sentence,
            parse.heads,
            parse.labels,
            parse.probabilities,
            parse.label_probabilities,
            parse.log_probability,
        )
    return judgements.reliabilities()


def _overview(found: Calibration) -> str:
    at = found.temperatures
    rows = [["", "before", "after"]]
    rows.append(["temperature of arcs", "1", f"{at.arcs:.3f}"])
    rows.append(["temperature of labels", "1", f"{at.labels:.3f}"])
    rows.append(["−log-likelihood of arcs, nats a word", *_numbers(found.arc_loss, 1, 4)])
    rows.append(["−log-likelihood of labels, nats a label", *_numbers(found.label_loss, 1, 4)])
    for name, change in found.errors.items():
        rows.append([f"expected calibration error of {KINDS[name]}, %", *_numbers(change, 100, 2)])
    where = [_where("fitted on", found.fitted_on)]
    if found.measured_on != found.fitted_on:
        where.append(_where("measured on", found.measured_on))
    return "\n".join([*where, "", table(rows)])


def _where(verb: str, place: dict[str, Any]) -> str:
    return f"{verb} {place['trees']}: {place['sentences']:,} sentences, {place['words']:,} words"


def _numbers(change: Change, scale: float, digits: int) -> list[str]:
    return [f"{scale * value:.{digits}f}" for value in change]


def _bins(name: str, before: Reliability, after: Reliability) -> str:
    rows = [["probability, %", name, "predicted", "right", f"{name} after", "predicted", "right"]]
    for one, other in zip(before.bins, after.bins, strict=True):
        cells = []
        for bin in (one, other):
            cells += [f"{bin.number}", *(f"{100 * value:.1f}" if bin.number else "" for value in bin[3:])]
        rows.append([f"{100 * one.low:.0f}–{100 * one.high:.0f}", *cells])
    cells = []
    for whole in (before, after):
        cells += [f"{whole.number}", f"{100 * whole.predicted:.1f}", f"{100 * whole.right:.1f}"]
    return table([*rows, ["all", *cells]])
