"""A server in a process of its own: many clients at once, and an end that loses nothing."""

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
