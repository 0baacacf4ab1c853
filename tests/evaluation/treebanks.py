"""Random treebanks and predictions, with multiword ranges, empty nodes, subtypes and labels nobody knows."""

import random

from softparse.corpus.conllu import read_conllu

LABELS = (
    *("nsubj", "nsubj:pass", "obj", "obl", "root", "acl:relcl", "flat:name", "nmod", "amod"),
    *("aux", "aux:pass", "cop", "mark", "det", "clf", "case", "cc", "punct", "punct:comma", "dobj", "_"),
)


def random_tree(chance, length, *, roots=1):
    """Heads of an arbitrary tree (non-projective ones included), words in a random order attached one by one."""
    heads, attached = [0] * length, []
    for word in chance.sample(range(1, length + 1), length):
        heads[word - 1] = 0 if len(attached) < roots else chance.choice(attached)
        attached.append(word)
    return heads


def changed_tree(chance, heads, rate):
    """Some words attached elsewhere, with no cycle and at least one root."""
    heads = list(heads)
    for word in range(1, len(heads) + 1):
        if chance.random() < rate and (heads[word - 1] != 0 or heads.count(0) > 1):
            heads[word - 1] = chance.choice([head for head in range(1, len(heads) + 1) if not below(heads, head, word)])
    return heads


def below(heads, word, ancestor):
    while word and word != ancestor:
        word = heads[word - 1]
    return word == ancestor


def lines(chance, words, heads, labels):
    """CoNLL-U of a sentence; what is not a word depends on the seed of the words alone."""
    rows, inside = [f"# sent_id = {' '.join(words)}"], 0
    for place, (word, head, label) in enumerate(zip(words, heads, labels, strict=True), 1):
        if place > inside and place < len(words) and chance.random() < 0.2:
            inside = min(len(words), place + chance.randint(1, 2))
            rows.append("\t".join([f"{place}-{inside}", "".join(words[place - 1 : inside]).upper(), *["_"] * 8]))
        rows.append("\t".join([str(place), word, "_", "_", "_", "_", str(head), label, "_", "_"]))
        if chance.random() < 0.1:
            rows.append("\t".join([f"{place}.1", "node", *["_"] * 8]))
    return [f"{row}\n" for row in [*rows, ""]]


def treebank(seed, sentences=20, longest=30, *, error=0.3, roots=1):
    """Gold and predicted text of the same random sentences."""
    chance = random.Random(seed)
    gold, predicted = [], []
    for _ in range(sentences):
        length = chance.randint(1, longest)
        words = ["".join(chance.choices("aeiouäß漢", k=chance.randint(1, 4))) for _ in range(length)]
        heads = random_tree(chance, length, roots=chance.randint(1, roots))
        labels = chance.choices(LABELS, k=length)
        others = [chance.choice(LABELS) if chance.random() < error else label for label in labels]
        shape = chance.random()
        gold += lines(random.Random(shape), words, heads, labels)
        predicted += lines(random.Random(shape), words, changed_tree(chance, heads, error), others)
    return "".join(gold), "".join(predicted)


def sentences(text, path="<memory>"):
    return list(read_conllu(text.encode().splitlines(keepends=True), path))
