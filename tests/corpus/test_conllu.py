"""Reading and writing CoNLL-U: nothing is lost, and what is wrong is said with its place."""

import io

import conllu as conllu_package
import pyconll
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softparse.corpus.conllu import read, read_all, read_conllu, read_text, write
from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import UNKNOWN
from tests.corpus.examples import RICH, TREEBANK, WORD, WORD_2, blocks, parse, treebanks, written

# what is read


def test_a_sentence():
    second, first = parse(TREEBANK)
    assert first.words == ["Il", "va", "à", "le", "marché", "10 000", "#"]
    assert first.heads == [2, 0, 5, 5, 2, 5, 5]
    assert first.labels == ["nsubj", "root", "case", "det", "obl", "nummod", "punct"]
    assert (first.sent_id, first.path, first.line) == ("fr-1", "t.conllu", 4)
    assert (second.sent_id, second.line, len(second)) == ("b", 1, 1)
    assert repr(second) == "Sentence('Oui')"
    assert first.problem("wrong", 3).line == 12


def test_unknown_heads():
    (sentence,) = parse("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t0\t_\t_\t_\n\n")
    assert (sentence.heads, sentence.labels) == ([UNKNOWN, 0], ["_", "_"])


@pytest.mark.parametrize("columns", [8, 9, 10])
def test_columns_of_conll_x(columns):
    rows = [["1", "a", "_", "_", "_", "_", "2", "x", "_", "_"], ["2", "b", "_", "_", "_", "_", "0", "root", "_", "_"]]
    data = "".join("\t".join(row[:columns]) + "\n" for row in rows) + "\n"
    (sentence,) = parse(data)
    assert (sentence.words, sentence.heads) == (["a", "b"], [2, 0])
    assert written([sentence]) == data.encode()
    changed = sentence.with_tree([0, 1], ["root", "y"], clear_deps=True)
    assert [len(row) for row in changed.columns] == [columns] * 2
    assert changed.heads == [0, 1]
    told = sentence.with_tree([0, 1], ["root", "y"], misc=["A=1", "A=2"])  # MISC is needed, and so it comes
    assert told.text() == "1\ta\t_\t_\t_\t_\t0\troot\t_\tA=1\n2\tb\t_\t_\t_\t_\t1\ty\t_\tA=2\n\n"


