"""A language whose word order says nothing: which word is the verb is a matter of knowing the word.

A sentence is a verb and two nouns in any order, all of them random strings; the nouns hang on the verb, the first as
its subject, the second as its object. Raw text also has sentences with particles, `ki` before verbs and `da` before
nouns, so that raw text shows which words are verbs; trees show it for the few words that are in them.
"""

import random
import string


class Language:
    def __init__(self, seed: int = 0, words: int = 40):
        generator = random.Random(seed)
        forms = set()
        while len(forms) < 2 * words:
            forms.add("".join(generator.choices(string.ascii_lowercase, k=4)))
        forms = sorted(forms)
        generator.shuffle(forms)
        self.verbs, self.nouns = forms[:words], forms[words:]
        self.known = words // 4  # words of each kind that trees may have

    def sentence(self, generator: random.Random, known: bool = False, marked: bool = False):
        """Words with heads and labels."""
        limit = self.known if known else None
        verb = generator.choice(self.verbs[:limit])
        nouns = generator.choices(self.nouns[:limit], k=2)
        place = generator.randrange(3)
        content = [*nouns[:place], verb, *nouns[place:]]
        rows: list[list] = []
        for index, word in enumerate(content):
            if marked:
                particle, label = ("ki", "mark") if index == place else ("da", "case")
                rows.append([particle, len(rows) + 2, label])
            rows.append([word, None, None])
        places = [index for index, row in enumerate(rows) if row[1] is None]
        root = places[place]
        labels = iter(["nsubj", "obj"])
        for index in places:
            rows[index][1:] = [0, "root"] if index == root else [root + 1, next(labels)]
        return [tuple(row) for row in rows]

    def treebank(self, number: int, seed: int, **options) -> str:
        generator = random.Random(seed)
        blocks = []
        for _ in range(number):
            rows = self.sentence(generator, **options)
            blocks.append("".join(
                f"{place}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n"
                for place, (form, head, label) in enumerate(rows, 1)
            ) + "\n")  # fmt: skip
        return "".join(blocks)

    def raw(self, number: int, seed: int) -> str:
        """Half of the sentences with particles."""
        generator = random.Random(seed)
        lines = [" ".join(row[0] for row in self.sentence(generator, marked=index % 2 == 0)) for index in range(number)]
        return "\n".join(lines) + "\n"
