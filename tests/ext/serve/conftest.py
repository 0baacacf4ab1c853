import socket
import subprocess
import sys
import time

import httpx
import pytest
from starlette.testclient import TestClient

import softparse
from softparse.ext.serve.application import create_app
from softparse.ext.serve.limits import Limits
from softparse.ext.tokenizing import tokenizer_of

WORDS = ["the", "dog", "sees", "a", "big", "cat", "."]


@pytest.fixture(scope="session")
def parser(model):
    return softparse.load(model)


@pytest.fixture(scope="session")
def app(parser, model):
    return create_app(parser, tokenizer_of(model), "small")


@pytest.fixture(scope="session")
def client(app):
    with TestClient(app) as client:
        yield client


@pytest.fixture
def limited(parser, model):
    """A client of an application with other limits."""
    return lambda **limits: TestClient(create_app(parser, tokenizer_of(model), "small", Limits(**limits)))


class Server:
    """A process of its own that serves, as a user would start it."""

    def __init__(self, model, *options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "softparse",
            "serve",
            str(model),
            "--port",
            str(port),
            "--threads",
            "1",
            *options,
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                httpx.get(f"{self.address}/health").raise_for_status()
                return
            except httpx.TransportError:
                if self.process.poll() is not None:
                    raise RuntimeError(self.process.stderr.read()) from None
                time.sleep(0.1)
        raise RuntimeError("the server does not start")

    def end(self, seconds=60):
        self.process.terminate()
        out, err = self.process.communicate(timeout=seconds)
        return self.process.returncode, out, err


@pytest.fixture(scope="session")
def server(model):
    server = Server(model)
    yield server
    assert server.end()[0] == 0
