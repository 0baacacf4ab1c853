"""Projectivity and lifting, against enumeration and against the definitions written out."""

import itertools
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softparse.corpus.projectivity import LIFTED, crossing, is_projective, lift, split_label, unlift
from softparse.corpus.sentence import UNKNOWN
from tests import oracle


def descends(word, head, heads):
    """Whether `head` is the word itself or above it, by known heads."""
    while word != head and word > 0:
        word = heads[word - 1]
    return word == head


def top(word, heads):
    while word > 0 and heads[word - 1] != UNKNOWN:
        word = heads[word - 1]
    return word


def non_projective_arcs(heads):
    """The definition of `crossing`, word by word."""
    arcs = [(head, modifier) for modifier, head in enumerate(heads, 1) if head != UNKNOWN]
    found = []
    for head, modifier in arcs:
        left, right = sorted((head, modifier))
        inside = range(left + 1, right)
        is_foreign = any(top(word, heads) == top(head, heads) and not descends(word, head, heads) for word in inside)
        is_crossed = any(
            top(other, heads) != top(head, heads) and (end in inside) and not left <= other_end <= right
            for other, another in arcs
            for end, other_end in ((other, another), (another, other))
        )
        if is_foreign or is_crossed:
            found.append(modifier)
    return found


def slow_lift(heads):
    """The transformation as Nivre and Nilsson print it: all arcs are looked at again after each step."""
    heads = list(heads)
    has_several_roots = heads.count(0) > 1
    while arcs := non_projective_arcs(heads):
        word = min(arcs, key=lambda m: (abs(heads[m - 1] - m), min(heads[m - 1], m)))
        head = heads[word - 1]
        above = heads[head - 1] if head else UNKNOWN
        heads[word - 1] = above if above or has_several_roots else UNKNOWN
    return heads


def has_cycle(heads):
    for word in range(1, len(heads) + 1):
        seen = set()
        while word > 0 and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word > 0:
            return True
    return False


@st.composite
def trees(draw, largest=12, single_root=False):
    """Heads of any tree: words in some order, each below the root or an earlier one."""
    order = draw(st.permutations(range(1, draw(st.integers(1, largest)) + 1)))
    heads = [0] * len(order)
    for place, word in enumerate(order):
        if place and single_root:
            heads[word - 1] = order[draw(st.integers(0, place - 1))]
        else:
            heads[word - 1] = (0, *order)[draw(st.integers(0, place))]
    return heads


@st.composite
def partial_trees(draw, largest=12, single_root=False):
    heads = draw(trees(largest, single_root))
    known = draw(st.lists(st.booleans(), min_size=len(heads), max_size=len(heads)))
    return [head if is_known else UNKNOWN for head, is_known in zip(heads, known, strict=True)]


def labels_of(heads, draw_from=("a", "b", "c:d")):
    return [draw_from[(3 * head + word) % len(draw_from)] for word, head in enumerate(heads)]


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_complete_trees_by_enumeration(words):
    """That no arcs cross, the root being left of the words, is that what an arc spans descends from its head."""
    for tree in oracle.trees(words, single_root=False, projective=False):
        heads = tree[1:]
        expected = oracle.is_projective(tree)
        assert is_projective(heads) == expected
        assert (not crossing(heads)) == expected
        assert crossing(heads) == non_projective_arcs(heads)


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_partial_trees_by_enumeration(words):
    """A partial tree is projective if and only if a projective tree agrees with it, single-rooted where it can be."""
    completions = {}
    for single_root in (True, False):
        agreeing = set()
        for tree in oracle.trees(words, single_root=single_root, projective=True):
            for known in itertools.product((True, False), repeat=words):
                agreeing.add(tuple(head if k else UNKNOWN for head, k in zip(tree[1:], known, strict=True)))
        completions[single_root] = agreeing
    for heads in itertools.product(range(-1, words + 1), repeat=words):
        if has_cycle(heads):
            continue
        assert is_projective(heads) == (heads in completions[False]) == (not crossing(heads))
        if heads.count(0) <= 1:
            assert is_projective(heads) == (heads in completions[True])


@given(partial_trees())
def test_non_projective_arcs_are_as_defined(heads):
    assert crossing(heads) == non_projective_arcs(heads)
    assert is_projective(heads) == (not crossing(heads))


@given(partial_trees())
def test_without_its_non_projective_arcs_a_tree_is_projective(heads):
    wrong = crossing(heads)
    assert is_projective([UNKNOWN if word in wrong else head for word, head in enumerate(heads, 1)])


def test_nothing_is_projective():
    assert is_projective([])
    assert is_projective([UNKNOWN] * 3)
    assert crossing([]) == []
    assert lift([], []) == ([], [], 0)
    assert unlift([], []) == ([], [])


def test_cycles_are_refused():
    heads = [3, 4, 2, 1, 0]
    for function in (crossing, lambda heads: lift(heads, ["x"] * 5)):
        with pytest.raises(ValueError, match="have a cycle"):
            function(heads)
    assert unlift(heads, ["x", "x↑x", "x", "x", "x"]) == (heads, ["x"] * 5)


def test_long_sentences_are_fast():
    """Random trees of 400 words are far worse than anything in a treebank."""
    generator = random.Random(1)
    order = generator.sample(range(1, 401), 400)
    heads = [0] * 400
    for place, word in enumerate(order[1:], 1):
        heads[word - 1] = order[generator.randrange(place)]
    labels = ["x"] * 400
    start = time.perf_counter()
    assert not is_projective(heads)
    lifted, renamed, _ = lift(heads, labels)
    assert is_projective(lifted)
    unlift(lifted, renamed)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("words", [3, 4, 5])
def test_lifting_complete_trees_by_enumeration(words):
    for tree in oracle.trees(words, single_root=False, projective=False):
        heads = list(tree[1:])
        labels = [f"l{word}" for word in range(1, words + 1)]
        lifted, renamed, number = lift(heads, labels)
        assert lifted == slow_lift(heads)
        assert oracle.is_tree((-1, *lifted))
        assert oracle.is_projective((-1, *lifted))
        assert number == sum(a != b for a, b in zip(heads, lifted, strict=True))
        assert (lifted.count(0) == 1) == (heads.count(0) == 1)
        for word, (head, now, label) in enumerate(zip(heads, lifted, renamed, strict=True), 1):
            assert label == (f"l{word}" if now == head else f"l{word}{LIFTED}l{head}")


@given(partial_trees(largest=14))
def test_lifting_partial_trees(heads):
    labels = labels_of(heads)
    before = list(heads), list(labels)
    lifted, renamed, number = lift(heads, labels)
    assert (heads, labels) == before
    assert lifted == slow_lift(heads)
    assert is_projective(lifted)
    assert not has_cycle(lifted)
    assert number == sum(a != b for a, b in zip(heads, lifted, strict=True))
    for head, now, label, name in zip(heads, lifted, labels, renamed, strict=True):
        if now == head:
            assert name == label
        elif now == UNKNOWN:
            assert name == "_"
        else:
            assert split_label(name) == (label, labels[head - 1])


@given(partial_trees(largest=14, single_root=True))
def test_lifting_makes_no_second_root(heads):
    assert lift(heads, labels_of(heads))[0].count(0) <= 1


def test_projective_trees_are_not_touched():
    heads, labels = [2, 0, 2], ["nsubj", "root", "obj"]
    lifted, renamed, number = lift(heads, labels)
    assert (lifted, renamed, number) == (heads, labels, 0)
    assert lifted is not heads


def test_the_shortest_arc_is_lifted_and_the_leftmost_of_several():
    heads = [0, 1, 5, 1, 2]
    assert crossing(heads) == [3, 5]  # 5 → 3 is shorter than 2 → 5
    assert lift(heads, list("abcde"))[0] == [0, 1, 2, 1, 1]  # longest first: [0, 1, 1, 1, 1]
    heads = [4, 0, 1, 2, 3]
    assert crossing(heads) == [1, 3, 5]  # 1 → 3 and 3 → 5 are equally short
    assert lift(heads, list("abcde"))[0] == [2, 0, 4, 2, 4]  # rightmost first: [2, 0, 4, 2, 2]


