"""What is too large, too long, too slow or too much is refused with a reason, and harms nobody else."""

import asyncio
import json
import threading
import time

import pytest
from starlette.testclient import TestClient

from softparse.corpus.rule_tokenizer import RuleTokenizer
from softparse.corpus.sentence import Sentence
from softparse.ext.serve.application import create_app
from softparse.ext.serve.batching import Batcher
from softparse.ext.serve.guard import Guard
from softparse.ext.serve.limits import Limits, Refusal, in_time
from softparse.ext.serve.work import Alone, ParseTogether
from softparse.ext.tokenizing import tokenizer_of
from softparse.parser.bulk import Options
from tests.ext.serve.conftest import WORDS


def refused(answer, status, message):
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_a_large_body(limited):
    client = limited(body_bytes=1000)
    assert client.post("/parse", json={"tokens": [WORDS]}).status_code == 200
    refused(client.post("/parse", json={"text": "a " * 600}), 413, "1,000 bytes")
    pieces = (b" " * 100 for _ in range(11))  # without a Content-Length
    refused(client.post("/parse", content=pieces, headers={"Content-Type": "application/json"}), 413, "1,000 bytes")


def test_a_request_whose_loop_is_gone_does_not_end_the_thread(parser, model, monkeypatch):
    """Each request of this client has an event loop of its own."""
    client = TestClient(create_app(parser, tokenizer_of(model), "small", Limits(seconds=0.3)))
    parse = parser.parse
    monkeypatch.setattr(parser, "parse", lambda *given, **named: time.sleep(1) or parse(*given, **named))
    refused(client.post("/parse", json={"tokens": [WORDS]}), 503, "no answer within 0.3 s")
    time.sleep(1.2)
    monkeypatch.setattr(parser, "parse", parse)
    assert client.post("/parse", json={"tokens": [WORDS]}).status_code == 200


def test_a_failure_is_that_of_its_own_request(parser):
    """Together or alone: what is parsed with something that fails is parsed again without it."""

    class Failing:
        def parse(self, sentences, **options):
            if any("trouble" in sentence.words for sentence in sentences):
                raise ZeroDivisionError("trouble")
            return parser.parse(sentences, **options)

    requests = [[Sentence.from_words(words)] for words in (WORDS, ["trouble"], WORDS)]
    first, failed, last = ParseTogether(Failing(), Options())(requests)
    assert first == last
    assert isinstance(failed, ZeroDivisionError)


def test_long_sentences_and_many_words(limited):
    client = limited(sentence_words=10, request_words=30)
    refused(client.post("/parse", json={"tokens": [["a"], ["a"] * 11]}), 413, "sentence 2 has 11 words")
    refused(client.post("/explore", json={"tokens": ["a"] * 11}), 413, "sentence 1 has 11 words")
    refused(client.post("/parse", json={"tokens": [WORDS] * 5}), 413, "more than 34 words, but at most 30")
    refused(client.post("/parse", json={"tokens": [["a" * 10_001]]}), 413, "10,000 letters")
    message = "more than 20 words, but at most 15 are taken with 2 trees of each sentence"
    refused(client.post("/parse", json={"tokens": [WORDS] * 3, "kbest": 2}), 413, message)
    assert client.post("/parse", json={"tokens": [WORDS] * 4}).status_code == 200


def test_text_is_cut_no_further_than_it_is_taken(limited, monkeypatch):
    cut = []
    stream = RuleTokenizer.stream

    def watched(*arguments):
        for sentence in stream(*arguments):
            cut.append(sentence)
            yield sentence

    monkeypatch.setattr(RuleTokenizer, "stream", watched)
    client = limited(sentence_words=10, request_words=30)
    refused(client.post("/parse", json={"text": "The dog walks. " * 1000}), 413, "at most 30 are taken")
    assert len(cut) < 10
    refused(client.post("/explore", json={"text": "The dog walks. " * 1000}), 413, "at most 30 are taken")
    assert len(cut) < 20


