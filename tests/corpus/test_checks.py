"""Checks of trees and of treebanks."""

import itertools

import pytest

from softparse.corpus.checks import labelled, tree_problems, treebank
from softparse.corpus.conllu import read_conllu
from softparse.corpus.problems import CorpusError
from softparse.corpus.sentence import Sentence
from tests import oracle


def sentence(*arcs, comments=("sent_id = s1",)):
    """A sentence of (HEAD, DEPREL) pairs, at line 1 of t.conllu."""
    rows = [f"{number}\tw{number}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for number, (head, label) in enumerate(arcs, 1)]
    lines = [f"# {comment}\n" for comment in comments] + rows + ["\n"]
    (result,) = read_conllu([line.encode() for line in lines], "t.conllu")
    return result


def errors(*arcs, **options):
    return [str(problem) for problem in tree_problems(sentence(*arcs), **options) if problem.is_error]


def warnings(*arcs, **options):
    return [str(problem) for problem in tree_problems(sentence(*arcs), **options) if not problem.is_error]


GOOD = [(2, "nsubj"), (0, "root"), (2, "obj")]


def test_nothing_wrong():
    assert tree_problems(sentence(*GOOD)) == []
    assert tree_problems(sentence((2, "nsubj"), (0, "root:main"))) == []
    assert tree_problems(sentence((2, "SBJ"), (0, "ROOT"))) == []


def test_a_word_without_form():
    row = b"1\t\t_\t_\t_\t_\t0\troot\t_\t_\n"
    (found,) = read_conllu([row], "t.conllu")
    (problem,) = tree_problems(found)
    assert str(problem) == "t.conllu:1: word 1 has no FORM; write _ for an unknown one"
    assert not problem.is_error


@pytest.mark.parametrize("head", ["x", "", "-1", "1.0", "1_0", "²", "٣", " 1", "+1", "9" * 5000, "_ "])
def test_head_that_is_not_a_number(head):
    (message,) = errors((head, "nsubj"), (0, "root"))
    expected = f"HEAD of word 1 is {head[:40]!r}, not a number (write _ for an unknown head)"
    assert message == f"t.conllu:2: {expected} (sent_id s1)"


def test_head_out_of_range():
    assert errors((2, "nsubj"), (0, "root"), (17, "obj")) == [
        "t.conllu:4: HEAD 17 but the sentence has 3 words (sent_id s1)"
    ]
    assert errors((2, "root")) == ["t.conllu:2: HEAD 2 but the sentence has 1 word (sent_id s1)"]


def test_head_of_itself():
    assert errors((1, "nsubj"), (0, "root")) == ["t.conllu:2: word 1 is its own head (sent_id s1)"]


def test_cycles_name_their_words():
    (message,) = errors((0, "root"), (4, "a"), (1, "b"), (5, "c"), (2, "d"))
    assert message == (
        "t.conllu:3: a cycle of 3 words, each the head of the one before: 2 → 4 → 5 → 2 (w2 w4 w5); change one HEAD "
        "(sent_id s1)"
    )
    first, second = errors((0, "root"), (3, "a"), (2, "b"), (5, "c"), (4, "d"))
    assert "2 → 3 → 2" in first
    assert "4 → 5 → 4" in second


def test_long_cycles_are_cut_short():
    (message,) = errors((0, "root"), *[(number + 1, "x") for number in range(2, 20)], (2, "x"))
    assert "a cycle of 19 words" in message
    assert "2 → 3 → 4 → 5 → 6 → … → 2 (w2 w3 w4 w5 w6)" in message


def test_words_below_a_cycle_are_not_part_of_it():
    (message,) = errors((0, "root"), (3, "a"), (4, "b"), (3, "c"))
    assert "3 → 4 → 3" in message


def test_no_root():
    assert errors((2, "a"), (1, "b"))[-1] == "t.conllu:1: no root: one word must have HEAD 0 (sent_id s1)"
    assert errors((2, "a"), ("_", "_")) == []  # the root may be the unknown one


def test_several_roots():
    arcs = [(0, "root"), (1, "obj"), (0, "root"), (0, "root")]
    assert errors(*arcs) == [
        "t.conllu:4: 3 roots, words 1, 3, 4: keep one HEAD 0, or allow several: "
        "train --set decoding.single_root=false, check --multi-root (sent_id s1)"
    ]
    assert errors(*arcs, single_root=False) == []
    assert errors((0, "root"), ("_", "_"), (0, "root")) != []


def test_label_of_the_root():
    assert warnings((2, "root"), (0, "root")) == [
        "t.conllu:2: label 'root' with HEAD 2; root is the label of HEAD 0 and of no other (word 1) (sent_id s1)"
    ]
    assert "label 'obj' with HEAD 0" in warnings((2, "nsubj"), (0, "obj"))[0]
    assert warnings((2, "_"), (0, "_")) == []
    assert errors((2, "root"), (0, "obj")) == []


def test_labels():
    assert "DEPREL is empty" in errors((2, ""), (0, "root"))[0]
    assert "has ↑ in it" in errors((2, "obj↑xcomp"), (0, "root"))[0]
    assert "has a space in it" in warnings((2, "obj obl"), (0, "root"))[0]
    assert "has a space in it" in warnings((2, "obj\u00a0"), (0, "root"))[0]


def test_partial_trees():
    assert tree_problems(sentence(("_", "_"), (0, "root"), (2, "_"))) == []
    assert tree_problems(sentence(("_", "_"), ("_", "_"))) == []
    (message,) = warnings(("_", "obj"), (0, "root"))
    assert "label 'obj' without a HEAD is ignored" in message
    assert "a cycle of 2 words" in errors(("_", "_"), (3, "a"), (2, "b"))[0]


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_errors_are_exactly_what_is_no_tree(words):
    trees = {
        single: {tree[1:] for tree in oracle.trees(words, single_root=single, projective=False)} for single in (0, 1)
    }
    for heads in itertools.product(range(words + 2), repeat=words):
        tested = sentence(*((head, "_") for head in heads))
        for single_root in (False, True):
            assert (not tree_problems(tested, single_root)) == (heads in trees[single_root])


def test_sentences_made_in_memory():
    made = Sentence.from_words(["a", "b"]).with_tree([2, 5], ["x", "y"])
    assert [problem.path for problem in tree_problems(made)] == ["<memory>"]


# files


def block(*arcs, name=None):
    return sentence(*arcs, comments=[f"sent_id = {name}"] if name else []).text()


def test_labelled_sentences(file):
    path = file(block(*GOOD, name="a") + block(("_", "_"), name="b") + block((2, "x"), ("_", "_"), name="c"))
    noted = []
    assert [each.sent_id for each in labelled([path], report=noted.append)] == ["a", "c"]
    assert [str(problem) for problem in noted] == [f"{path}: sentences without any HEAD, left out: 1"]


def test_labelled_refuses_errors_when_all_is_read(file):
    bad = block((7, "nsubj"), (0, "root"), name="bad")
    path, other = file(block(*GOOD, name="a") + bad * 4), file(bad * 3 + block(*GOOD), "other.conllu")
    got = []
    with pytest.raises(CorpusError) as caught:
        got.extend(labelled([path, other]))
    assert [each.heads for each in got] == [[2, 0, 2]] * 2  # only good ones came up to the end
    message = str(caught.value).splitlines()
    assert message[0] == "errors in the treebank: 7"
    assert message[1] == f"  {path}:7: HEAD 7 but the sentence has 2 words (sent_id bad)"
    assert len(message) == 8
    assert message[-2:] == ["  and 2 more", f"see all of them with: softparse check {path} {other}"]


def test_labelled_and_several_roots(file):
    path = file(block((0, "root"), (0, "root")))
    assert len(list(labelled([path], single_root=False))) == 1
    with pytest.raises(CorpusError, match="single_root=false"):
        list(labelled([path]))


def test_labelled_needs_trees(file):
    with pytest.raises(CorpusError, match=r"no tree, HEAD is _ everywhere; such sentences go to train --raw"):
        list(labelled([file(block(("_", "_")))]))
    with pytest.raises(CorpusError, match="no treebank is given"):
        list(labelled([]))
    with pytest.raises(CorpusError, match="no sentence in it"):
        list(labelled([file("")]))
    with pytest.raises(CorpusError, match="No such file"):
        list(labelled([file("").with_name("missing")]))


def test_plain_text_is_not_a_treebank(file):
    path = file("# a heading\nThey walk home .\nAnd sleep .\n", "raw.txt")
    with pytest.raises(CorpusError) as caught:
        list(labelled([path]))
    assert (
        f"{path}:2: looks like plain text: 'They walk home .'; a treebank has 10 columns with tabs between them; "
        "text goes to train --raw"
    ) in str(caught.value)
    with pytest.raises(CorpusError, match="CoNLL-U has 10 columns with tabs, not spaces, between them"):
        list(labelled([file(block(*GOOD).replace("\t", "  "))]))
    with pytest.raises(CorpusError, match="looks like plain text"):
        list(labelled([file("\u00a0\n")]))


def test_repeated_names_are_warnings(file):
    path = file(block(*GOOD, name="a") + block(*GOOD, name="b") + block(*GOOD, name="a") + block(*GOOD) * 2)
    noted = []
    assert len(list(labelled([path, path], report=noted.append))) == 10
    assert [str(problem) for problem in noted] == [
        f"{path}:11: the same sent_id as the sentence at line 1 (sent_id a)"
    ] * 2
    assert not any(problem.is_error for problem in noted)


def test_what_cannot_be_read_is_reported_once(file):
    noted = []
    assert list(treebank(file("1\ta\tb\tc\n\n"), report=noted.append)) == []
    assert len(noted) == 1  # and not that the file is empty


def test_reading_text_on_purpose(file):
    assert [each.words for each in treebank(file("They walk .\n"), "text")] == [["They", "walk", "."]]
