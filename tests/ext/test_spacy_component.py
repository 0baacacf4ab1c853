"""softparse as a component of spaCy pipelines."""

import os
import pickle
import random
import shutil
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

import softparse
from softparse.corpus.conllu import read
from softparse.ext.spacy_component import SoftparseComponent, _set_trees
from softparse.parser import Parse

TEXT = "the dog sees a big cat . every child walks no river today ."

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # every import of it fails from here on
import spacy
nlp = spacy.blank("en")
assert nlp.has_factory("softparse")
nlp.add_pipe("softparse", config={"model": "nowhere"})
print(sorted(name for name in sys.modules if name.partition(".")[0] == "softparse"))
try:
    nlp("They walk.")
except ImportError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def nlp(model):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("softparse", config={"model": str(model)})
    return pipeline


@pytest.fixture(scope="module")
def parser(model):
    return softparse.load(model)


def starts(doc):
    return [sent.start for sent in doc.sents]


def tree(span):
    """Heads (0 is the root) and labels of a span without white space."""
    heads = [0 if token.head == token else token.head.i - span.start + 1 for token in span]
    return heads, [token.dep_ for token in span]


def in_spacy(parse):
    return parse.heads, [label if head else "ROOT" for head, label in zip(parse.heads, parse.labels, strict=True)]


def same(one, other):
    return one.to_json() == other.to_json()


def test_the_entry_point_is_installed():
    found = {point.name: point.value for point in entry_points(group="spacy_factories")}
    assert found.get("softparse") == "softparse.ext.spacy_component:make_softparse", "run pip install -e . again"


def test_without_torch_and_without_a_model_pipelines_can_be_made():
    result = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    modules, error = result.stdout.splitlines()
    assert modules == "['softparse', 'softparse.ext', 'softparse.ext.spacy_component']"
    assert "torch" in error


def test_trees_are_those_of_the_parser(nlp, parser, treebanks):
    sentences = [sentence.words for sentence in read(treebanks / "dev.conllu")]
    docs = [
        Doc(
            nlp.vocab,
            [word for words in group for word in words],
            sent_starts=[i == 0 for w in group for i in range(len(w))],
        )
        for group in (sentences[:3], sentences[3:4], sentences[4:])
    ]
    found = [tree(span) for doc in nlp.pipe(docs) for span in doc.sents]
    assert found == [in_spacy(parse) for parse in parser.parse(sentences, single_root=True)]
    labels = {label for _, labels in found for label in labels}
    assert "↑" in "".join(parser.vocabulary.labels)  # the model has learnt lifted arcs,
    assert not any("↑" in label for label in labels)  # which have been put back:
    assert any(crosses(heads) for heads, _ in found)
    assert {"ROOT", "nsubj", "punct"} <= labels
    assert "root" not in labels


