"""A server in a process of its own: many clients at once, and an end that loses nothing."""

import contextlib
import json
import random
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from click.testing import CliRunner

from softparse.cli import main
from tests.ext.serve.conftest import WORDS, Server
from tests.grammar import sentence as random_sentence

CLIENTS = 64


def test_many_clients_get_their_own_answers(server, parser):
    """64 clients at once, several requests each: every answer is that of its own question."""
    generator = random.Random(5)
    questions = [[word for word, _, _ in random_sentence(generator)] + [f"x{number}"] for number in range(6 * CLIENTS)]
    expected = parser.parse(questions)

    def client(number):
        with httpx.Client(base_url=server.address, timeout=60) as session:
            mine = range(number, len(questions), CLIENTS)
            return [(place, session.post("/parse", json={"tokens": [questions[place]]})) for place in mine]

    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = [answer for answers in pool.map(client, range(CLIENTS)) for answer in answers]
    assert sorted(place for place, _ in answers) == list(range(len(questions)))
    for place, answer in answers:
        (sentence,) = answer.json()["sentences"]
        assert sentence["words"] == questions[place]
        assert sentence["heads"] == expected[place].heads


def test_stopping_answers_what_was_accepted(model):
    server = Server(model, "--batch", "1")
    answers = []

    def ask():
        answers.append(
            httpx.post(f"{server.address}/parse", json={"tokens": [["dog"] * 100] * 2, "kbest": 5}, timeout=60)
        )

    clients = [threading.Thread(target=ask) for _ in range(12)]
    for thread in clients:
        thread.start()
    for _ in range(200):
        if httpx.get(f"{server.address}/health").json()["requests"] == len(clients) + 1 - len(answers):
            break
        time.sleep(0.02)
    waiting = len(clients) - len(answers)
    code, out, err = server.end()
    for thread in clients:
        thread.join()
    assert waiting > 0  # there was something to finish
    assert [answer.status_code for answer in answers] == [200] * len(clients)
    assert (code, out) == (0, "")
    assert "listening on http://127.0.0.1:" in err
    assert "Traceback" not in err
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.address}/health")


def _sent(server, path="/explore", words=100, **options):
    """A connection on which a request has been sent."""
    rows = "".join(f"{word}\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n" for word in range(1, words + 1))
    body = json.dumps({"conllu": rows + "\n", "kbest": 20}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = socket.socket()
    for name, value in options.items():
        connection.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    connection.connect(("127.0.0.1", int(server.address.rpartition(":")[2])))
    connection.sendall(head.encode() + body)
    return connection


def test_silent_connections_make_room(model):
    """More than there may be: the oldest go, and whoever asks is answered."""
    server = Server(model, "--seconds", "2")
    place = "127.0.0.1", int(server.address.rpartition(":")[2])
    silent = [socket.create_connection(place) for _ in range(400)]
    assert httpx.get(f"{server.address}/health", timeout=10).status_code == 200
    slow = socket.create_connection(place)
    slow.sendall(b"GET /health HTTP/1.1\r\nX: ")  # and no more
    for connection in [*silent, slow]:
        connection.settimeout(20)
        with contextlib.suppress(ConnectionError):
            assert connection.recv(1) == b""
    code, _, err = server.end()
    assert code == 0
    assert "Traceback" not in err


def test_work_for_those_who_have_left_is_not_done(model):
    server = Server(model, "--batch", "1")
    for _ in range(40):
        _sent(server, words=150).close()
    began = time.monotonic()
    assert httpx.post(f"{server.address}/parse", json={"tokens": [WORDS]}, timeout=60).status_code == 200
    waited = time.monotonic() - began
    began = time.monotonic()
    _sent(server, words=150).recv(1)
    assert waited < 20 * (time.monotonic() - began)  # of the forty, a few had begun
    assert server.end()[0] == 0


def test_an_answer_that_nobody_reads_does_not_hold_the_end_up(model):
    server = Server(model)
    with _sent(server, words=200, SO_RCVBUF=4096):
        time.sleep(3)
        began = time.monotonic()
        assert server.end(40)[0] == 0
        assert time.monotonic() - began < 30


def test_stopping_at_once(model):
    """A signal in the moment after the server says that it listens is not lost."""
    command = [sys.executable, "-m", "softparse", "serve", str(model), "--port", "0", "--threads", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        next(line for line in process.stderr if "listening" in line)
        process.terminate()
        assert process.wait(30) == 0


def test_only_this_machine_is_served(server):
    port = int(server.address.rpartition(":")[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            outward.connect(("192.0.2.1", 9))  # sends nothing; finds out our own address
            own = outward.getsockname()[0]
        except OSError:
            own = "127.0.0.2"  # no network at all
    with socket.socket() as caller, pytest.raises(ConnectionRefusedError):
        caller.connect((own, port))


def test_an_address_that_is_taken(model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = CliRunner().invoke(main, ["serve", str(model), "--port", str(taken.getsockname()[1])])
    assert result.exit_code == 1
    assert "address already in use; choose another --host or --port" in result.stderr
    assert result.stdout == ""


def test_a_model_that_is_not_there(tmp_path):
    result = CliRunner().invoke(main, ["serve", str(tmp_path / "no"), "--port", "0"])
    assert result.exit_code == 1
    assert "there is no such model folder" in result.stderr


def test_without_the_extra(model):
    code = "import sys; sys.modules['uvicorn'] = None; from softparse.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code, "serve", str(model)], capture_output=True, text=True)
    assert result.returncode == 1
    assert "pip install 'softparse[serve]'" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_server_answers_while_it_parses(server):
    """A long job does not keep /health waiting."""
    with ThreadPoolExecutor(4) as pool:
        long = [
            pool.submit(
                httpx.post, f"{server.address}/parse", json={"tokens": [["cat"] * 150] * 2, "kbest": 5}, timeout=60
            )
            for _ in range(4)
        ]
        waits = []
        while not all(job.done() for job in long):
            started = time.perf_counter()
            assert httpx.get(f"{server.address}/health", timeout=30).json()["status"] == "ok"
            waits.append(time.perf_counter() - started)
        assert all(job.result().status_code == 200 for job in long)
    assert sorted(waits)[len(waits) // 2] < 1.0


def test_a_request_by_hand(server):
    answer = httpx.post(f"{server.address}/parse", json={"tokens": [WORDS]})
    assert answer.json()["sentences"][0]["heads"] == [2, 3, 0, 6, 6, 3, 3]
    assert "server" not in answer.headers
