"""The door: how many requests, how large, how slow, of what kind."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import Limits, Refusal

MOST_DROPPED = 100  # bodies of the largest size, of one that is larger
LONGEST_PAUSE = 1.0  # seconds that are waited for more of it


class Guard:
    """Lets requests in whose body is here, whole, and within the limits; refuses others with a reason in JSON."""

    def __init__(self, app: ASGIApp, limits: Limits):
        self.app, self.limits = app, limits
        self.requests = 0  # inside at this moment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        self.requests += 1
        scope["requests"] = self.requests
        try:
            try:
                body = await self._admitted(scope, receive)
            except Refusal as refusal:
                if refusal.status == 413:
                    await self._drop_the_rest(receive)
                await _refuse(refusal, send)
                return
            await self._answer(scope, body, receive, send)
        finally:
            self.requests -= 1

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Run the application, until it is done or nobody is there any more to read its answer."""
        leaving = asyncio.ensure_future(receive())  # the body is here, so nothing else can come
        answering = asyncio.ensure_future(self.app(scope, _replayed(body, leaving), send))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await answering
        finally:
            answering.cancel()
            leaving.cancel()

    async def _admitted(self, scope: Scope, receive: Receive) -> bytes:
        headers = Headers(scope=scope)
        most = self.limits.body_bytes
        too_large = Refusal(413, f"the body of a request may have {most:,} bytes; send the text in several parts")
        # What asks how the server is must be answered above all when it is busy.
        path = scope["path"].removeprefix(scope.get("root_path", ""))  # of an application that is part of another
        if self.requests > self.limits.requests and path != "/health":
            raise Refusal(503, f"{self.limits.requests} requests are being answered; try again later")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > most:
            raise too_large
        if scope["method"] == "POST":
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Refusal(415, f"the body must be application/json, but its Content-Type is {kind or 'missing'!r}")
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await _body(receive, most, too_large)
        except TimeoutError:
            raise Refusal(408, f"the body did not come within {self.limits.seconds:g} s") from None

    async def _drop_the_rest(self, receive: Receive) -> None:
        """Many clients hear nothing before they have sent everything; what is too much even for that is cut off."""
        size, is_more = 0, True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.seconds):
                while is_more and size < MOST_DROPPED * self.limits.body_bytes:
                    async with asyncio.timeout(LONGEST_PAUSE):
                        message = await receive()
                    size += len(message.get("body", b""))
                    is_more = bool(message.get("more_body"))


async def _body(receive: Receive, most: int, too_large: Refusal) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""  # nobody will read the answer
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise too_large
        if not message.get("more_body"):
            return b"".join(parts)


def _replayed(body: bytes, leaving: asyncio.Future[Message]) -> Receive:
    """What comes to the application: the body, and then that the client has left."""
    is_given = False

    async def again() -> Message:
        nonlocal is_given
        if is_given:
            return await asyncio.shield(leaving)
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _refuse(refusal: Refusal, send: Send) -> None:
    body = json.dumps({"error": refusal.message}).encode()
    headers: dict[str, Any] = {"content-type": "application/json", "content-length": len(body), **refusal.headers}
    if refusal.status in (408, 413):
        headers["connection"] = "close"  # the rest of the body is not read
    pairs = [(name.lower().encode(), str(value).encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
