"""spaCy's training, which can be killed and taken up again to the same result; its own command cannot, and it takes
hours. Initialization, batches, updates, schedules, evaluation, averages and patience are spaCy's.
"""

from __future__ import annotations

import pickle
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from spacy import Language, registry, util
from spacy.schemas import ConfigSchemaTraining
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_evaluation_callback, subdivide_batch
from spacy.util import fix_random_seed, resolve_dot_names
from thinc.model import Model

from softparse.corpus.files import replacing

STATE = "spacy.state"
OF_OPTIMIZER = ("mom1", "mom2", "averages", "nr_update", "last_seen")

Key = tuple[str, int, str]  # a component, the place of a layer in it, a parameter of that


class Batches:
    """All batches, epoch by epoch, and which examples they had, so that they can be had again."""

    def __init__(self, examples: list[Any], batcher: Any):
        self.examples, self.batcher = examples, batcher
        self.orders: list[list[int]] = []  # of each epoch so far
        self.position = 0  # batches of the last one

    def again(self, orders: list[list[int]], position: int) -> Iterator[Any]:
        """Those after the ones before; the sizes of batches may depend on how many there were."""
        for order in orders[:-1]:
            for _ in self.batcher([self.examples[place] for place in order]):
                pass
        self.orders, self.position = list(orders[:-1]), 0
        return self._from(orders[-1] if orders else None, position)

    def _from(self, order: list[int] | None, skipped: int) -> Iterator[Any]:
        while True:
            if order is None:
                order = list(self.orders[-1]) if self.orders else list(range(len(self.examples)))
                random.shuffle(order)  # as spaCy shuffles the examples themselves, again and again
            self.orders.append(order)
            self.position = 0
            for batch in self.batcher([self.examples[place] for place in order]):
                self.position += 1
                if self.position > skipped:
                    yield batch
            order, skipped = None, 0


def train(config_path: Path, overrides: dict[str, Any], place: Path) -> tuple[Language, float]:
    """The best pipeline on dev, and the seconds it took, from wherever an earlier call in this place was killed."""
    nlp = init_nlp(util.load_config(config_path, overrides=overrides, interpolate=False))
    config = nlp.config.interpolate()
    fix_random_seed(config["training"]["seed"])
    settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    train_corpus, dev_corpus = resolve_dot_names(config, [settings["train_corpus"], settings["dev_corpus"]])
    evaluate = create_evaluation_callback(nlp, dev_corpus, settings["score_weights"])
    optimizer, batches = settings["optimizer"], Batches(list(train_corpus(nlp)), settings["batcher"])
    state: dict[str, Any] = {"step": 0, "results": [], "seconds": 0.0, "orders": [], "position": 0}
    if (place / STATE).exists():
        state = pickle.loads((place / STATE).read_bytes())  # which this script has written
    coming = batches.again(state["orders"], state["position"])
    if state["step"]:
        _put_back(nlp, optimizer, state)
        print(f"going on after {state['step']} steps", file=sys.stderr)
    started = time.time() - state["seconds"]
    while not _is_done(state, settings):
        batch = next(coming)
        for part in subdivide_batch(batch, settings["accumulate_gradient"]):
            nlp.update(part, drop=settings["dropout"], losses={}, sgd=False)
        for _, component in nlp.pipeline:
            component.finish_update(optimizer)
        optimizer.step_schedules()
        state["step"] += 1
        if (state["step"] - 1) % settings["eval_frequency"] == 0:  # as spaCy counts: after the first step, too
            with nlp.use_params(optimizer.averages or {}):
                score, _ = evaluate()
                if score >= max([before for before, _ in state["results"]], default=score):  # the last of equals
                    state["best"] = _weights(nlp)
            state["results"].append((score, state["step"] - 1))
            state |= {"seconds": time.time() - started, "orders": batches.orders, "position": batches.position}
            print(f"step {state['step'] - 1}  dev {100 * score:.2f}  {state['seconds']:.0f} s", file=sys.stderr)
            _save(nlp, optimizer, state, place)
    _set(nlp, state["best"])
    return nlp, state["seconds"]


def _is_done(state: dict[str, Any], settings: dict[str, Any]) -> bool:
    """After a step, as spaCy does it: steps without a better score, or too many steps."""
    if not state["results"]:
        return False
    last = state["step"] - 1
    best = -max((score, -step) for score, step in state["results"])[1]
    patience, most = settings["patience"], settings["max_steps"]
    return bool((patience and last - best >= patience) or (most and last >= most))


def _layers(nlp: Language) -> dict[int, tuple[str, int, Model]]:
    return {
        layer.id: (name, place, layer)
        for name, component in nlp.pipeline
        for place, layer in enumerate(component.model.walk())
    }


def _weights(nlp: Language) -> dict[Key, np.ndarray]:
    return {
        (name, place, parameter): layer.get_param(parameter).copy()
        for name, place, layer in _layers(nlp).values()
        for parameter in layer.param_names
        if layer.has_param(parameter)
    }


def _set(nlp: Language, weights: dict[Key, np.ndarray]) -> None:
    layers = {(name, place): layer for name, place, layer in _layers(nlp).values()}
    for (name, place, parameter), value in weights.items():
        layers[name, place].set_param(parameter, value)


def _save(nlp: Language, optimizer: Any, state: dict[str, Any], place: Path) -> None:
    layers = _layers(nlp)
    remembered = {
        table: {
            (*layers[layer][:2], parameter): value for (layer, parameter), value in getattr(optimizer, table).items()
        }
        for table in OF_OPTIMIZER
        if getattr(optimizer, table) is not None  # averages, where the settings want none
    }
    now = {"weights": _weights(nlp), "optimizer": remembered}
    now["random"] = random.getstate(), np.random.get_state()  # noqa: NPY002 (spaCy draws from it)
    with replacing(place / STATE) as file:
        file.write(pickle.dumps(state | now))


def _put_back(nlp: Language, optimizer: Any, state: dict[str, Any]) -> None:
    _set(nlp, state["weights"])
    numbers = {(name, place): number for number, (name, place, _) in _layers(nlp).items()}
    for table, values in state["optimizer"].items():
        getattr(optimizer, table).update(
            {(numbers[name, place], parameter): value for (name, place, parameter), value in values.items()}
        )
    for _ in range(state["step"]):
        optimizer.step_schedules()
    random.setstate(state["random"][0])
    np.random.set_state(state["random"][1])  # noqa: NPY002
