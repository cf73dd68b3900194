"""What of an HTTP request is judged before its run begins, and with which status is it turned away?

Order: whether anything is begun still, who sends it, what it accepts, what it claims to be, how long it is, what is in
it (AGU-66, AGU-80, AGU-81). Nothing that was sent stands in an answer or a log line. A verifier, and a client that
sends its body byte by byte, have so long and no longer.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from agentfootprint._optional import optional
from agentfootprint.agui.serving.capabilities import capabilities_of
from agentfootprint.agui.serving.requests import read_input
from agentfootprint.agui.serving.sending import EventResponse
from agentfootprint.errors import AgentFootprintError, ConfigError
from agentfootprint.hosting import IdentityNotVerifiedError, VerifierUnavailableError, verify_request
from agentfootprint.identity import Identity

with optional("starlette", extra="agui", needed_by="The AG-UI app"):
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from agentfootprint.agui.serving.adapter import AgUi
    from agentfootprint.hosting import IdentityVerifier, VerifiedIdentity

__all__ = ["MAX_BODY_BYTES", "AgUiDoor", "agui_routes"]

MAX_BODY_BYTES: Final = 1_048_576

VERIFIED_SECONDS: Final = 30.0
"""How long a verifier may take."""
BODY_SECONDS: Final = 60.0
"""How long a body may take to come."""
_log = logging.getLogger("agentfootprint.agui")
_IS_READ: Final = "agui_is_read"
_STREAM: Final = ("text/event-stream", "text/*", "*/*")


class AgUiDoor:
    """The two endpoints of one agent, as ASGI applications: `run` and `capabilities`.

    Args:
        adapter: Who answers.
        verifier: Proves who sends a request; without one everybody is anonymous.
        max_body_bytes: How long a request may be.

    Raises:
        ConfigError: Whole events would leave to everybody, or the limit lets nothing in.
    """

    def __init__(self, adapter: AgUi, verifier: IdentityVerifier | None, max_body_bytes: int) -> None:
        options = adapter.options
        if options.raw and verifier is None and not options.allow_raw:
            raise ConfigError(
                "options.raw",
                "Whole events would leave to whoever connects.",
                fix="Give a verifier, leave raw=True out, or say allow_raw=True.",
            )
        if type(max_body_bytes) is not int or max_body_bytes < 1:
            raise ConfigError("max_body_bytes", f"max_body_bytes is {max_body_bytes!r}.", fix="Give a number of bytes.")
        self._adapter = adapter
        self._verifier = verifier
        self._most = max_body_bytes

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`POST`: one request, one run, one stream."""
        request = Request(scope, receive)
        response = await self._contained(self._answer, request)
        if response is None:
            return
        if not getattr(request.state, _IS_READ, False) and scope.get("http_version", "1.1").startswith("1"):
            response.headers["connection"] = "close"  # or the rest of the body is waited for, however long it takes
        await response(scope, receive, send)

    async def capabilities(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`GET`: what the agent can be asked for (AGU-82)."""
        response = await self._contained(self._describe, Request(scope, receive))
        if response is not None:
            await response(scope, receive, send)

    async def _contained(self, answer: Any, request: Request) -> Any:  # noqa: ANN401  a handler and its response
        try:
            return await answer(request)
        except ClientDisconnect:
            return None
        except Exception as error:  # noqa: BLE001  nothing in one request may end the process, or say what was in it
            _log.error("An AG-UI request failed: %s.", _named(error))
            return _refusal(500, "internal error", "ERR_INTERNAL")

    async def _answer(self, request: Request) -> Any:  # noqa: ANN401, PLR0911  an ASGI response; one refusal a line
        if self._adapter.is_closed:
            return _refusal(503, "The server is ending.", "ERR_HOST_CLOSED", {"retry-after": "1"})
        proven = await self._proven(request)
        if isinstance(proven, Response):
            return proven
        if not _accepts_stream(request.headers.get("accept")):
            return _refusal(406, "The answer is a stream of the type text/event-stream.", "ERR_NOT_ACCEPTABLE")
        if not _is_json(request):
            return _refusal(415, "The request is not said to be of the type application/json.", "ERR_CONTENT_TYPE")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._body(request)
        except TimeoutError:
            return _refusal(408, "The request did not come in time.", "ERR_BODY_TIMEOUT")
        if body is None:
            return _refusal(413, f"The request is longer than {self._most} bytes.", "ERR_BODY_TOO_LARGE")
        setattr(request.state, _IS_READ, True)
        given, faults = read_input(body)
        if given is None:
            document = {"error": "The request is no RunAgentInput.", "code": "ERR_INVALID_INPUT", "fields": faults}
            return JSONResponse(document, status_code=422)
        options = self._adapter.options
        return EventResponse(self._adapter.reply(given, identity=_identity(proven)), max_lag=options.max_lag)

    async def _describe(self, request: Request) -> Any:  # noqa: ANN401  an ASGI response
        proven = await self._proven(request)
        if isinstance(proven, Response):
            return proven
        found = capabilities_of(self._adapter)
        return JSONResponse(found.model_dump(mode="json", by_alias=True))

    async def _proven(self, request: Request) -> VerifiedIdentity | Response | None:
        try:
            async with asyncio.timeout(VERIFIED_SECONDS):
                return await verify_request(self._verifier, request.headers, scope=request.scope)
        except IdentityNotVerifiedError as refused:
            challenge = "Bearer" if refused.failure == "no-token" else 'Bearer error="invalid_token"'
            return _refusal(401, str(refused.problem), refused.code, {"www-authenticate": challenge})
        except VerifierUnavailableError as away:
            return _refusal(503, str(away.problem), away.code, {"retry-after": "1"})
        except TimeoutError:
            _log.error("A verifier did not answer in %d seconds.", VERIFIED_SECONDS)
            away = VerifierUnavailableError(type(self._verifier).__name__)
            return _refusal(503, str(away.problem), away.code, {"retry-after": "1"})

    async def _body(self, request: Request) -> bytes | None:
        """The request's body; `None` when it is too long, of which nothing more is read."""
        said = request.headers.get("content-length", "")
        if said.isascii() and said.isdecimal() and int(said[:20]) > self._most:
            return None
        parts: list[bytes] = []
        length = 0
        async for part in request.stream():
            length += len(part)
            if length > self._most:
                return None
            parts.append(part)
        return b"".join(parts)


class _Endpoint:
    """An ASGI application in a route: a function there would be called with a request."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._application(scope, receive, send)


def agui_routes(door: AgUiDoor, path: str) -> list[Route]:
    """The routes of an agent.

    Raises:
        ConfigError: The path is none.
    """
    if not path.startswith("/") or "{" in path:
        raise ConfigError("path", f"The path is {path!r}.", fix='Give one that begins with a slash, such as "/agent".')
    return [
        Route(path, _Endpoint(door.run), methods=["POST"]),
        Route(f"{path.rstrip('/')}/capabilities", _Endpoint(door.capabilities), methods=["GET"]),
    ]


def _identity(proven: VerifiedIdentity | None) -> Identity | None:
    if proven is None:
        return None
    return Identity(conversation_id="", principal=proven.user_id, tenant=proven.tenant)


def _named(error: Exception) -> str:
    return error.code if isinstance(error, AgentFootprintError) else type(error).__name__


def _is_json(request: Request) -> bool:
    """Whether it is said to be JSON: pages of other origins can't say so unasked, and are not let in by silence."""
    said = request.headers.get("content-type")
    if said is None:
        return "origin" not in request.headers
    kind = said.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _accepts_stream(accept: str | None) -> bool:
    if accept is None or not accept.strip():
        return True
    for entry in accept.split(","):
        kind, *parameters = (part.strip().lower() for part in entry.split(";"))
        refused = any(part.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
        if kind in _STREAM and not refused:
            return True
    return False


def _refusal(status: int, problem: str, code: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": problem, "code": code}, status_code=status, headers=headers)
