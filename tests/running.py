"""The small language of `grammar` as it is written: points without a space before them, and multiword tokens."""

import random

from tests.grammar import VERBS, sentence


def treebank(number, seed=0, paragraph=5, spaces="misc"):
    """CoNLL-U text. A verb and the article after it are one token: `sees'a` is `sees` and `a`.

    `spaces` says where it is told that there is no space: in "misc", in the comment "text", or not at all.
    """
    generator = random.Random(seed)
    blocks = []
    for index in range(number):
        rows = sentence(generator)
        rows[0] = (rows[0][0].capitalize(), *rows[0][1:])
        text, lines = "", []
        for place, (form, head, label) in enumerate(rows, 1):
            following = rows[place][0] if place < len(rows) else ""
            misc = "SpaceAfter=No" if following == "." and spaces == "misc" else "_"
            if form in VERBS and following == "a":
                lines.append(f"{place}-{place + 1}\t{form}'a\t_\t_\t_\t_\t_\t_\t_\t_")
                text += f" {form}'a"
            elif not (form == "a" and place > 1 and rows[place - 2][0] in VERBS):
                text += form if form == "." else f" {form}"
            lines.append(f"{place}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t{misc}")
        heading = ["# newpar"] if index % paragraph == 0 else []
        heading += [f"# sent_id = {seed}-{index}"] + [f"# text = {text.strip()}"] * (spaces == "text")
        blocks.append("\n".join([*heading, *lines]) + "\n\n")
    return "".join(blocks)
