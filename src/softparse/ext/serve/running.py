"""Running the server: a socket, a warm model, and an end that answers what was accepted."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from ...corpus.problems import CorpusError
from ...corpus.sentence import Sentence
from ...parser import load
from ...parser.parsing import Parser
from ...parser.restriction import Restricted
from ..tokenizing import tokenizer_of
from .application import create_app
from .connections import AT_ONCE, connections
from .limits import Limits
from .work import Explorer

WAITING = 1024  # connections that the system keeps until they are taken on


def run(
    model: str, host: str, port: int, limits: Limits, device: str = "cpu", report: Callable[[str], None] = print
) -> None:
    """Serve a model until the process is told to stop; requests that were accepted are answered before it ends."""
    listening = _bound(host, port)  # first: an address that is taken should be known at once
    with listening:
        parser = load(model, device)
        app = create_app(parser, tokenizer_of(model), Path(model).resolve().name, limits)
        _warm(parser)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False,
            timeout_graceful_shutdown=2 * int(limits.seconds) + 5,  # for a body to come, and to be answered
            http=connections(limits), backlog=AT_ONCE,
        )  # fmt: skip
        server = _Server(config)
        # The server has handlers of its own while it runs and, when all is answered, sends itself the signal again.
        # That the process was asked to end is no failure; and a signal that comes before the server runs counts, too.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        listening.listen(WAITING)  # from now on whoever calls is heard, if not yet answered
        place = listening.getsockname()
        shown = f"[{place[0]}]" if ":" in place[0] else place[0]
        report(f"listening on http://{shown}:{place[1]}/ (API: /docs); Ctrl-C stops")
        server.run(sockets=[listening])
    report("stopped at once" if server.force_exit else "stopped; what was accepted is answered")


class _Server(uvicorn.Server):
    """Ends at once when it is told a second time, by whichever signal; uvicorn's own does so for Ctrl-C alone."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or []:  # how many are taken on at once is not how many may wait
            listening.listen(WAITING)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(signal.SIGINT if self.should_exit else sig, frame)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except (OSError, UnicodeError) as error:  # UnicodeError: this is no name of a machine
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise CorpusError(f"cannot listen on {host} port {port}: {reason}; choose another --host or --port") from None
    return listening


def _warm(parser: Parser) -> None:
    """Ask for everything once: what is compiled at first use is then compiled before the first request."""
    sentence = Restricted(Sentence.from_words(["one", "two", "three"]), forbidden={(1, 2)})
    parser.parse([sentence.words])
    explorer = Explorer(parser)
    explorer.explore((sentence, 2))
    explorer.draw((sentence, 1.0, 1, 1))
