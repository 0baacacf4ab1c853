"""Connections: how many there may be, and how long one may be open without a request or with an answer unread."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from .limits import Limits

try:
    import resource
except ImportError:  # a system without such limits
    resource = None  # type: ignore[assignment]

SPARE = 64  # connections beyond the requests that are answered at the same time
AT_ONCE = 32  # that are taken on before one of them is looked at
FILES = 4 * AT_ONCE + 64  # for those, and for other things than connections
LAST_SECONDS = 5.0  # for an answer to be read when the server ends


def connections(limits: Limits) -> type[asyncio.Protocol]:
    """The class of connections that keep to these limits."""
    most = limits.requests + SPARE
    if resource is not None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if files != resource.RLIM_INFINITY:
            most = max(1, min(most, files - FILES))
    return type("Connection", (_Connection,), {"seconds": limits.seconds, "most": most, "opened": {}})


class _Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """One that is looked at from time to time; whoever neither asks nor reads from one look to the next is cut off."""

    seconds: ClassVar[float]
    most: ClassVar[int]
    opened: ClassVar[dict[Any, None]]  # in the order they came

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._seen: Any = None  # at the last look: the last request, and how much of its answer waits to be read
        self._looking: asyncio.TimerHandle | None = None
        self.opened[self] = None
        if len(self.opened) > self.most:  # whoever has been silent for longest makes room
            silent = next(each for each in self.opened if each._is_idle())
            del self.opened[silent]
            silent.transport.abort()
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self.opened.pop(self, None)
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        super().shutdown()
        if self._is_idle():  # what is left of the answer is on its way, if anybody takes it
            self.loop.call_later(LAST_SECONDS, self.transport.abort)

    def _look_later(self) -> None:
        self._looking = self.loop.call_later(self.seconds, self._look)

    def _look(self) -> None:
        now = (self.cycle, self.transport.get_write_buffer_size()) if self._is_idle() else None
        if now is not None and now == self._seen:
            self.transport.abort()
            return
        self._seen = now
        self._look_later()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete
