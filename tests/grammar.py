"""A small language with a treebank: enough to learn from in seconds, with some crossing arcs."""

import random

DETERMINERS = ["the", "a", "every", "no"]
NOUNS = ["dog", "cat", "tree", "parser", "house", "river", "child", "teacher"]
VERBS = ["sees", "likes", "walks", "draws", "finds"]
ADJECTIVES = ["big", "old", "green", "quiet"]
ADVERBS = ["today", "slowly", "often"]


def sentence(generator: random.Random, crossing: bool = False) -> list[tuple[str, int, str]]:
    """Words with heads (from 1, 0 is the root) and labels."""
    words: list[list] = []

    def noun_phrase(label: str) -> int:
        start = len(words)
        words.append([generator.choice(DETERMINERS), None, "det"])
        if generator.random() < 0.4:
            words.append([generator.choice(ADJECTIVES), None, "amod"])
        words.append([generator.choice(NOUNS) + ("s" if generator.random() < 0.3 else ""), None, label])
        noun = len(words)
        for word in words[start : noun - 1]:
            word[1] = noun
        return noun

    subject = noun_phrase("nsubj")
    words.append([generator.choice(VERBS), 0, "root"])
    verb = len(words)
    words[subject - 1][1] = verb
    target = noun_phrase("obj")
    words[target - 1][1] = verb
    if crossing:  # an adverb after the verb's object, then a clause that belongs to the object
        words.append([generator.choice(ADVERBS), verb, "advmod"])
        words.append(["which", None, "nsubj"])
        words.append([generator.choice(VERBS), target, "acl:relcl"])
        words[-2][1] = len(words)
    elif generator.random() < 0.3:
        words.append([generator.choice(ADVERBS), verb, "advmod"])
    words.append([".", verb, "punct"])
    return [tuple(word) for word in words]


def treebank(number: int, seed: int = 0, crossing: float = 0.0) -> str:
    """CoNLL-U text of so many sentences."""
    generator = random.Random(seed)
    blocks = []
    for index in range(number):
        rows = sentence(generator, generator.random() < crossing)
        lines = [f"# sent_id = {seed}-{index}"]
        lines += [
            f"{place}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_" for place, (form, head, label) in enumerate(rows, 1)
        ]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)
