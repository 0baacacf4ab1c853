"""Plain text from a model's folder: tokenizers trained on trees, parsing and learning from text as people write it."""

import gzip
import io
import json
import logging
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from starlette.testclient import TestClient
from udtools import udeval

from softparse import load
from softparse.cli import main
from softparse.corpus.conllu import read, read_conllu
from softparse.corpus.problems import CorpusError
from softparse.corpus.rule_tokenizer import RuleTokenizer
from softparse.corpus.sentence import Sentence
from softparse.corpus.spacing import running_text
from softparse.ext import tokenizing
from softparse.ext.serve.application import create_app
from softparse.ext.tokenizing import TrainedTokenizer, UDPipeMaker, tokenizer_of
from softparse.learning import state, tokenizers
from softparse.learning.config import configure
from softparse.learning.loop import Interrupted
from softparse.learning.observer import Observer
from softparse.learning.training import train
from tests.conftest import SMALL
from tests.corpus.test_plain_text import TEXTS, check
from tests.learning.runs import StopAt, weights
from tests.running import treebank

QUICK = (*SMALL, "train.learning_rate=0.01", "tokenizer.epochs=1")
RAW = ("objective.labelled=0", "objective.raw=0", "objective.teacher=1", "objective.teacher_from=1")


def run(*arguments, input=None, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def sentences(text):
    return list(read_conllu(io.BytesIO(text.encode())))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Trees with and without spaces, the text of the dev trees, and a model trained on the command line."""
    folder = tmp_path_factory.mktemp("running")
    (folder / "train.conllu").write_text(treebank(150, seed=1))
    (folder / "dev.conllu").write_text(treebank(40, seed=2))
    (folder / "dev.txt").write_text(running_text(read(folder / "dev.conllu")))
    (folder / "bare.conllu").write_text(treebank(20, seed=3, spaces="nowhere"))
    options = [item for assignment in (*QUICK, "train.epochs=15") for item in ("--set", assignment)]
    run("train", "--train", folder / "train.conllu", "--dev", folder / "dev.conllu", "-o", folder / "model", *options)
    return folder


@pytest.fixture(scope="module")
def tokenizer(folder):
    found = tokenizer_of(folder / "model")
    assert isinstance(found, TrainedTokenizer)
    return found


class Told(Observer):
    def __init__(self):
        self.messages = []

    def warn(self, message):
        self.messages.append(message)


def configuration(folder, output="", *more, trees="train.conllu", **data):
    files = {"train": [str(folder / trees)], "dev": [str(folder / "dev.conllu")], "output": str(output)}
    return configure(assignments=[*QUICK, "train.epochs=2", *more], data=files | data)


def official(gold, found):
    scores = udeval.evaluate(*(udeval.load_conllu(io.StringIO(text), "", {}) for text in (gold, found)))
    return {name: 100 * scores[name].f1 for name in ("Tokens", "Words", "Sentences", "UAS", "LAS")}


def test_text_to_trees_as_the_official_scorer_sees_it(folder):
    gold = (folder / "dev.conllu").read_text()
    parsed = run("parse", folder / "model", "--text", folder / "dev.txt").stdout
    scores = official(gold, parsed)
    assert scores["Words"] > 99
    assert scores["Tokens"] > 99
    assert scores["Sentences"] > 95
    assert scores["LAS"] > 85
    assert parsed.count("'a\t") > 3  # multiword tokens
    by_rules = [s.with_tree([0] + [1] * (len(s) - 1), ["root"] + ["dep"] * (len(s) - 1))
                for s in RuleTokenizer().sentences((folder / "dev.txt").read_text())]  # fmt: skip
    assert official(gold, "".join(sentence.text() for sentence in by_rules))["Words"] < scores["Words"]


def test_the_official_validator_misses_nothing_but_tags(folder, tmp_path):
    text = "It's “new”:\u00a0see http://x.org (或：你好。) #1 _ 😀!\r\n\r\n\tNo\u2028end\x0b\x85…\n"
    (tmp_path / "t.txt").write_text((folder / "dev.txt").read_text() + "\n\n" + text, newline="")
    run("parse", folder / "model", "--text", tmp_path / "t.txt", "-o", tmp_path / "out.conllu")
    options = ["--lang", "ud", "--level", "2", "--exclude", "unknown-upos", "--", str(tmp_path / "out.conllu")]
    result = subprocess.run([sys.executable, "-m", "udtools.cli", *options], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_parse_text_in_all_ways(folder, tmp_path):
    model, text = folder / "model", (folder / "dev.txt").read_text()
    plain = run("parse", model, "--text", folder / "dev.txt").stdout
    assert plain.startswith(f"# newdoc id = {folder / 'dev.txt'}\n# newpar\n# sent_id = 1\n# text = ")
    with gzip.open(tmp_path / "dev.txt.gz", "wt") as file:
        file.write(text)
    run("parse", model, "--text", tmp_path / "dev.txt.gz", "-o", tmp_path / "out.conllu.gz")
    packed = gzip.decompress((tmp_path / "out.conllu.gz").read_bytes()).decode()
    assert packed.splitlines()[1:] == plain.splitlines()[1:]
    piped = run("parse", model, "--text", "-", "--workers", 2, input=text).stdout
    assert piped.splitlines()[1:] == plain.splitlines()[1:]
    twice = sentences(run("parse", model, "--text", "-", tmp_path / "dev.txt.gz", input=text).stdout)
    assert [s.sent_id for s in twice] == [str(number) for number in range(1, len(twice) + 1)]
    ranked = run(
        "parse", model, "--text", "-", "--kbest", 2, "--confidence", input="The dog sees'a cat. A tree."
    ).stdout
    assert ranked.count("# rank = 2") == len(sentences(ranked)) / 2
    assert "SpaceAfter=No|ArcProbability=" in ranked
    assert "3-4\tsees'a\t_\t_\t_\t_\t_\t_\t_\t_\n3\tsees\t" in ranked
    assert "no text in it" in run("parse", model, "--text", "-", input=" \n", code=1).output
    assert "give one" in run("parse", model, "--text", "--format", "conllu", "-", input="", code=2).output


def test_a_server_cuts_text_as_the_treebank_does(folder):
    text = "The dog sees'a cat. A tree."
    with TestClient(create_app(load(folder / "model"), tokenizer_of(folder / "model"))) as client:
        answer = client.post("/parse", json={"text": text}, headers={"Accept": "text/x-conllu"})
    assert "3-4\tsees'a\t_\t_\t_\t_\t_\t_\t_\t_\n3\tsees\t" in answer.text
    here = sentences(run("parse", folder / "model", "--text", "-", input=text).stdout)
    assert [(s.words, s.heads) for s in sentences(answer.text)] == [(s.words, s.heads) for s in here]


def test_info_says_which_tokenizer(folder, model, monkeypatch):
    assert "by a tokenizer trained on the trees." in run("info", folder / "model").stdout
    assert json.loads(run("info", "--json", model).stdout)["plain_text"] == "by rules for all languages"
    monkeypatch.setattr(tokenizing, "_udpipe", _missing)
    assert "run: pip install 'softparse[text]')" in run("info", folder / "model").stdout


def _missing():
    raise ImportError("No module named 'ufal'")


def test_a_tokenizer_needs_enough_text_with_spaces(capsys):
    """However much there is that does not say where they are."""
    rows = b"1\tHello\t_\t_\t_\t_\t0\troot\t_\tSpaceAfter=No\n2\t.\t_\t_\t_\t_\t1\tpunct\t_\t_\n\n"
    some = list(read_conllu(io.BytesIO(rows * 30), "some.conllu"))
    many = [Sentence.from_words(["words", "without", "spaces"])] * 500
    assert UDPipeMaker().train([*many, *some], 1, print) is None
    assert "too little text" in capsys.readouterr().out


def test_without_udpipe_rules_do_it_and_it_is_told(folder, monkeypatch, caplog):
    monkeypatch.setattr(tokenizing, "_udpipe", _missing)
    with caplog.at_level(logging.WARNING):
        assert isinstance(tokenizer_of(folder / "model"), RuleTokenizer)
    assert caplog.messages[0].endswith("run: pip install 'softparse[text]'")
    assert UDPipeMaker().train(list(read(folder / "train.conllu")), 1, print) is None


def test_a_model_without_tokenizer_goes_by_rules(model, caplog):
    assert isinstance(tokenizer_of(model), RuleTokenizer)
    assert not caplog.messages
    found = sentences(run("parse", model, "--text", "-", input="the dog (a cat) walks.").stdout)
    assert found[0].words == ["the", "dog", "(", "a", "cat", ")", "walks", "."]


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_tokenizer_is_refused(folder, tmp_path, damage):
    shutil.copytree(folder / "model", tmp_path / "model")
    path = tmp_path / "model" / tokenizers.TOKENIZER
    path.write_bytes(path.read_bytes()[:5000] if damage is None else damage)
    with pytest.raises(CorpusError, match="damaged, or not a tokenizer; delete it to tokenise by rules"):
        tokenizer_of(tmp_path / "model")
    assert "damaged" in run("parse", tmp_path / "model", "--text", "-", input="the dog", code=1).output


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_no_character_gets_lost(tokenizer, text):
    check(tokenizer, text)


def test_blank_lines_end_sentences(tokenizer):
    words = [sentence.words for sentence in tokenizer.sentences("The dog\n\nsees'a cat\r\n\r\nA tree")]
    assert words == [["The", "dog"], ["sees", "a", "cat"], ["A", "tree"]]


def test_threads_do_not_disturb_each_other(tokenizer):
    texts = ["The dog sees'a cat. A tree walks the river." * number for number in range(1, 30)] * 8
    wanted = [[sentence.text() for sentence in tokenizer.sentences(text)] for text in texts]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda text: [s.text() for s in tokenizer.sentences(text)], texts))
    finally:
        sys.setswitchinterval(interval)
    assert found == wanted


def test_the_same_trees_give_the_same_tokenizer_wherever_their_spaces_are_said(folder):
    as_text = sentences(treebank(150, seed=1, spaces="text"))
    assert UDPipeMaker().train(as_text, 1, print) == (folder / "model" / tokenizers.TOKENIZER).read_bytes()


def test_trees_that_say_nothing_about_spaces(folder, tmp_path):
    told = Told()
    train(configuration(folder, tmp_path / "m", trees="bare.conllu"), observer=told, tokenizers=UDPipeMaker())
    assert any("neither SpaceAfter=No nor # text" in message for message in told.messages)
    assert not (tmp_path / "m" / tokenizers.TOKENIZER).exists()
    assert (tmp_path / "m" / "config.json").exists()
    told = Told()
    off = configuration(folder, tmp_path / "off", "tokenizer.train=false", "train.epochs=1")
    train(off, observer=told, tokenizers=UDPipeMaker())
    assert not (tmp_path / "off" / tokenizers.TOKENIZER).exists()
    assert not told.messages
    start = configuration(folder, tmp_path / "n", trees="bare.conllu", init=str(folder / "model"))
    train(start, tokenizers=UDPipeMaker())  # the tokenizer of the model that it starts from
    assert tokenizer_of(tmp_path / "n").content == tokenizer_of(folder / "model").content


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("MOST_SECONDS", 0.01, "it took more than 0.01 seconds"), ("OPTIONS", "batch_size=no", "UDPipe: ")],
)
def test_a_tokenizer_that_fails_never_costs_the_parser(folder, tmp_path, monkeypatch, name, value, reason):
    monkeypatch.setattr(tokenizing, name, value)
    told = Told()
    train(configuration(folder, tmp_path / "m", "train.epochs=1"), observer=told, tokenizers=UDPipeMaker())
    assert f"no tokenizer was trained ({reason}" in told.messages[0]
    assert (tmp_path / "m" / "config.json").exists()
    assert not (tmp_path / "m" / tokenizers.TOKENIZER).exists()


class Copying(UDPipeMaker):
    """Does not train what has been trained."""

    def __init__(self, content):
        self.content, self.trained = content, 0

    def train(self, sentences, epochs, warn):
        self.trained += 1
        return self.content


def test_learning_from_running_text_resumes_to_the_same_model(folder, tmp_path):
    maker = Copying((folder / "model" / tokenizers.TOKENIZER).read_bytes())
    raw = {"raw": [str(folder / "dev.txt")], "raw_text": True}
    told = Told()
    parser = train(configuration(folder, tmp_path / "a", *RAW, **raw), observer=told, tokenizers=maker)
    assert parser.metrics["data"]["raw_sentences"] == 40
    assert parser.metrics["data"]["raw"] == [str(folder / "dev.txt")]
    assert any("running text, tokenised by a tokenizer trained on the trees" in message for message in told.messages)
    assert not state.place(tmp_path / "a").exists()

    config = configuration(folder, tmp_path / "b", *RAW, **raw)
    with pytest.raises(Interrupted):
        train(config, observer=StopAt(5), tokenizers=maker)
    kept = sorted(path.name for path in state.place(tmp_path / "b").iterdir())
    assert [name.partition("-")[0] for name in kept] == ["metrics.jsonl", "raw", "state.pt", "tokenizer"]
    before = maker.trained
    train(config, resume=True, tokenizers=maker)
    assert maker.trained == before
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    assert tokenizer_of(tmp_path / "b").content == maker.content
    with pytest.raises(CorpusError, match="No such file"):
        train(configuration(folder, tmp_path / "c", *RAW, raw=["none.txt"], raw_text=True), tokenizers=maker)
    assert not list(tmp_path.glob("c*"))


def test_self_training_on_running_text_without_a_maker(folder, tmp_path):
    raw = {"raw": [str(folder / "dev.txt"), str(folder / "dev.conllu")], "raw_text": True}
    for output in ("", tmp_path / "m"):
        told = Told()
        parser = train(configuration(folder, output, "method=self-training", **raw), observer=told)
        assert parser.metrics["data"]["parsed"] > 20
        assert f"{folder / 'dev.txt'}: running text, tokenised by rules for all languages" in told.messages
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_running_text_that_is_not_said_to_be_is_doubted(folder, tmp_path):
    (tmp_path / "raw.txt").write_text("The dog, the cat, and the tree: all sleep.\n" * 10)
    told = Told()
    train(configuration(folder, "", *RAW, "train.epochs=1", raw=[str(tmp_path / "raw.txt")]), observer=told)
    assert any("--set data.raw_text=true" in message for message in told.messages)


def test_two_processes(folder, tmp_path):
    options = [item for assignment in (*QUICK, *RAW, "train.epochs=1") for item in ("--set", assignment)]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, "-m", "softparse", "train", "--train", folder / "train.conllu", "--raw", folder / "dev.txt",
               "--set", "data.raw_text=true", "-o", tmp_path / "m", *options]  # fmt: skip
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("running text, tokenised by a tokenizer trained on the trees") == 1
    assert tokenizer_of(tmp_path / "m").content == tokenizer_of(folder / "model").content
    assert not list(tmp_path.glob("m.resume"))


def test_files_that_say_nothing_of_spaces_teach_nothing():
    """They would teach that there is a space everywhere."""
    said = Sentence.from_words(["It", "rains", "."], ["text = It rains."], path="a.conllu")
    also = Sentence.from_words(["It", "rains"], ["text = It rains"], path="a.conllu")
    silent = Sentence.from_words(["It", "rains", "."], ["text = It rains ."], path="b.conllu")
    assert tokenizing._with_known_spaces([silent, said, silent, also]) == [said, also]