def test_a_word_lifted_twice_names_the_head_it_had():
    heads, labels = [4, 0, 2, 3], ["obj", "root", "xcomp", "advcl"]
    assert lift(heads, labels) == ([2, 0, 2, 3], ["obj↑advcl", "root", "xcomp", "advcl"], 1)


def test_lifting_through_an_unknown_head():
    assert lift([UNKNOWN, UNKNOWN, 1, 2], ["_", "_", "obj", "nsubj"]) == (
        [UNKNOWN, UNKNOWN, UNKNOWN, 2],
        ["_", "_", "_", "nsubj"],
        1,
    )


def test_a_root_arc_that_crosses_becomes_unknown():
    """0 → 2 and 1 → 3 cross and the root has no head to lift to."""
    assert lift([UNKNOWN, 0, 1], ["_", "root", "obj"]) == ([UNKNOWN, UNKNOWN, 1], ["_", "_", "obj"], 1)


def test_unknown_labels_are_not_put_together():
    heads = [3, 0, 2, 2]
    assert lift(heads, ["_", "root", "xcomp", "punct"])[1][0] == "_"
    assert lift(heads, ["obj", "root", "_", "punct"])[1][0] == "obj"


def test_labels_split_where_they_were_joined():
    assert split_label(f"nsubj:pass{LIFTED}acl:relcl") == ("nsubj:pass", "acl:relcl")
    assert split_label("_") == ("_", None)


@given(trees(largest=14), st.data())
def test_unlifting_anything_leaves_a_tree(heads, data):
    """Whatever labels a parser predicts."""
    label = st.sampled_from(["a", "b", f"a{LIFTED}a", f"a{LIFTED}b", f"b{LIFTED}a", f"b{LIFTED}zzz", f"a{LIFTED}"])
    labels = data.draw(st.lists(label, min_size=len(heads), max_size=len(heads)))
    back, plain = unlift(heads, labels)
    assert oracle.is_tree((-1, *back))
    assert plain == [name.split(LIFTED)[0] for name in labels]
    if heads.count(0) == 1:
        assert [head == 0 for head in back] == [head == 0 for head in heads]
    for word, (head, now, name) in enumerate(zip(heads, back, labels, strict=True), 1):
        if now != head:
            assert plain[now - 1] == split_label(name)[1], word


@given(partial_trees(largest=14))
def test_unlifting_partial_trees(heads):
    lifted, renamed, _ = lift(heads, labels_of(heads))
    back, plain = unlift(lifted, renamed)
    assert not has_cycle(back)
    assert [head == UNKNOWN for head in back] == [head == UNKNOWN for head in lifted]
    assert not any(LIFTED in label for label in plain)


@given(trees(largest=10))
def test_unlifting_undoes_lifting_when_labels_tell_the_words_apart(heads):
    """A label of its own for each word leaves one candidate; it is missed only if it was lifted out of reach itself."""
    labels = [f"l{word}" for word in range(1, len(heads) + 1)]
    lifted, renamed, _ = lift(heads, labels)
    back, plain = unlift(lifted, renamed)
    assert plain == labels
    moved = {word for word, (a, b) in enumerate(zip(heads, lifted, strict=True), 1) if a != b}
    if all(heads[word - 1] not in moved for word in moved):
        assert back == heads


def test_the_furthest_word_of_a_level_comes_first():
    labels = ["obj↑conj", "root", "conj", "conj"]
    assert unlift([2, 0, 2, 2], labels) == ([4, 0, 2, 2], ["obj", "root", "conj", "conj"])


def test_a_level_nearer_to_the_head_comes_first():
    assert unlift([2, 0, 2, 3], ["obj↑conj", "root", "conj", "conj"])[0] == [3, 0, 2, 3]


def test_a_word_whose_head_cannot_be_found_stays():
    assert unlift([2, 0, 2], ["obj↑xcomp", "root", "conj"]) == ([2, 0, 2], ["obj", "root", "conj"])
    assert unlift([2, 0], ["xcomp", "root↑xcomp"]) == ([2, 0], ["xcomp", "root"])  # only below itself
    assert unlift([UNKNOWN, 0], ["obj↑root", "root"]) == ([UNKNOWN, 0], ["obj", "root"])
