"""Plain text as sentences: that nothing gets lost, what a paragraph is, and the rules for all languages."""

import io
import itertools
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from softparse.corpus import plain_text
from softparse.corpus.conllu import read_conllu
from softparse.corpus.plain_text import Token, Tokenizer
from softparse.corpus.problems import CorpusError
from softparse.corpus.rule_tokenizer import RuleTokenizer
from softparse.corpus.spacing import running_text, spaces_after

RULES = RuleTokenizer()
TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(" \n.'-!?\"():/@1aA。😀\u200d")))


def joined(sentences):
    """The text that SpaceAfter gives back, and that of the comments."""
    assert all(sentence.words for sentence in sentences)
    comments = " ".join(line[9:-1] for s in sentences for line in s.lines if line.startswith("# text = "))
    return "".join(running_text(sentences).split()), "".join(comments.split())


def check(tokenizer, text):
    """Every character of the text is there, spaces are where they were, and what is written can be read again."""
    sentences = tokenizer.sentences(text)
    everything = "".join(text.removeprefix("\ufeff").split())
    assert joined(sentences) == (everything, everything)
    if "\n" not in text:  # paragraphs apart, not even a space appears or disappears
        assert " ".join(running_text(sentences).split()) == " ".join(text.removeprefix("\ufeff").split())
    written = "".join(sentence.text() for sentence in sentences)
    again = list(read_conllu(io.BytesIO(written.encode())))
    assert [sentence.lines for sentence in again] == [sentence.lines for sentence in sentences]
    for sentence in sentences:
        tokens, _ = spaces_after(sentence)
        assert sum(size for _, size in tokens) == len(sentence.words)
        assert all(form and form == " ".join(form.split()) for form, _ in tokens)


@given(TEXTS)
@example("a\0b. C")
@example("\u0301 \u200b\ufe0f.")
@example("http://")
@example("www...")
@example("www.)")
def test_no_character_gets_lost(text):
    check(RULES, text)


@given(TEXTS, st.integers(1, 30), st.integers(1, 4))
def test_nothing_gets_lost_where_long_text_is_cut(text, longest, words):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_text, "LONGEST_TEXT", longest)
        patch.setattr(plain_text, "LONGEST_SENTENCE", words)
        check(RULES, text)
        assert all(len(sentence) <= words for sentence in RULES.sentences(text))


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30))))
def test_a_tokenizer_that_leaves_things_out_loses_nothing(text, spans):
    class Careless(Tokenizer):
        kind = "careless"

        def tokens(self, text):
            return [[Token(*sorted(span))] for span in sorted(spans)]

    check(Careless(), text)


SENTENCES = [
    "Mr. J. Smith can't pay $ 1,000.50 , e.g. to O'Brien's bank ( see http://a.b/c_(d) ) .",
    '" Why ? " he asked ...',
    "U.S. firms , i.e. AT&T , are well-known !! :-) 😀 👨‍👩‍👧 🇫🇷 Mail me@x.org , please .",
    "Nr. 5 kostet 3,5 % mehr .",
    "L' homme qu' il a vu aujourd'hui n' est pas d' accord .",
    "« Oui . »",
    "Вона з'їла п'ять яблук .",
    "Τι κάνεις ;",
    "Ես այստեղ եմ ։",
    "هل أنت هنا ؟",
    "यह घर है ।",
    "ሰላም ነው ።",
    "This ends .",
]


def test_sentences_and_words_of_many_languages():
    """Given with spaces between all tokens; as text, those are gone where people do not write them."""
    text = " ".join(SENTENCES)
    for spaced, written in (
        (" ,", ","), (" .", "."), (" !", "!"), (" ?", "?"), (" ;", ";"), (" ...", "..."), ("( ", "("), (" )", ")"),
        ("$ ", "$"), (" %", "%"), ('" Why', '"Why'), ('? "', '?"'), ("« ", "«"), (" »", "»"), ("' h", "'h"),
        ("' i", "'i"), ("' e", "'e"), ("' a", "'a"), (" ։", "։"), (" ؟", "؟"), (" ।", "।"), (" ።", "።"),
        ("😀 ", "😀"), ("👧 ", "👧"),
    ):  # fmt: skip
        text = text.replace(spaced, written)
    wanted = [line.replace("can't", "ca n't").replace("O'Brien's", "O'Brien 's") for line in SENTENCES]
    assert [" ".join(sentence.words) for sentence in RULES.sentences(text)] == wanted


def test_numbers_stay_whole():
    words = (
        "In the 1990s , 21st of May , 10:30am , 12.5kg or 1,000th ; 19th-century , pp. 10 - 20 , 4x4 , 3.14 : 1990 's"
    )
    text = words.replace(" ,", ",").replace(" ;", ";").replace(" - ", "-").replace(" :", ":").replace(" 's", "'s")
    assert [" ".join(sentence.words) for sentence in RULES.sentences(text)] == [words]