def crosses(heads):
    arcs = [tuple(sorted((head, word))) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def test_one_by_one_and_in_batches(nlp):
    texts = [TEXT, "", " ", "the dog walks every cat", TEXT * 3]
    for doc, text in zip(nlp.pipe(texts), texts, strict=True):
        assert same(doc, nlp(text))
        assert doc.text == text


def test_a_batch_is_one_call(model):
    class Counting:
        def __init__(self, parser):
            self.parser, self.calls = parser, []

        def pipe(self, sentences, **options):
            sentences = list(sentences)
            self.calls.append(len(sentences))
            return self.parser.pipe(sentences, **options)

    component = SoftparseComponent(model=model)
    component._parser = counting = Counting(component.parser)
    pipeline = spacy.blank("en")
    docs = [pipeline.make_doc(TEXT) for _ in range(10)]
    assert len(list(component.pipe(docs, batch_size=8))) == 10
    assert counting.calls == [16, 4]


def test_sentence_starts_that_are_there_stay(nlp):
    words = TEXT.split()
    begin = [place in (0, 3, 7) for place in range(len(words))]
    doc = nlp(Doc(nlp.vocab, words, sent_starts=begin))
    assert starts(doc) == [0, 3, 7]
    assert [sum(token.head == token for token in sent) for sent in doc.sents] == [1, 1, 1]
    partly = Doc(nlp.vocab, words)
    partly[7].is_sent_start = True  # the others are not known
    assert starts(nlp(partly)) == [0, 7]
    partly = Doc(nlp.vocab, words)
    partly[3].is_sent_start = True
    assert starts(nlp(partly)) == [0, 3, 7]  # rules find those that nobody has spoken about
    partly = Doc(nlp.vocab, words)
    partly[7].is_sent_start = False
    assert starts(nlp(partly)) == [0]
    senter = spacy.blank("en")
    senter.add_pipe("sentencizer", config={"punct_chars": ["dog"]})
    assert starts(nlp(senter(TEXT))) == [0, 2]


def test_sentence_starts_that_are_not_there(model, nlp):
    assert starts(nlp(TEXT)) == [0, 7]
    pipeline = spacy.blank("en")
    pipeline.add_pipe("softparse", config={"model": str(model), "sentences": "doc"})
    assert starts(pipeline(TEXT)) == [0]


def test_sentence_starts_that_must_be_given(model):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("softparse", name="trees", config={"model": str(model), "sentences": "given"})
    with pytest.raises(ValueError, match=r'add_pipe\("sentencizer", before="trees"\)'):
        pipeline(TEXT)
    assert len(pipeline("")) == 0
    failed = []
    pipeline.set_error_handler(lambda name, component, docs, error: failed.extend(docs))
    assert list(pipeline.pipe([TEXT])) == []
    assert [doc.text for doc in failed] == [TEXT]
    pipeline.add_pipe("sentencizer", before="trees")
    assert starts(pipeline(TEXT)) == [0, 7]


def test_white_space_hangs_on_the_word_before_it(nlp):
    doc = nlp("\n the dog sees \n\n a cat .  \n every child walks no river . \n ")
    plain = nlp("the dog sees a cat . every child walks no river .")
    words = [token for token in doc if not token.is_space]
    assert [(token.text, token.dep_, token.head.text) for token in words] == [
        (token.text, token.dep_, token.head.text) for token in plain
    ]
    places = {token.i: order for order, token in enumerate(words)}
    assert [places[token.head.i] for token in words] == [token.head.i for token in plain]
    assert {token.dep_ for token in doc if token.is_space} == {"dep"}
    assert doc[0].is_space
    assert doc[0].head == words[0]
    assert all(token.head == doc[token.i - 1] for token in doc if token.is_space and token.i)
    assert [sent[0].text for sent in doc.sents] == ["\n ", "every"]
    only = nlp(" \n ")
    assert [token.dep_ for token in only] == ["ROOT"] + ["dep"] * (len(only) - 1)
    assert len(nlp("")) == 0


def test_starts_stay_when_arcs_cross(nlp):
    """spaCy derives sentences from roots; any trees must lead back to the sentences they came from."""
    generator = random.Random(0)
    for _ in range(300):
        lengths = [generator.randint(1, 12) for _ in range(3)]
        parses = []
        for length in lengths:
            order = generator.sample(range(1, length + 1), length)
            heads = dict(zip(order, [0] + [generator.choice(order[:place]) for place in range(1, length)], strict=True))
            parses.append(Parse(["x"] * length, [heads[word] for word in range(1, length + 1)], ["dep"] * length))
        begin = [place == 0 for length in lengths for place in range(length)]
        doc = Doc(nlp.vocab, ["x"] * sum(lengths), sent_starts=begin)
        _set_trees(doc, list(doc.sents), parses)
        assert [token.is_sent_start for token in doc] == begin
        assert [tree(span)[0] for span in doc.sents] == [parse.heads for parse in parses]


def test_a_model_that_allows_several_roots(model, tmp_path, nlp):
    parser = softparse.load(model)
    object.__setattr__(parser.config.decoding, "single_root", False)
    parser.save(tmp_path / "several")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("softparse", config={"model": str(tmp_path / "several")})
    assert starts(pipeline(TEXT)) == [0, 7]


def test_other_ways_of_decoding(model, parser):
    for method in ("mbr", "nonprojective"):
        pipeline = spacy.blank("en")
        pipeline.add_pipe("softparse", config={"model": str(model), "method": method})
        words = TEXT.split()[:7]
        assert tree(pipeline(" ".join(words))[:]) == in_spacy(parser.parse([words], method=method)[0])


def test_documents_in_a_bin(nlp):
    docs = list(nlp.pipe([TEXT, "the dog sees a cat today which walks ."]))
    back = list(DocBin().from_bytes(DocBin(docs=docs).to_bytes()).get_docs(nlp.vocab))
    for doc, other in zip(docs, back, strict=True):
        assert [tree(span) for span in doc.sents] == [tree(span) for span in other.sents]


def test_displacy_draws_it(nlp):
    picture = displacy.render(list(nlp(TEXT).sents), style="dep", jupyter=False)
    assert picture.count("nsubj") == 2
    assert picture.count("<svg") == 2


def test_evaluation(nlp):
    doc = nlp(TEXT)
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), doc)])
    assert (scores["dep_uas"], scores["dep_las"], scores["sents_f"]) == (1, 1, 1)


