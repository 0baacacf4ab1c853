"""The application: routes for programs and for the page."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from ... import __version__
from ...corpus.conllu import write
from ...corpus.plain_text import Tokenizer
from ...corpus.projectivity import split_label
from ...parser.bulk import Options
from ...parser.parsing import Parser
from .answers import CONLLU, as_conllu, as_json, wanted
from .api_page import api_page
from .batching import Batcher
from .guard import Guard
from .limits import Limits, Refusal, in_time
from .reading import Reader, constrained, text_of
from .schema import (
    CutAnswer,
    DrawAnswer,
    DrawRequest,
    ExploreAnswer,
    ExploreRequest,
    Health,
    Info,
    ParseAnswer,
    ParseRequest,
    PastedRequest,
    Problem,
)  # fmt: skip
from .work import Alone, Explorer, ParseTogether, direction

PAGE = Path(__file__).parent / "page"
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": description}
    for code, description in {
        400: "Not JSON.",
        408: "The body came too slowly.",
        413: "More than the limits allow.",
        415: "The body is not application/json.",
        422: "Something in the request is wrong; `error` says what.",
        503: "Too much to do; try again after `Retry-After` seconds.",
    }.items()
}
# Nothing on the page comes from elsewhere, and nothing that is typed into it can become code.
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"


def create_app(parser: Parser, tokenizer: Tokenizer, name: str = "model", limits: Limits | None = None) -> FastAPI:
    """An application that parses with one model."""
    limits = limits or Limits()
    batcher, reader, explorer = Batcher(limits), Reader(tokenizer, limits), Explorer(parser)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        batcher.open()
        yield
        await asyncio.to_thread(batcher.close)

    app = FastAPI(
        title="softparse",
        version=__version__,
        description="Dependency trees of sentences. Words count from 1, head 0 is the root.",
        lifespan=lifespan,
        docs_url=None,  # theirs needs files from the internet
        redoc_url=None,
    )
    app.state.batcher = batcher
    app.add_middleware(Guard, limits=limits)
    _add_errors(app)
    _add_page(app)

    @app.post(
        "/parse",
        response_model=ParseAnswer,
        responses={
            **REFUSALS,
            200: {"description": "The trees.", "content": {CONLLU: {"schema": {"type": "string"}}}},
            406: {"model": Problem, "description": "The Accept header takes neither JSON nor CoNLL-U."},
        },
    )
    async def parse(body: ParseRequest, request: Request) -> Response:
        """Parse text, tokens or CoNLL-U. The answer is JSON or, with `Accept: text/x-conllu`, CoNLL-U."""
        kind = wanted(",".join(request.headers.getlist("accept")))
        options = Options(confidence=body.confidence, kbest=body.kbest, complete=body.complete)
        async with in_time(limits):
            sentences = await reader.read(reader.sentences, body)
            items = constrained(sentences, body.constraints)
            words = body.kbest * sum(map(len, sentences))
            parses = await batcher.run(ParseTogether(parser, options), items, words) if items else []
            # Writing a large answer takes as long as parsing a small one, and others should not wait for it.
            if kind == CONLLU:
                text = await asyncio.to_thread(as_conllu, sentences, parses, options)
                return Response(text, media_type=CONLLU)
            return await asyncio.to_thread(lambda: JSONResponse(as_json(sentences, parses)))

    @app.post("/sentences", response_model=CutAnswer, responses=REFUSALS)
    async def sentences(body: PastedRequest) -> Response:
        """Cut text (or CoNLL-U) into sentences, without parsing them."""
        async with in_time(limits):
            found = await reader.read(reader.pasted, body)
        return JSONResponse(
            {
                "sentences": [
                    {
                        "conllu": write(sentence.without_mark()).decode(),
                        "text": text_of(sentence),
                        "direction": direction(sentence.words),
                    }
                    for sentence in found
                ]
            }
        )

    @app.post("/explore", response_model=ExploreAnswer, responses=REFUSALS)
    async def explore(body: ExploreRequest) -> Response:
        """The tree of a sentence, the next best ones, and the probabilities of all arcs, drawn."""
        async with in_time(limits):
            sentence = await reader.read(reader.sentence, body)
            words = body.kbest * len(sentence)
            return JSONResponse(await batcher.run(Alone(explorer.explore), (sentence, body.kbest), words))

    @app.post("/draw", response_model=DrawAnswer, responses=REFUSALS)
    async def draw(body: DrawRequest) -> Response:
        """Perturb the weights of a sentence's arcs and parse: the relaxed tree, beside exact samples."""
        async with in_time(limits):
            sentence = await reader.read(reader.sentence, body)
            item = sentence, body.temperature, body.seed, body.samples
            return JSONResponse(await batcher.run(Alone(explorer.draw), item, len(sentence)))

    @app.head("/health", include_in_schema=False)
    @app.get("/health", response_model=Health)
    async def health(request: Request) -> Response:
        """Whether the server answers, and how many requests it is answering."""
        return JSONResponse({"status": "ok", "requests": request.scope["requests"]})

    @app.get("/info", response_model=Info)
    async def info() -> Response:
        """What the model is, and the limits of requests."""
        return JSONResponse(_info(parser, name, limits))

    return app


def _info(parser: Parser, name: str, limits: Limits) -> dict[str, Any]:
    dev = ((parser.metrics.get("best") or {}).get("dev")) or {}
    return {
        "model": name,
        "softparse": __version__,
        "labels": sorted({split_label(label)[0] for label in parser.vocabulary.labels}),
        "words": len(parser.vocabulary.words),
        "parameters": sum(parameter.numel() for parameter in parser.network.parameters()),
        "decoding": asdict(parser.config.decoding),
        "dev": {key: value for key, value in dev.items() if isinstance(value, int | float) and math.isfinite(value)},
        "limits": asdict(limits),
    }


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return JSONResponse({"error": refusal.message}, refusal.status, refusal.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        # What came is not repeated: it may be large, or text that cannot be encoded.
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        message = str(first["msg"]).removeprefix("Value error, ")
        status = 400 if first["type"] == "json_invalid" else 422
        text = f"{place}: {message}" if place and status == 422 else message
        return JSONResponse({"error": text.encode("utf-8", "replace").decode()}, status)

    @app.exception_handler(HTTPException)
    async def failed(request: Request, error: HTTPException) -> Response:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)


def _add_page(app: FastAPI) -> None:
    headers = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}

    def add(path: str, file: str, kind: str) -> None:
        @app.api_route(path, methods=["GET", "HEAD"], include_in_schema=False)
        async def asset() -> Response:
            return FileResponse(PAGE / file, media_type=kind, headers=headers)

    add("/", "index.html", "text/html")
    add("/page.css", "page.css", "text/css")
    add("/page.js", "page.js", "text/javascript")
    add("/icon.svg", "icon.svg", "image/svg+xml")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(api_page(app.openapi()), headers=headers)
