"""Trees of the small language in which some heads and labels are a matter of chance, so that no parser is sure."""

import random

from tests.grammar import sentence


def treebank(number, seed=0, part=0.5):
    """CoNLL-U text: in this part of the sentences an adverb belongs to the object, or the subject is called `expl`."""
    generator = random.Random(seed)
    blocks = []
    for _ in range(number):
        rows = [list(row) for row in sentence(generator)]
        labels = [label for _, _, label in rows]
        if generator.random() < part:
            if "advmod" in labels:
                rows[labels.index("advmod")][1] = labels.index("obj") + 1
            else:
                rows[labels.index("nsubj")][2] = "expl"
        lines = [
            f"{place}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_" for place, (form, head, label) in enumerate(rows, 1)
        ]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)