def test_saved_with_the_pipeline(model, nlp, tmp_path):
    shutil.copytree(model, tmp_path / "model")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("softparse", config={"model": str(tmp_path / "model"), "sentences": "doc"})
    pipeline.to_disk(tmp_path / "pipeline")
    content = pipeline.to_bytes()
    expected = pipeline(TEXT)
    shutil.rmtree(tmp_path / "model")  # what is saved needs nothing else
    loaded = spacy.load(tmp_path / "pipeline")
    assert same(loaded(TEXT), expected)
    assert softparse.load(tmp_path / "pipeline" / "softparse").parse([["the", "dog"]])
    fresh = spacy.blank("en")
    fresh.add_pipe("softparse", config={"model": str(tmp_path / "model"), "sentences": "doc"})
    assert same(fresh.from_bytes(content)(TEXT), expected)
    copy = pickle.loads(pickle.dumps(loaded.get_pipe("softparse")))
    assert same(copy(loaded.make_doc(TEXT)), expected)
    loaded.to_disk(tmp_path / "pipeline")  # over itself
    assert same(spacy.load(tmp_path / "pipeline")(TEXT), expected)


SEVERAL = """
import sys, spacy, torch
torch.set_num_threads(2)
nlp = spacy.blank("en")
nlp.add_pipe("softparse", config={"model": sys.argv[1]})
texts = [sys.argv[2] * 20] * 30
alone = [doc.to_json() for doc in nlp.pipe(texts)]
assert [doc.to_json() for doc in nlp.pipe(texts, n_process=2, batch_size=5)] == alone
"""


def test_several_processes_after_threads_were_used(model):
    """Threads do not survive a fork; whoever waits for them waits for ever."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", SEVERAL, str(model), TEXT + " "]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert result.returncode == 0, result.stderr


UNUSED = """
import sys, spacy, torch
torch.set_num_threads(2)
(torch.rand(2_000_000) + 1).sum()  # by somebody else: the component has not been used when the processes begin
nlp = spacy.blank("en")
nlp.add_pipe("softparse", config={"model": sys.argv[1]})
assert len(list(nlp.pipe([sys.argv[2]] * 8, n_process=2))) == 8
"""


def test_several_processes_before_the_component_was_used(model):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-c", UNUSED, str(model), TEXT]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert result.returncode == 0, result.stderr


def test_sentences_that_never_end(nlp):
    doc = nlp(Doc(nlp.vocab, words=["dog"] * 1203))
    assert [len(sent) for sent in doc.sents] == [500, 500, 203]
    given = Doc(nlp.vocab, words=["dog"] * 600, sent_starts=[True] + [False] * 599)
    assert len(list(nlp(given).sents)) == 1  # what others have said holds
    given = Doc(nlp.vocab, words=["dog"] * 600, sent_starts=[True] + [False] * 549 + [None] + [False] * 49)
    assert [len(sent) for sent in nlp(given).sents] == [550, 50]


def test_one_documents_trouble_is_not_that_of_the_others(model, monkeypatch):
    pipeline = spacy.blank("en")
    component = pipeline.add_pipe("softparse", config={"model": str(model)})
    parse = component.parser.pipe

    def failing(sentences, **options):
        sentences = list(sentences)
        if any("trouble" in words for words in sentences):
            raise MemoryError("too much")
        return parse(sentences, **options)

    monkeypatch.setattr(component.parser, "pipe", failing)
    failed = []
    component.set_error_handler(lambda name, component, docs, error: failed.extend(docs))
    docs = list(pipeline.pipe(["the dog .", "trouble .", "a cat ."]))
    assert [doc.text for doc in docs] == ["the dog .", "a cat ."]
    assert [doc.text for doc in failed] == ["trouble ."]


def test_errors(model):
    pipeline = spacy.blank("en")
    with pytest.raises(ValueError, match="sentences must be one of rules, given, doc, got 'all'"):
        pipeline.add_pipe("softparse", config={"sentences": "all"})
    with pytest.raises(ValueError, match="method must be one of eisner, mbr, nonprojective, got 'best'"):
        pipeline.add_pipe("softparse", config={"method": "best"})
    pipeline.add_pipe("softparse")
    with pytest.raises(ValueError, match=r'no model; name the folder of one: .*"model": "MODEL"'):
        pipeline(TEXT)
    pipeline.remove_pipe("softparse")
    pipeline.add_pipe("softparse", config={"model": "nowhere"})
    with pytest.raises(ValueError, match="there is no such model folder"):
        pipeline(TEXT)
    with pytest.raises(ValueError, match="there is no such model folder"):
        pipeline.initialize()
    import srsly

    for content in (["config.json"], {"../config.json": b""}):
        with pytest.raises(ValueError, match="not a softparse model"):
            pipeline.get_pipe("softparse").from_bytes(srsly.msgpack_dumps(content))
