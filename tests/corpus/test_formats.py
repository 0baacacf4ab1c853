"""Text is taken for text, and CoNLL-U never is, however damaged."""

import gzip
import io

import pytest

from softparse.corpus.conllu import read
from softparse.corpus.formats import beginning, detect
from softparse.corpus.problems import CorpusError
from tests.corpus.examples import RICH, TREEBANK, WORD, WORD_2, written

TEXTS = {
    "words": "They walk .\n",
    "a heading": "# heading\nThey walk .\n",
    "all with a sign": "# winning again\n# blessed\n#yolo = life\n",
    "a number": "3 dogs bark .\n12 men met at dawn on 3 ships and sailed\n1 dog barks .\n",
    "numbers only": "1 2 3\n2 3 4\n1\n2\n",
    "a blank": "What is 2 + 2 ? Write _ here\n",
    "a numbered list": "1 . They walk .\n2 . They sleep .\n3 . They walk and sleep 5 times today .\n",
    "tabs": "A table\twith\tfour\tcolumns\n",
    "many tabs": "\t".join("abcdefghij") + "\n",
    "underscores": "_ _ _ _ _ _ _ _ _ _\nThe _ is a sign .\n",
    "a mark": "\ufeffThey walk .\n",
    "a very long number": "1" * 5000 + " a b c d e 3 f\n",
    "a comment about text": "# text is nice\n# the sent_id = what ?\nYes .\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_plain_text(file, text):
    path = file(text, "t.txt")
    assert detect(beginning(io.BytesIO(text.encode()))) == "text"
    assert [each.words for each in read(path)] == [line.lstrip("\ufeff").split() for line in text.splitlines()]


@pytest.mark.parametrize(
    "data",
    [
        TREEBANK,
        b"\xef\xbb\xbf" + TREEBANK,
        b"\n\n" + WORD.encode(),
        b"# text = a\tb\n" + WORD.encode(),
        b"# a licence\n" * 100 + WORD.encode(),
        "".join("\t".join(row.split("\t")[:8]) + "\n" for row in WORD.splitlines()).encode(),
    ],
    ids=["plain", "mark", "blank lines", "a tab in a comment", "many comments", "CoNLL-X"],
)
@pytest.mark.parametrize("name", ["t", "t.txt", "t.conllu"])
def test_whole_files(file, data, name):
    assert b"".join(written(read(file(data, name))).split()) == b"".join(data.split())


SPACED = (WORD + WORD_2).replace("\t", " ")
FULL = "1 The the DET DT X 2 det 2:det X\n2 dog dog NOUN NN X 3 nsubj 3:nsubj X\n3 is be VERB VB X 0 root 0:root X\n"
DAMAGED = {
    "cut off in the second column": (WORD[:3], 1, "2 columns"),
    "cut off after comments": ("# sent_id = 7\n# text = a\n" + WORD[:3], 3, "2 columns"),
    "cut off in the first column": ("# sent_id = 7\n# text = a b\n1", 3, "no tabs in '1'"),
    "its first row cut off": ("1\n" + WORD_2, 1, "no tabs in '1'"),
    "its first rows cut short": ("1\ta\n2\tb\n", 1, "2 columns"),
    "starts within a row": (WORD[4:] + WORD_2, 1, "9 columns|ID"),
    "starts within a word": ("oot\t_\t_\n" + WORD_2 + "\n" + WORD, 1, "3 columns"),
    "starts within a sentence": (WORD_2, 1, "ID '2', but 1 was expected"),
    "starts with a range": ("1-2\tau\t_\n" + WORD, 1, "3 columns"),
    "spaces for tabs": (SPACED, 1, "no tabs in '1 a _ _ _ _ 0 root _ _': .* with tabs, not spaces"),
    "spaces in a single row": ("1 They they PRON _ _ 2 nsubj _ _\n", 1, "no tabs"),
    "spaces and every column": (FULL, 1, "no tabs"),
    "many spaces for tabs": (SPACED.replace(" ", "    "), 1, "no tabs"),
    "spaces, after comments": ("# sent_id = 7\n# text = a\n" + SPACED, 3, "no tabs"),
    "no words at all": ("# newdoc id = 1\n\nThey walk .\n", 3, "no tabs"),
    "a numbered sentence": ("1\tThe dog barks .\n2\tThey walk .\n", 1, "2 columns"),
}


@pytest.mark.parametrize(("text", "line", "message"), DAMAGED.values(), ids=DAMAGED)
@pytest.mark.parametrize("name", ["t", "t.txt", "t.conllu", "t.CONLL", "t.conllx.gz"])
def test_damaged_files_are_no_text(file, text, line, message, name):
    data = text.encode()
    with pytest.raises(CorpusError, match=rf"{name}:{line}: ({message})"):
        list(read(file(gzip.compress(data) if name.endswith(".gz") else data, name)))


def test_any_cut_through_a_file(file):
    """A file that is cut anywhere gives whole sentences, or an error: never its columns as words."""
    for place in range(len(RICH)):
        for part in (RICH[:place], RICH[place:]):
            path = file(part.strip("\n"), "t.txt")
            try:
                sentences = list(read(path))
            except CorpusError:
                continue
            words = [word for sentence in sentences for word in sentence.words]
            assert not {"_", "nsubj", "PRON", "sent_id"} & set(words), part


def test_the_name_counts(file):
    with pytest.raises(CorpusError, match=r"plain text is parsed with --format text"):
        list(read(file("They walk .\n", "t.conllu")))
    assert [each.words for each in read(file("They walk .\n", "t.conllu"), "text")] == [["They", "walk", "."]]


def test_another_encoding(file):
    with pytest.raises(CorpusError, match=r"t.txt:1: .* iconv -f utf-16 -t utf-8"):
        list(read(file("They walk .\n".encode("utf-16"), "t.txt")))