def test_text_that_takes_long_to_cut(limited, monkeypatch):
    """It gets no answer, and others do meanwhile."""
    has_begun, is_over = threading.Event(), threading.Event()

    def endless(*arguments):
        has_begun.set()
        while not is_over.wait(0.01):
            yield Sentence.from_words(WORDS)
            assert time.monotonic() < end

    end = time.monotonic() + 20
    monkeypatch.setattr(RuleTokenizer, "stream", endless)
    client = limited(seconds=1.0, request_words=10**9)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(client.post("/parse", json={"text": "a b c"})))
    asking.start()
    assert has_begun.wait(10)
    assert client.post("/parse", json={"tokens": [WORDS]}).status_code == 200
    asking.join(15)
    is_over.set()
    refused(answers[0], 503, "no answer within 1 s")
    assert answers[0].headers["retry-after"] == "1"


def test_many_errors_are_told_by_the_first(client):
    started = time.perf_counter()
    refused(client.post("/parse", json={"tokens": [[""] * 19_000] * 10}), 422, "tokens.0.0: ")
    refused(client.post("/parse", json={"tokens": [["a"]] * 20_001}), 422, "at most 20000 items")
    assert time.perf_counter() - started < 5  # ten times as long with all of them


class Gate:
    """Work that waits to be let go on, and remembers what it was given."""

    def __init__(self):
        self.opened, self.entered, self.batches = threading.Event(), threading.Event(), []

    def __call__(self, items):
        self.batches.append(list(items))
        self.entered.set()
        assert self.opened.wait(10)
        return [item * 10 for item in items]


def test_requests_that_wait_go_together():
    async def scene():
        gate, batcher = Gate(), Batcher(Limits(batch=3))
        first = asyncio.create_task(batcher.run(gate, 1, 5))
        await asyncio.to_thread(gate.entered.wait, 10)
        others = [asyncio.create_task(batcher.run(gate, number, 5)) for number in range(2, 7)]
        await asyncio.sleep(0)
        gate.opened.set()
        assert await asyncio.gather(first, *others) == [10, 20, 30, 40, 50, 60]
        assert gate.batches == [[1], [2, 3, 4], [5, 6]]
        await asyncio.to_thread(batcher.close)
        with pytest.raises(Refusal, match="being stopped"):
            await batcher.run(gate, 1, 5)

    asyncio.run(scene())


