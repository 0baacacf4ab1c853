"""The API: what comes in, what goes out, and what is said about mistakes."""

import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from softparse.corpus.conllu import read_conllu
from softparse.ext.serve.api_page import api_page
from softparse.ext.serve.application import create_app
from softparse.ext.serve.limits import Limits
from softparse.ext.tokenizing import tokenizer_of
from tests.ext.serve.conftest import WORDS

SENTENCE = {"tokens": [WORDS]}
RANGE = (
    "# sent_id = a\n# text = the dogsees\n1\tthe\t_\t_\t_\t_\t_\t_\t_\tNote=1\n2-3\tdogsees\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tdog\tL\tN\t_\t_\t_\t_\t_\t_\n3\tsees\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)


def test_tokens(client):
    answer = client.post("/parse", json=SENTENCE)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "sentences": [
            {
                "words": WORDS,
                "heads": [2, 3, 0, 6, 6, 3, 3],
                "labels": ["det", "nsubj", "root", "det", "amod", "obj", "punct"],
            }
        ]
    }


def test_text_is_cut(client):
    answer = client.post("/parse", json={"text": "the dog sees a big cat. A child walks!\n"}).json()
    assert [sentence["words"] for sentence in answer["sentences"]] == [WORDS, ["A", "child", "walks", "!"]]
    written = client.post("/parse", json={"text": "the dog sees a big cat."}, headers={"Accept": "text/x-conllu"}).text
    assert "# text = the dog sees a big cat.\n" in written
    assert "\tSpaceAfter=No\n7\t.\t" in written


def test_the_example_of_the_page(client):
    page = Path(__file__).parents[3] / "docs" / "server.md"
    (body,) = re.findall(r"^curl .*?-d '(.*?)'$", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    (sentence,) = client.post("/parse", content=body, headers={"Content-Type": "application/json"}).json()["sentences"]
    assert sentence["words"] == ["They", "walk", "the", "dog", "."]
    assert len(sentence["others"]) == 2
    assert len(sentence["probabilities"]) == len(sentence["label_probabilities"]) == 5


@pytest.mark.parametrize("empty", [{"text": " \n"}, {"tokens": []}, {"conllu": ""}])
def test_nothing(client, empty):
    assert client.post("/parse", json=empty).json() == {"sentences": []}


def test_conllu_comes_out_as_the_command_writes_it(client, treebanks, parser):
    """Byte for byte but for the trees, with what confidence and k best trees add."""
    from softparse.parser.bulk import Options, parsed_texts

    text = (treebanks / "dev.conllu").read_text(encoding="utf-8") + RANGE
    for options in ({}, {"confidence": True}, {"kbest": 3, "confidence": True}):
        answer = client.post("/parse", json={"conllu": text, **options}, headers={"Accept": "text/x-conllu"})
        assert answer.headers["content-type"].startswith("text/x-conllu")
        sentences = read_conllu(text.encode().splitlines(keepends=True))
        assert answer.content == b"".join(parsed_texts(parser, sentences, Options(**options)))
        assert "2-3\tdogsees\t" in answer.text


def test_confidence_and_kbest(client):
    (sentence,) = client.post("/parse", json={**SENTENCE, "confidence": True, "kbest": 4}).json()["sentences"]
    trees = [sentence, *sentence["others"]]
    chances = [tree["probability"] for tree in trees]
    assert len(trees) == 4
    assert chances == sorted(chances, reverse=True)
    assert math.fsum(chances) <= 1 + 1e-6
    assert all(0 <= chance <= 1 for tree in trees for chance in tree["probabilities"])


def test_constraints(client):
    body = {"tokens": [WORDS, WORDS], "constraints": [{"sentence": 2, "word": 4, "head": 3}]}
    first, second = client.post("/parse", json=body).json()["sentences"]
    assert (first["heads"][3], second["heads"][3]) == (6, 3)
    body["constraints"][0]["kind"] = "forbid"
    body["constraints"][0]["head"] = 6
    first, second = client.post("/parse", json=body).json()["sentences"]
    assert first["heads"][3] == 6 != second["heads"][3]


def test_heads_that_are_there(client):
    text = RANGE.replace("1\tthe\t_\t_\t_\t_\t_", "1\tthe\t_\t_\t_\t_\t3")
    for complete, head in ((True, 3), (False, 2)):
        (sentence,) = client.post("/parse", json={"conllu": text, "complete": complete}).json()["sentences"]
        assert sentence["heads"][0] == head
        assert sentence["sent_id"] == "a"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "application/json"), ("*/*", "application/json"), ("text/html, */*;q=0.1", "application/json"),
        ("text/plain", "text/x-conllu"), ("application/json;q=0.2, text/x-conllu", "text/x-conllu"),
        ("text/x-conllu;q=0, application/json;q=0.1", "application/json"),
    ],
)  # fmt: skip
def test_accept(client, accept, kind):
    assert client.post("/parse", json=SENTENCE, headers={"Accept": accept}).headers["content-type"].startswith(kind)


