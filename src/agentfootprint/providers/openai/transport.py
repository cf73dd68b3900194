"""How does the official SDK carry a chat completion, and what does it raise?

Invariants: bodies go out as the bytes that were built, and answers come in as plain JSON, so nothing of the SDK's
models is paid for; the SDK retries nothing (ADP-8); whatever it raises becomes an error of ours here and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import msgspec

from agentfootprint.llm import ProviderStreamError
from agentfootprint.providers.faults import Vendor, in_band_error, transport_error
from agentfootprint.providers.openai.response import obj
from agentfootprint.providers.options import HttpOptions

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream, Omit
    from openai._types import RequestOptions

__all__ = ["STATUSES", "KeyedClient", "Route", "chunks_of", "make_client", "open_stream", "post"]

STATUSES: Final[Mapping[str, int]] = {
    "server_error": 500,
    "internal_error": 500,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "overloaded_error": 529,
    "invalid_request_error": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "model_not_found": 404,
}
"""HTTP status by the code or type of an error that comes without one."""

_CONNECT: Final = 10.0  # seconds (ADP-19)
_FIRST: Final = 600.0
_IDLE: Final = 120.0


class Route(NamedTuple):
    """Where and with what beside the body a request goes."""

    path: str = "/chat/completions"
    headers: Mapping[str, str | Omit] = MappingProxyType({})
    query: Mapping[str, object] = MappingProxyType({})

    @property
    def options(self) -> RequestOptions:
        """What the SDK is told of it."""
        headers = {"Content-Type": "application/json", **self.headers}
        return {"headers": headers, "params": self.query, "max_retries": 0}


class KeyedClient:
    """A client and its twin with the key in force, which share their connections.

    Args:
        client: The client that was made or given.
    """

    __slots__ = ("_current", "client")

    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client
        self._current = client

    def with_key(self, key: str | None) -> AsyncOpenAI:
        """The client to ask with; made anew only when the key changed (ADP-4)."""
        if key is not None and key != self._current.api_key:
            self._current = self.client.with_options(api_key=key)
        return self._current

    async def aclose(self) -> None:
        """Close it."""
        await self.client.close()


def make_client(sdk: ModuleType, address: str, http: HttpOptions) -> AsyncOpenAI:
    """A client of the SDK; opens no socket."""
    import httpx2  # what the SDK speaks HTTP with

    timeout = http.timeout or _FIRST
    return cast("type[AsyncOpenAI]", sdk.AsyncOpenAI)(
        api_key="unset",  # each request carries the key that is then in force
        base_url=address,
        max_retries=0,
        timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT)),
        default_headers=http.headers,
    )


async def post(
    client: AsyncOpenAI, vendor: Vendor, route: Route, body: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Ask for a whole answer; gives the body and the headers.

    Raises:
        ProviderError: The call failed, or the answer is none.
    """
    import httpx2  # what the SDK speaks HTTP with

    try:
        answer = await client.post(
            route.path, content=msgspec.json.encode(body), cast_to=httpx2.Response, options=route.options
        )
    except Exception as error:
        raise transport_error(vendor, error, phase="connect") from error
    return _whole(answer.content, answer.headers, vendor), answer.headers


async def open_stream(
    client: AsyncOpenAI, vendor: Vendor, route: Route, body: Mapping[str, Any], *, idle: float | None
) -> AsyncStream[object]:
    """Ask for a stream.

    Args:
        client: The client.
        vendor: Who is called.
        route: Where it goes.
        body: The body of the request.
        idle: Seconds of silence between its pieces; `None` for the default.

    Raises:
        ProviderError: The call failed.
    """
    from openai import AsyncStream

    try:
        opened: AsyncStream[object] = await client.post(
            route.path,
            content=msgspec.json.encode(body),
            cast_to=object,
            options=route.options,
            stream=True,
            stream_cls=AsyncStream[object],
        )
    except Exception as error:
        raise transport_error(vendor, error, phase="connect") from error
    waits: object = opened.response.request.extensions.get("timeout")
    if isinstance(waits, dict):
        cast("dict[str, Any]", waits)["read"] = idle or _IDLE  # from here on a stream must talk (ADP-19)
    return opened


def _whole(raw: bytes, headers: Mapping[str, str], vendor: Vendor) -> Mapping[str, Any]:
    """The body of a whole answer.

    Raises:
        ProviderStreamError: It is a stream, or no JSON object (OAI-9).
        ProviderError: It holds an error (ADP-12).
    """
    if "text/event-stream" in headers.get("content-type", ""):
        raise ProviderStreamError(
            "The endpoint answers a plain request with a stream.",
            provider=vendor.provider,
            phase="decode",
            fix="Let the endpoint heed the option 'stream', or stream only.",
        )
    try:
        data = obj(json.loads(raw))
    except (ValueError, RecursionError):
        data = None
    if data is None:
        raise ProviderStreamError("The answer is no JSON object.", provider=vendor.provider, phase="decode")
    if data.get("error") and not data.get("choices"):
        raise in_band_error(vendor, data["error"], headers=headers)
    return data


async def chunks_of(
    opened: AsyncStream[object], vendor: Vendor, headers: Mapping[str, str]
) -> AsyncGenerator[Mapping[str, Any], None]:
    """The chunks of a stream.

    Raises:
        ProviderError: It is no stream (OAI-9), it breaks, or an error stands in it (OAI-10).
    """
    if "application/json" in headers.get("content-type", ""):
        try:
            raw = await opened.response.aread()
        except Exception as error:
            raise transport_error(vendor, error, phase="stream") from error
        _whole(raw, {}, vendor)
        raise ProviderStreamError(
            "The endpoint answers a request for a stream with a whole body.",
            provider=vendor.provider,
            phase="decode",
            fix="Let the endpoint heed the option 'stream', or ask without streaming.",
        )
    iterator = aiter(opened)
    while True:
        try:
            chunk = obj(await anext(iterator))
        except StopAsyncIteration:
            return
        except Exception as error:  # noqa: BLE001  whatever the SDK raises is told as ours
            told = transport_error(vendor, error, phase="stream")
            raise told from (None if told.phase == "decode" else error)  # such a cause quotes what arrived
        if chunk is None:
            raise ProviderStreamError("A chunk of the stream is no object.", provider=vendor.provider, phase="decode")
        if chunk.get("error"):
            raise in_band_error(vendor, chunk["error"], headers=headers)
        yield chunk
