"""Sentences with another tree: nothing else in them changes."""

import pytest
from hypothesis import given

from softparse.corpus.conllu import write
from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import UNKNOWN, Sentence
from tests.corpus.examples import MARK, RICH, SMALL, WORD, WORD_2, parse, treebanks


def test_a_sentence_from_words():
    sentence = Sentence.from_words(["10 000", "#"], ["sent_id = a"])
    (again,) = parse(write(sentence))
    assert (again.words, again.sent_id, again.columns) == (["10 000", "#"], "a", sentence.columns)


@given(treebanks())
def test_only_head_and_label_of_words_change(treebank):
    for before in parse(treebank[0]):
        after = before.with_tree([0] * len(before), ["new"] * len(before))
        assert (after.words, after.heads, after.labels) == (before.words, [0] * len(before), ["new"] * len(before))
        (again,) = parse(write(after))
        assert again.columns == after.columns
        assert len(after.lines) == len(before.lines)
        for place, (old, new) in enumerate(zip(before.lines, after.lines, strict=True)):
            if place not in before.places:
                assert new == old
            else:
                old_row, new_row = old.removeprefix(MARK).split("\t"), new.removeprefix(MARK).split("\t")
                ending = old[len(old.rstrip("\r\n")) :]
                assert new.endswith(ending)
                old_row[6:8] = ["0", "new" + (ending if len(old_row) == 8 else "")]
                assert new_row == old_row


def test_the_sentence_before_is_not_touched():
    (sentence,) = parse(SMALL + "\n")
    sentence.with_tree([5], ["x"], clear_deps=True, misc=["A=1"], comments=["new"])
    assert write(sentence) == (SMALL + "\n").encode()


def test_clearing_dependencies():
    sentence = parse(RICH)[0].with_tree([2, 0, 5, 5, 2, 5, 5], ["x"] * 7, clear_deps=True)
    rows = [line.rstrip("\n").split("\t") for line in sentence.lines if line[0].isdigit()]
    assert [row[0] for row in rows] == ["1", "2", "3-4", "3", "4", "5", "6", "7"]
    assert {row[8] for row in rows} == {"_"}
    assert rows[2][9] == "SpaceAfter=No|Gloss=b|Gloss=a"
    assert sentence.lines[:4] == parse(RICH)[0].lines[:4]
    assert parse(write(sentence))[0].heads == sentence.heads
    assert sentence.problem("x", 3).line == 8


def test_adding_comments_and_attributes():
    sentence = parse(RICH)[0].with_tree([0] * 7, ["x"] * 7, misc=["P=1"] * 7, comments=["score = 1", "by = me"])
    assert sentence.lines[4:6] == ["# score = 1\n", "# by = me\n"]
    (again,) = parse(write(sentence))
    assert [row[9] for row in again.columns] == ["P=1"] * 4 + ["Gloss=b|Gloss=a|Gloss=b|P=1", "P=1", "Z=1|A=2|P=1"]
    assert (again.columns, again.places) == (sentence.columns, sentence.places)


def test_a_head_that_is_no_number():
    (sentence,) = parse("# sent_id = a\n" + WORD + WORD_2.replace("1", "x") + "\n")
    with pytest.raises(CorpusError, match=r"^t.conllu:3: HEAD of word 2 is 'x', not a number .* \(sent_id a\)$"):
        _ = sentence.heads


@pytest.mark.parametrize("start", [MARK, "\n"])
def test_the_name_of_the_first_sentence(start):
    assert parse(start + SMALL)[0].sent_id == "b"


def test_a_mark_before_a_word_is_kept():
    (sentence,) = parse(MARK + WORD + "\n")
    assert sentence.with_tree([0], ["x"]).text() == MARK + WORD.replace("root", "x") + "\n"
    assert sentence.with_tree([0], ["root"], comments=["c"]).text() == f"{MARK}# c\n{WORD}\n"


def test_a_mark_before_a_comment_does_not_make_it_an_empty_node():
    (sentence,) = parse(f"{MARK}# source = example.org\n{WORD}\n")
    assert sentence.with_tree([0], ["root"], clear_deps=True).text() == sentence.text()


def test_comments_are_added_where_the_comments_are():
    (sentence,) = parse("\n" + SMALL + "\n")
    changed = sentence.with_tree([0], ["root"], comments=["c"])
    assert changed.lines[:3] == ["\n", "# sent_id = b\n", "# c\n"]
    (sentence,) = parse((SMALL + "\n").replace("\n", "\r\n"))
    assert sentence.with_tree([0], ["root"], comments=["c"]).lines[1] == "# c\r\n"


def test_unknown_heads_are_written_as_such():
    (sentence,) = parse(WORD + "\n")
    assert sentence.with_tree([UNKNOWN], ["_"]).columns[0][6:8] == ["_", "_"]


@pytest.mark.parametrize("head", ["-1", "+1", " 1", "1_0", "²", "٣", "9" * 5000])
def test_heads_are_plain_digits(head):
    (sentence,) = parse(WORD.replace("\t0\t", f"\t{head}\t"))
    with pytest.raises(CorpusError, match=r"HEAD of word 1 is .*, not a number"):
        _ = sentence.heads