WRONG = [
    (422, {}, "exactly one of text, tokens, conllu"),
    (422, {"text": "a", "tokens": [["a"]]}, "not text and tokens together"),
    (422, {"text": None}, "text: Input should be a valid string"),
    (422, {"text": "a", "kbest": 0}, "kbest: Input should be greater than or equal to 1"),
    (422, {"text": "a", "kbest": 21}, "kbest: Input should be less than or equal to 20"),
    (422, {"text": "a", "kbset": 2}, "kbset: Extra inputs are not permitted"),
    (422, {"text": "a", "confidence": "yes"}, "confidence: Input should be a valid boolean"),
    (422, {"tokens": [["a"], []]}, "sentence 2 of tokens has no words"),
    (422, {"tokens": [["a\nb"]]}, "neither tabs nor ends of lines"),
    (422, {"tokens": [[" "]]}, "a token must have a letter"),
    (422, {"tokens": [[""]]}, "tokens.0.0"),
    (422, {"conllu": "a b\n"}, "(plain text goes into the field text)"),
    (422, {"conllu": "1\ta\n"}, "conllu:1: 2 columns, but CoNLL-U has 10"),
    (422, {"conllu": RANGE.replace("\t_\t_\t_\tNote", "\t9\t_\t_\tNote"), "complete": True}, "HEAD"),
    (422, {**SENTENCE, "constraints": [{"word": 8, "head": 1}]}, "sentence 1: there is no arc from 1 to 8"),
    (422, {**SENTENCE, "constraints": [{"word": 1, "head": 1}]}, "no word is its own head"),
    (422, {**SENTENCE, "constraints": [{"word": 1, "head": 2, "sentence": 2}]}, "sentence 2, but there are 1"),
    (422, {**SENTENCE, "constraints": [{"word": 1, "head": 2}, {"word": 1, "head": 3}]}, "two heads, 2 and 3"),
    (422, {**SENTENCE, "constraints": [{"word": 1, "head": 0}, {"word": 2, "head": 0}]}, "no single-rooted projective"),
]


