"""Sentences in CoNLL-U, one that has everything and any number of generated ones."""

import io

from hypothesis import strategies as st

from softparse.corpus.conllu import read_conllu, write
from softparse.corpus.sentence import UNKNOWN

WORD = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n"
WORD_2 = "2\tb\t_\t_\t_\t_\t1\tobj\t_\t_\n"
MARK = "\ufeff"  # of byte order
RICH = """\
# newdoc id = d1
# sent_id = fr-1
# text = Il va au\tmarché. # global.columns
#no space = after the sign
1\tIl\til\tPRON\t_\tGender=Masc|Number=Sing\t2\tnsubj\t2:nsubj|4:nsubj\t_
2\tva\taller\tVERB\t_\t_\t0\troot\t0:root\t_
2.1\tva\taller\tVERB\t_\t_\t_\t_\t2:conj\tCopyOf=2
3-4\tau\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|Gloss=b|Gloss=a
3\tà\tà\tADP\t_\t_\t5\tcase\t5:case\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t5:det\t_
5\tmarché\tmarché\tNOUN\t_\t_\t2\tobl\t2:obl:à\tGloss=b|Gloss=a|Gloss=b
6\t10 000\t10 000\tNUM\t_\t_\t5\tnummod\t5:nummod\t_
7\t#\t#\tSYM\t_\t_\t5\tpunct\t5:punct\tZ=1|A=2
"""
SMALL = "# sent_id = b\n1\tOui\t_\t_\t_\t_\t0\troot\t_\t_\n"
TREEBANK = f"{SMALL}\n{RICH}\n".encode()


def parse(data, report=None):
    stream = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    return list(read_conllu(stream, "t.conllu", report) if report else read_conllu(stream, "t.conllu"))


def written(sentences):
    return b"".join(map(write, sentences))


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=5)
COMMENT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=9)


@st.composite
def blocks(draw, columns=10, cell=CELL):
    """A sentence as lines, and its words, heads and labels."""
    words = draw(st.integers(1, 5))
    others = st.lists(cell, min_size=columns - 1, max_size=columns - 1)
    lines = [f"#{comment}" for comment in draw(st.lists(COMMENT, max_size=3))]
    tree, covered = [], 0  # up to which word ranges go
    for number in range(1, words + 1):
        if covered < number < words and draw(st.integers(0, 5)) == 0:
            covered = number + 1
            lines.append("\t".join([f"{number}-{covered}", *draw(others)]))
        head, label, form = draw(st.sampled_from(["_", "0", "1", "5"])), draw(cell), draw(cell)
        rest = draw(st.lists(cell, min_size=6, max_size=6))
        row = [str(number), form, *rest[:4], head, label, *rest[4:]]
        lines.append("\t".join(row[:columns]))
        tree.append((form, UNKNOWN if head == "_" else int(head), label))
        if draw(st.integers(0, 5)) == 0:
            lines.append("\t".join([f"{number}.1", *draw(others)]))
    return lines, tree


@st.composite
def loose(draw, end):
    """Mostly nothing; or comments that belong to no sentence."""
    comments = draw(st.lists(st.lists(COMMENT, min_size=1, max_size=2), max_size=2)) if draw(st.booleans()) else []
    return "".join("".join(f"#{comment}{end}" for comment in block) + end for block in comments)


@st.composite
def treebanks(draw):
    """A file with any line ends, blank lines and byte order mark, and what is in it."""
    columns = draw(st.sampled_from([8, 9, 10, 10, 10]))
    sentences = draw(st.lists(blocks(columns), min_size=1, max_size=4))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = draw(st.sampled_from(["", MARK]))
    for lines, _ in sentences:
        text += draw(loose(end)) + end.join([*lines, *[""] * draw(st.integers(2, 4))])
    text += draw(loose(end)).rstrip("\r\n" if draw(st.booleans()) else "")
    return text.encode(), [tree for _, tree in sentences]
