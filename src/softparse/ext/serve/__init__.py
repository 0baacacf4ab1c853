"""A server: a page for people and an API for programs. It needs the extra `serve`."""

from __future__ import annotations

from collections.abc import Callable

from ...corpus.problems import CorpusError
from .limits import Limits

__all__ = ["Limits", "serve"]


def serve(
    model: str, host: str, port: int, limits: Limits, device: str = "cpu", report: Callable[[str], None] = print
) -> None:
    """Serve a model; see `running.run`."""
    try:
        from .running import run
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "pydantic", "starlette", "uvicorn"):
            raise
        message = f"the server needs fastapi and uvicorn ({error}); run: pip install 'softparse[serve]'"
        raise CorpusError(message) from None
    run(model, host, port, limits, device, report)