def test_an_empty_node_before_the_first_word():
    (sentence,) = parse("0.1\tx\t_\t_\t_\t_\t_\t_\t0:root\t_\n1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert sentence.words == ["a"]


# byte for byte


LAYOUTS = {
    "plain": TREEBANK,
    "windows": TREEBANK.replace(b"\n", b"\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + TREEBANK,
    "byte order mark before a word": b"\xef\xbb\xbf" + TREEBANK.removeprefix(b"# sent_id = b\n"),
    "blank lines between": TREEBANK.replace(b"\n\n#", b"\n\n\n \t\n\n#"),
    "blank lines at the end": TREEBANK + b"\n\n\n",
    "a blank line at the start": b"\n" + TREEBANK,
    "control characters": TREEBANK.replace(b"Il\til", "I\x0bl\x85\u2028\tI\x0c\u00a0l".encode()),
    "a comment inside": TREEBANK.replace(b"\n5\t", b"\n# inside\n5\t"),
    "comments of no sentence": b"# a\n\n"
    + TREEBANK.replace(b"\n\n#", b"\n\n# b\n# sent_id = no\n\n\n# c\n\n#")
    + b"# d\n",
    "the same at the end": TREEBANK + b"# d\n\n# e\n\n\n",
    "the same without a line end": TREEBANK + b"# d",
    "the same after a mark": b"\xef\xbb\xbf# a\n\n" + TREEBANK,
    "the same after blank lines": b"\n\n# a\n\n" + TREEBANK,
    "the same on windows": b"# a\r\n\r\n" + TREEBANK.replace(b"\n", b"\r\n") + b"# d\r\n",
    "a mark and a blank line": b"\xef\xbb\xbf\n" + TREEBANK,
    "no comments": b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 3,
}


@pytest.mark.parametrize("data", LAYOUTS.values(), ids=LAYOUTS)
def test_everything_comes_out_as_it_was(data):
    sentences = parse(data)
    assert written(sentences) == data
    for sentence in sentences:  # and so it does when its own tree is set
        if not data.startswith(b"\xef\xbb\xbf"):
            assert write(sentence.with_tree(sentence.heads, sentence.labels)) == write(sentence)


@pytest.mark.parametrize("missing", [1, 2])
def test_a_blank_line_is_put_at_the_end(missing):
    """Without it, a sentence written after this one would be part of it."""
    assert written(parse(TREEBANK[:-missing])) == TREEBANK


@given(treebanks())
def test_any_file_comes_out_as_it_was(treebank):
    data, trees = treebank
    sentences = parse(data)
    assert written(sentences) == data
    assert [list(zip(each.words, each.heads, each.labels, strict=True)) for each in sentences] == trees


# other readers


SIMPLE = st.text("abcé0-:=", min_size=1, max_size=4)


@given(st.lists(blocks(cell=SIMPLE), min_size=1, max_size=4))
def test_other_packages_read_the_same(sentences):
    text = "".join("\n".join([line for line in lines if line[0] != "#"]) + "\n\n" for lines, _ in sentences)
    theirs = conllu_package.parse(text, field_parsers=AS_THEY_ARE)
    assert [[(row[1], row[6], row[7]) for row in each.columns] for each in parse(text)] == [
        [(row["form"], row["head"], row["deprel"]) for row in words(each)] for each in theirs
    ]


AS_THEY_ARE = dict.fromkeys(["xpos", "feats", "head", "deps", "misc"], lambda row, place: row[place])


def words(tokens):
    return [row for row in tokens if isinstance(row["id"], int)]


def test_other_packages_read_the_rich_sentence_the_same():
    ours = parse(TREEBANK)
    for theirs in (
        [
            (each.metadata["sent_id"], [(row["form"], row["head"], row["deprel"]) for row in words(each)])
            for each in conllu_package.parse(TREEBANK.decode())
        ],
        [
            (each.id, [(row.form, int(row.head), row.deprel) for row in each if row.id.isdigit()])
            for each in pyconll.load_from_string(TREEBANK.decode())
        ],
    ):
        assert theirs == [(each.sent_id, list(zip(each.words, each.heads, each.labels, strict=True))) for each in ours]


def test_the_other_packages_do_not_keep_attributes_as_they_are():
    """The reason for this reader."""
    assert conllu_package.parse(RICH)[0].serialize() != RICH + "\n"
    assert pyconll.load_from_string(RICH)[0].conll() != RICH.rstrip("\n")
    assert write(parse(RICH)[0]) == (RICH + "\n").encode()


# what is wrong


MALFORMED = {
    "too few columns": (WORD + "2\tb\t_\n", 2, "3 columns, but CoNLL-U has 10 (CoNLL-X at least 8)"),
    "too many columns": (WORD + WORD_2.replace("\n", "\t\n"), 2, "11 columns"),
    "spaces for tabs": (WORD + WORD_2.replace("\t", " "), 2, "no tabs in '2 b _ _"),
    "an ID twice": (WORD + WORD, 2, "ID 1 a second time, or out of order; 2 was expected (is a blank line missing?)"),
    "a gap": (WORD + WORD_2.replace("2", "3", 1), 2, "ID '3', but 2 was expected"),
    "a start at 2": (WORD_2, 1, "ID '2', but 1 was expected"),
    "no ID": (WORD + "_" + WORD_2[1:], 2, "ID '_', but 2 was expected"),
    "an empty ID": (WORD + WORD_2[1:], 2, "ID '', but 2 was expected"),
    "a leading zero": ("01" + WORD[1:], 1, "ID '01', but 1 was expected"),
    "a range after its word": (WORD + "1-2" + WORD[1:] + WORD_2, 2, "range 1-2 does not start at the next word, 2"),
    "an empty node elsewhere": ("1.1" + WORD[1:] + WORD, 1, "empty node 1.1 does not follow word 1"),
    "a range twice": (WORD + "2-3" + WORD[1:] + "2-3" + WORD[1:] + WORD_2, 3, "ID 2-3 a second time"),
    "a range backwards": (WORD + "2-1" + WORD[1:] + WORD_2, 2, "range 2-1 ends before it starts"),
    "a range in another": ("1-3" + WORD[1:] + WORD + "2-3" + WORD[1:] + WORD_2, 3, "range 2-3 starts within another"),
    "a range too long": (WORD + "2-9" + WORD[1:] + WORD_2, 2, "range 2-9, but the sentence has 2 words"),
    "an empty node twice": (WORD + ("1.1" + WORD[1:]) * 2 + WORD_2, 3, "ID 1.1 a second time"),
    "a column missing": (WORD + WORD_2[:-3] + "\n", 2, "9 columns, but rows before have 10; all rows of a file need"),
    "a column missing in all": (WORD[:-3] + "\n" + WORD_2[:-3] + "\n", 1, "9 columns, but rows before have 10"),
    "no words": ("1-2" + WORD[1:], 0, "a sentence without words"),
    "another encoding": (WORD + WORD_2.replace("b", "é"), 2, "byte 0xe9 at position 3 is not UTF-8"),
}


@pytest.mark.parametrize(("text", "line", "message"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_sentences(text, line, message):
    data = text.encode("latin1")
    before = b"# sent_id = fine\n" + WORD.encode() + b"\n"
    found = []
    sentences = parse(before + b"# sent_id = wrong\n" + data + b"\n" + before, found.append)
    assert [each.sent_id for each in sentences] == ["fine", "fine"]
    (problem,) = found
    assert problem.is_error
    assert (problem.path, problem.line) == ("t.conllu", line + 4)
    assert problem.message.startswith(message)
    assert problem.sent_id == (None if "UTF-8" in message else "wrong")
    with pytest.raises(CorpusError, match=rf"^t.conllu:{line + 4}: "):
        parse(before + b"# sent_id = wrong\n" + data)


def test_comments_of_no_sentence_are_not_those_of_the_next():
    data = b"# sent_id = no\n\n" + TREEBANK.replace(b"\n\n#", b"\n\n# sent_id = no\n\n#")
    second, first = parse(data)
    assert (second.sent_id, second.line, second.before) == ("b", 3, "# sent_id = no\n\n")
    assert (first.sent_id, first.line, first.problem("x", 3).line) == ("fr-1", 8, 16)
    changed = first.with_tree(first.heads, first.labels, comments=["new"])
    assert changed.text() == first.text().replace("\n1\t", "\n# new\n1\t")


def test_files_one_after_the_other(file):
    """Nothing of one becomes part of a sentence of the next."""
    mark = b"\xef\xbb\xbf"
    ends = {b"# d": b"# d\n\n", b"# d\n": b"# d\n\n", b"# d\n\n": b"# d\n\n", b" ": b" \n", b"": b""}
    for number, (end, expected) in enumerate(ends.items()):
        path, packed = file(mark + TREEBANK + end, f"{number}.conllu"), file(mark + b"# a\n\n" + TREEBANK, "a.conllu")
        assert written(read_all([path, packed])) == mark + TREEBANK + expected + b"# a\n\n" + TREEBANK


def test_comments_of_no_sentence_in_another_encoding():
    found = []
    assert written(parse(b"# fine\n\n# \xe9\n\n" + TREEBANK, found.append)) == b"# fine\n\n" + TREEBANK
    assert [problem.line for problem in found if problem.is_error] == [3]


def test_oddities_are_warnings():
    found = []
    assert len(parse(WORD + "# late\n" + WORD_2 + "\n# only a comment\n\n" + WORD, found.append)) == 2
    assert [(problem.line, problem.is_error) for problem in found] == [(2, False), (5, False)]
    assert "comments come before the words" in found[0].message
    assert "comments without a sentence; if they belong to the next one, remove the blank line" in found[1].message


# plain text


def test_plain_text():
    first, second = read_text(io.BytesIO("\ufeffThey  walk\u00a0home .\r\n\n \nYes\t!".encode()), "t.txt")
    assert first.words == ["They", "walk\u00a0home", "."]
    assert (second.words, second.line, second.path) == (["Yes", "!"], 4, "t.txt")
    assert first.text().startswith("# sent_id = 1\n# text = They walk\u00a0home .\n1\tThey\t_\t")
    assert (first.heads, first.labels) == ([UNKNOWN] * 3, ["_"] * 3)
    (again,) = parse(write(first))
    assert again.columns == first.columns


def test_plain_text_in_another_encoding():
    found = []
    assert len(list(read_text(io.BytesIO(b"fine\ncaf\xe9\nfine\n"), "t.txt", found.append))) == 2
    assert str(found[0]).startswith("t.txt:2: byte 0xe9 at position 4 is not UTF-8; convert the file first")


# corners


def test_a_comment_with_a_tab_does_not_make_it_plain_text(file):
    assert written(read(file(RICH))) == (RICH + "\n").encode()


@pytest.mark.parametrize("start", ["\n\n", " \n\r\n\n"])
def test_blank_lines_at_the_start_are_kept(start):
    data = start.encode() + TREEBANK
    assert written(parse(data)) == data


def test_the_blank_line_at_the_end_is_like_the_others():
    data = TREEBANK.replace(b"\n", b"\r\n")
    assert written(parse(data[:-2])) == data
    assert written(parse(data[:-4])) == data


@pytest.mark.parametrize("identifier", ["²", "²-3", "1-²", "1.²", "1-" + "9" * 5000])
def test_identifiers_are_plain_digits(identifier):
    found = []
    assert parse(WORD + identifier + WORD[1:], found.append) == []
    assert found[0].message.startswith("ID ")


def test_comments_behind_a_byte_order_mark():
    rows = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    (sentence,) = read_conllu(io.BytesIO(f"\ufeff# rank = 1\n# newparticle = x\n{rows}".encode()))
    assert sentence.with_tree([0], ["root"], comments=["rank = 2"]).text() == (
        f"\ufeff# newparticle = x\n# rank = 2\n{rows}"
    )
    assert sentence.without_comments("newdoc", "newpar").text() == sentence.text()
    (sentence,) = read_conllu(io.BytesIO(f"\ufeff# newdoc id = 1\n{rows}".encode()))
    assert sentence.without_comments("newdoc", "newpar").text() == "\ufeff" + rows