@pytest.mark.parametrize(("status", "body", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_mistakes_are_explained(client, status, body, message):
    answer = client.post("/parse", json=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("status", "content", "kind"),
    [
        (400, b"{", "application/json"), (400, b"\xff", "application/json"), (422, b"[]", "application/json"),
        (422, b'{"text": "\\ud800"}', "application/json"), (422, b'{"tokens": [["\\udfff"]]}', "application/json"),
        (422, b'{"pasted": "\\ud800"}', "application/json"), (400, b'{"a":' + b"[" * 200_000, "application/json"),
        (400, b'{"kbest": ' + b"9" * 10_000 + b', "text": "a"}', "application/json"),
        (422, b"", "application/json"), (415, b"text", "text/plain"), (415, b"text=a", ""),
    ],
)  # fmt: skip
def test_bodies_that_are_no_requests(client, status, content, kind):
    for path in ("/parse", "/sentences", "/explore", "/draw"):
        answer = client.post(path, content=content, headers={"Content-Type": kind})
        assert answer.status_code == status, (path, answer.text)
        assert answer.json()["error"]


def test_other_refusals(client):
    assert client.post("/parse", json=SENTENCE, headers={"Accept": "image/png"}).status_code == 406
    assert client.get("/nothing").json() == {"error": "Not Found"}
    assert client.get("/parse").status_code == 405


def test_health_and_info(client, parser):
    assert client.get("/health").json() == {"status": "ok", "requests": 1}
    info = client.get("/info").json()
    assert info["model"] == "small"
    assert info["dev"]["las"] == pytest.approx(parser.metrics["best"]["dev"]["las"])
    assert info["limits"]["sentence_words"] == 200
    assert "det" in info["labels"]
    assert not any("↑" in label for label in info["labels"])


def test_sentences_of_what_is_pasted(client):
    cut = client.post("/sentences", json={"pasted": "the dog sees. A cat walks."}).json()["sentences"]
    assert [sentence["text"] for sentence in cut] == ["the dog sees.", "A cat walks."]
    (only,) = client.post("/sentences", json={"pasted": RANGE}).json()["sentences"]
    assert only == {"conllu": RANGE, "text": "the dogsees", "direction": "ltr"}
    (hebrew,) = client.post("/sentences", json={"pasted": "הכלב רץ"}).json()["sentences"]
    assert hebrew["direction"] == "rtl"


def test_very_long_words_are_named_by_their_beginning(client):
    answer = client.post("/explore", json={"tokens": ["a" * 9000, *WORDS], "kbest": 5})
    assert answer.json()["words"][0] == "a" * 9000
    assert len(answer.content) < 200_000  # it is in the words, the table, the CoNLL-U and the LaTeX
    assert "a" * 61 not in answer.json()["tree"] + answer.json()["heat"]


def test_explore(client):
    constraints = [{"word": 4, "head": 3}, {"word": 7, "head": 3, "kind": "forbid"}]
    answer = client.post("/explore", json={"tokens": WORDS, "constraints": constraints, "kbest": 3}).json()
    assert answer["words"] == WORDS
    assert len(answer["kbest"]) == 3
    assert answer["kbest"][0]["probability"] == pytest.approx(answer["probability"])
    assert answer["candidates"][3] == [{"head": 3, "form": "sees", "probability": pytest.approx(1)}]
    assert 3 not in [candidate["head"] for candidate in answer["candidates"][6]]
    for candidates in answer["candidates"]:
        assert 0.9 < sum(candidate["probability"] for candidate in candidates) <= 1 + 1e-5
    tree = ElementTree.fromstring(answer["tree"])
    arcs = {(arc.get("data-head"), arc.get("data-word")) for arc in tree.iter() if arc.get("data-head")}
    assert ("3", "4") in arcs
    assert ("3", "7") not in arcs
    (required,) = [element for element in tree.iter() if element.get("class") == "required"]
    assert required.get("data-word") == "4"
    (sentence,) = read_conllu(answer["conllu"].encode().splitlines(keepends=True))
    assert sentence.heads[3] == 3
    assert "ArcProbability=" in answer["conllu"]
    assert r"\depedge" in answer["latex"]
    assert "button" not in answer["svg"]


def test_one_sentence_is_explored(client):
    answer = client.post("/explore", json={"conllu": RANGE * 2})
    assert answer.status_code == 422
    assert "one sentence is wanted here, not 2" in answer.json()["error"]


def test_draw_hardens(client):
    """The same seed gives the same noise: as the temperature falls the relaxed tree becomes the hard one."""

    def weights(picture):
        return sorted(
            float(group.get("opacity")) for group in ElementTree.fromstring(picture).iter() if group.get("opacity")
        )

    answers = [
        client.post("/draw", json={"tokens": WORDS, "temperature": temperature, "seed": 3}).json()
        for temperature in (10, 1, 0.01)
    ]
    softest, middle, hardest = (weights(answer["relaxed"]) for answer in answers)
    firmness = [sum(weight**2 for weight in tree) for tree in (softest, middle, hardest)]
    assert firmness[0] < firmness[1] - 0.1 < firmness[2]
    assert [weight for weight in hardest if weight > 0.5] == pytest.approx([1] * len(WORDS), abs=0.02)
    assert len({answer["hard"] for answer in answers}) == 1
    assert weights(answers[0]["hard"]) == [1] * len(WORDS)
    assert answers[0]["samples"] == answers[2]["samples"]
    other = client.post("/draw", json={"tokens": WORDS, "temperature": 10, "seed": 4}).json()
    assert other["relaxed"] != answers[0]["relaxed"]


def test_exact_samples_are_of_the_distribution(client, parser):
    """A sample's probability is that of its tree, and constraints hold for all of them."""
    body = {"tokens": WORDS, "constraints": [{"word": 1, "head": 3}], "samples": 8}
    samples = client.post("/draw", json=body).json()["samples"]
    assert len(samples) == 8
    for sample in samples:
        assert "<title>3 → 1: 1.000</title>" in sample["picture"]
        assert 0 < sample["probability"] <= 1


def test_the_page_of_the_api_names_everything(client):
    page = client.get("/docs").text
    description = client.get("/openapi.json").json()
    for path in description["paths"]:
        assert f" {path}</code>" in page
    for name in description["components"]["schemas"]["ParseRequest"]["properties"]:
        assert f"<code>{name}</code>" in page
    assert "http://" not in page.replace("http://127.0.0.1:8000", "")
    assert "https://" not in page
    assert api_page(description) == page


@pytest.mark.parametrize("path", ["/", "/page.css", "/page.js", "/icon.svg", "/docs"])
def test_assets_need_no_internet(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    foreign = answer.text.replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1:8000", "")
    assert not re.search(r"https?:|(src|href)=.?//|@import|url\(", foreign)


def test_heads(client):
    for path in ("/", "/health", "/page.js"):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_part_of_another_application(parser, model):
    outer = FastAPI()
    outer.mount("/parser", create_app(parser, tokenizer_of(model), "small", Limits(requests=0)))
    with TestClient(outer) as client:
        assert client.get("/parser/health").status_code == 200  # also when there is too much to do
        assert client.get("/parser/info").status_code == 503
    outer.mount("/other", create_app(parser, tokenizer_of(model)))
    with TestClient(outer) as client:
        for page in ("/other/", "/other/docs"):
            links = re.findall(r'(?:href|src)="([^"#]+)"', client.get(page).text)
            assert "page.css" in links
            for link in links:
                assert client.get(urljoin(f"http://testserver{page}", link)).status_code == 200, link


def test_scores_that_are_no_numbers(parser, model, monkeypatch):
    monkeypatch.setattr(parser, "metrics", {"best": {"dev": {"las": math.nan, "uas": 80.0}}})
    assert TestClient(create_app(parser, tokenizer_of(model))).get("/info").json()["dev"] == {"uas": 80.0}