def test_scripts_without_spaces():
    words = [sentence.words for sentence in RULES.sentences("「え？」と言った。テキスト！สวัสดีครับ ABC")]
    assert words == [["「", "え", "？", "」", "と", "言", "った", "。"], ["テキスト", "！"], ["สวัสดีครับ", "ABC"]]


def test_the_form_of_a_sentence():
    text = RULES.sentences("It's\n  raining (hard).\n\nStop!")
    assert "".join(sentence.text() for sentence in text) == (
        "# newpar\n# sent_id = 1\n# text = It's raining (hard).\n"
        "1\tIt\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t's\t_\t_\t_\t_\t_\t_\t_\t_\n3\training\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "4\t(\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n5\thard\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "6\t)\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n7\t.\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        "# newpar\n# sent_id = 2\n# text = Stop!\n"
        "1\tStop\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n2\t!\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n \t\n", "\n\n\n\n"])
def test_a_blank_line_ends_a_sentence(blank):
    assert [sentence.words for sentence in RULES.sentences(f"one,{blank}two")] == [["one", ","], ["two"]]
    assert len(RULES.sentences("one,\ntwo")) == 1


def test_lines_that_are_not_broken_are_paragraphs():
    long = "word " * 50
    assert len(RULES.sentences(f"title\n{long}\nlast\nline")) == 3
    assert len(RULES.sentences(f"title\n{long[:100]}\nlast\nline")) == 1


def test_lines_are_told_and_bad_encodings_refused(tmp_path):
    path = tmp_path / "t.txt"
    path.write_bytes("\ufeffOne.\nTwo.\n\nThree\n".encode())
    assert [(s.line, s.words) for s in RULES.read_all([path])] == [
        (1, ["One", "."]), (2, ["Two", "."]), (4, ["Three"]),
    ]  # fmt: skip
    path.write_bytes(b"fine\n\nca\xe9f\xe9\n")
    with pytest.raises(CorpusError, match=r"t\.txt:3: byte 0xe9 at position 3 is not UTF-8; .* iconv -f latin1"):
        list(RULES.read_all([path]))
    path.write_bytes(b"cut \xe2\x82")
    with pytest.raises(CorpusError, match=r"t\.txt:1: byte 0xe2"):
        list(RULES.read_all([path]))
    path.write_bytes(b" \n\n")
    with pytest.raises(CorpusError, match=r"t\.txt: no text in it"):
        list(RULES.read_all([path]))


class Endless(io.RawIOBase):
    """So many bytes, which are never all there."""

    def __init__(self, pieces):
        self.pieces = pieces

    def readable(self):
        return True

    def readinto(self, buffer):
        piece = next(self.pieces, b"")
        buffer[: len(piece)] = piece
        return len(piece)


@pytest.mark.parametrize("piece", [b"Some words. ", b"endless", b"so many words ", b"Text.\n\n"])
def test_memory_does_not_grow(piece):
    """Three times the text takes as much memory; to hold its words would take three times as much."""
    peaks = []
    for size in (30_000, 90_000):
        repeats = size // len(piece) // 80
        file = io.BufferedReader(Endless(itertools.repeat(piece * 80, repeats)))
        tracemalloc.start()
        try:
            letters = sum(len("".join(sentence.words)) for sentence in RULES.stream(file))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert letters == repeats * 80 * len(piece.strip().replace(b" ", b""))
    assert peaks[1] < 1.2 * peaks[0]


def test_spaces_behind_a_byte_order_mark():
    rows = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    for text, wanted in (("\ufeff" + rows, [True, True]), ("\ufeff# text = ab\n" + rows, [False, True])):
        (sentence,) = read_conllu(io.BytesIO(text.encode()))
        assert spaces_after(sentence) == ([("a", 1), ("b", 1)], wanted)


def test_spaces_come_from_the_text_or_from_misc():
    rows = ["1-2\tdu", "1\tde", "2\tle", "3\tvin", "4\t."]
    rows = [row + "\t_" * 7 + "\t_\n" for row in rows]
    for text, wanted in (("# text = du vin.\n", [True, False, True]), ("# text = other\n", [True, True, True])):
        sentence = next(read_conllu([line.encode() for line in [text, *rows]]))
        assert spaces_after(sentence) == ([("du", 2), ("vin", 1), (".", 1)], wanted)
    rows[3] = rows[3].replace("_\n", "SpaceAfter=No\n")
    sentence = next(read_conllu([line.encode() for line in rows]))
    assert spaces_after(sentence)[1] == [True, False, True]
    assert running_text([sentence]) == "du vin. "