def test_what_is_asked_alone_is_answered_as_soon_as_it_is_done():
    """The first of several does not wait for the last, and nothing is done for whoever has left."""

    async def scene():
        done, batcher = [], Batcher(Limits())

        def slow(item):
            time.sleep(0.1)
            done.append(item)
            return item

        tasks = [asyncio.create_task(batcher.run(Alone(slow), number, 1)) for number in range(5)]
        assert await tasks[0] == 0
        assert len(done) <= 2
        for task in tasks[3:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(batcher.close)
        assert done == [0, 1, 2]

    asyncio.run(scene())


def test_too_much_waiting_and_too_long_a_wait():
    async def scene():
        gate, batcher = Gate(), Batcher(Limits(waiting_words=10, seconds=0.3))

        async def answer(*job):
            async with in_time(batcher.limits):
                return await batcher.run(gate, *job)

        first = asyncio.create_task(answer(1, 5))
        await asyncio.to_thread(gate.entered.wait, 10)
        second = asyncio.create_task(answer(2, 8))
        await asyncio.sleep(0)
        with pytest.raises(Refusal, match="8 words are waiting") as caught:
            await batcher.run(gate, 3, 5)
        assert caught.value.status == 503
        assert "Retry-After" in caught.value.headers
        for task in (first, second):
            with pytest.raises(Refusal, match="no answer within"):
                await task
        gate.opened.set()
        gate.entered.clear()
        assert await batcher.run(gate, 4, 9) == 40  # room again, and the one that nobody waits for is left out
        assert gate.batches == [[1], [4]]
        await asyncio.to_thread(batcher.close)

    asyncio.run(scene())


def test_closing_finishes_what_was_accepted():
    async def scene():
        gate, batcher = Gate(), Batcher(Limits(batch=1))
        tasks = [asyncio.create_task(batcher.run(gate, number, 1)) for number in range(5)]
        await asyncio.to_thread(gate.entered.wait, 10)
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        await asyncio.sleep(0.05)
        gate.opened.set()
        assert await asyncio.gather(*tasks) == [0, 10, 20, 30, 40]
        await closing

    asyncio.run(scene())


def test_a_failing_batch_is_not_the_end():
    def fails(items):
        raise RuntimeError("broken")

    async def scene():
        batcher = Batcher(Limits())
        with pytest.raises(RuntimeError, match="broken"):
            await batcher.run(fails, 1, 1)
        assert await batcher.run(sorted, 1, 1) == 1
        await asyncio.to_thread(batcher.close)

    asyncio.run(scene())


def test_an_impossible_request_harms_no_other(parser):
    from softparse.ext.serve.work import ParseTogether
    from softparse.parser import Restricted
    from softparse.parser.bulk import Options

    impossible = Restricted(WORDS, required={1: 0, 2: 0})
    first, second, third = ParseTogether(parser, Options())([[WORDS], [WORDS, impossible], [WORDS, WORDS]])
    assert [parse.heads for parse in (*first, *third)] == [[2, 3, 0, 6, 6, 3, 3]] * 3
    assert isinstance(second, Refusal)
    assert second.status == 422
    assert second.message.startswith("sentence 2: no single-rooted projective tree has the required arcs")


def ask_guard(guard, messages, headers=(), path="/parse"):
    """Answer of the guard to a request whose body comes in these messages."""
    sent = []

    async def scene():
        rest = iter(messages)

        async def receive():
            await asyncio.sleep(0)
            message = next(rest, None)
            if message is None:
                await asyncio.sleep(60)
            return message

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [(b"content-type", b"application/json"), *headers],
        }
        await guard(scope, receive, send)

    asyncio.run(scene())
    return sent[0]["status"], json.loads(sent[1]["body"])["error"], dict(sent[0]["headers"])


def test_a_slow_body():
    guard = Guard(None, Limits(seconds=0.1))
    started = time.perf_counter()
    status, message, headers = ask_guard(guard, [{"type": "http.request", "body": b"{", "more_body": True}])
    assert (status, headers[b"connection"]) == (408, b"close")
    assert "did not come within 0.1 s" in message
    assert time.perf_counter() - started < 5
    assert guard.requests == 0


def test_too_many_requests():
    guard = Guard(None, Limits(requests=2))
    guard.requests = 2
    status, message, headers = ask_guard(guard, [])
    assert (status, headers[b"retry-after"]) == (503, b"1")
    assert "2 requests are being answered" in message


def test_the_rest_of_a_large_body_is_read():
    """Whoever sends it hears the answer only then."""
    left = [{"type": "http.request", "body": b"12345", "more_body": number < 5} for number in range(6)]
    rest = iter(left)
    assert ask_guard(Guard(None, Limits(body_bytes=10)), rest)[0] == 413
    assert next(rest, None) is None


def test_the_rest_of_a_large_body_that_trickles():
    def trickle():
        for letter in b"1" * 900:
            time.sleep(0.01)
            yield {"type": "http.request", "body": bytes([letter]), "more_body": True}

    started = time.perf_counter()
    assert ask_guard(Guard(None, Limits(body_bytes=10, seconds=0.2)), trickle())[0] == 413
    assert time.perf_counter() - started < 5


def test_a_length_that_is_a_lie():
    guard = Guard(None, Limits(body_bytes=10))
    for length in (b"99999999999999999999999999", b"11"):
        assert ask_guard(guard, [], [(b"content-length", length)])[0] == 413
    messages = [{"type": "http.request", "body": b"a" * 6, "more_body": True}] * 2
    assert ask_guard(guard, messages, [(b"content-length", b"6")])[0] == 413
