"""How does Anthropic's SDK carry a request, and what does it raise?

Invariants: bodies go out as the bytes that were built, events come in before the SDK reads anything into them (ADP-10);
the SDK retries nothing (ADP-8); whatever it raises becomes an error of ours here and nowhere else, and an error that
quotes what arrived is not kept as a cause (ERR-3).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from agentfootprint.llm import ProviderError, ProviderStreamError
from agentfootprint.providers.anthropic.request import PROVIDER
from agentfootprint.providers.faults import Vendor, in_band_error, request_id_of, transport_error
from agentfootprint.providers.options import HttpOptions

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream
    from anthropic._types import RequestOptions

__all__ = ["STATUSES", "Connection", "events_of", "open_stream", "post"]

STATUSES: Final[Mapping[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status by the type of an error that comes without one (08b s.21)."""

_PATH: Final = "/v1/messages"
_CONNECT: Final = 10.0  # seconds (ADP-19)
_FIRST: Final = 600.0
_IDLE: Final = 120.0
_OPTIONS: Final[RequestOptions] = {"headers": {"Content-Type": "application/json"}, "max_retries": 0}


class Connection:
    """The SDK's client of one event loop; another key makes another client over the same connections.

    Args:
        address: Base URL.
        http: Timeout and headers.
    """

    __slots__ = ("_address", "_client", "_http")

    def __init__(self, address: str, http: HttpOptions) -> None:
        self._address = address
        self._http = http
        self._client: AsyncAnthropic | None = None

    def keyed(self, key: str) -> AsyncAnthropic:
        """The client to ask with; made anew only when the key changed (ADP-4)."""
        if self._client is None:
            self._client = self._make(key)
        elif key != self._client.api_key:
            self._client = self._client.with_options(api_key=key)
        return self._client

    def _make(self, key: str) -> AsyncAnthropic:
        from anthropic import AsyncAnthropic, Timeout

        silence = self._http.timeout or _FIRST
        return AsyncAnthropic(
            api_key=key,
            base_url=self._address,
            timeout=Timeout(silence, connect=min(silence, _CONNECT)),
            max_retries=0,
            default_headers=self._http.headers,
        )

    async def aclose(self) -> None:
        """Close it."""
        if self._client is not None:
            await self._client.close()


async def post(
    client: AsyncAnthropic, vendor: Vendor, body: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Ask for a whole answer; gives its body and headers.

    Raises:
        ProviderError: The call failed, or what came is no answer.
    """
    import httpx2  # what the SDK speaks HTTP with

    content = msgspec.json.encode(body)
    try:
        answer = await client.post(_PATH, content=content, cast_to=httpx2.Response, options=_OPTIONS)
    except Exception as error:  # noqa: BLE001  the SDK's and its transport's, told as ours
        raise _told(vendor, error, "connect") from _kept(error)
    return _whole(answer.content, answer.headers, vendor), answer.headers


async def open_stream(
    client: AsyncAnthropic, vendor: Vendor, body: Mapping[str, Any], *, idle: float | None
) -> AsyncStream[object]:
    """Ask for a stream.

    Args:
        client: The SDK's client.
        vendor: Who is called.
        body: The body of the request.
        idle: Seconds of silence between its pieces; `None` for the default.

    Raises:
        ProviderError: The call failed.
    """
    from anthropic import AsyncStream

    content = msgspec.json.encode({**body, "stream": True})
    try:
        opened: AsyncStream[object] = await client.post(
            _PATH, content=content, cast_to=object, options=_OPTIONS, stream=True, stream_cls=AsyncStream[object]
        )
    except Exception as error:  # noqa: BLE001  the SDK's and its transport's, told as ours
        raise _told(vendor, error, "connect") from _kept(error)
    waits: object = opened.response.request.extensions.get("timeout")
    if isinstance(waits, dict):
        cast("dict[str, Any]", waits)["read"] = idle or _IDLE  # from here on a stream must talk (ADP-19)
    return opened


async def events_of(opened: AsyncStream[object], vendor: Vendor) -> AsyncGenerator[tuple[str, str], None]:
    """The events of a stream that carry something, as name and JSON text.

    Raises:
        ProviderError: It is no stream, it breaks, or an error stands in it (ADP-12).
    """
    headers: Mapping[str, str] = opened.response.headers
    if "application/json" in headers.get("content-type", ""):
        await _refuse_whole(opened, vendor)
    events = aiter(opened.raw_events(opened.response))
    while True:
        try:
            event = await anext(events)
        except StopAsyncIteration:
            return
        except Exception as error:  # noqa: BLE001  the SDK's and its transport's, told as ours
            raise _told(vendor, error, "stream") from _kept(error)
        if event.event == "error":
            raise in_band_error(vendor, _error_body(event.data), headers=headers)
        if event.data and event.event is not None and event.event != "ping":
            yield event.event, event.data


async def _refuse_whole(opened: AsyncStream[object], vendor: Vendor) -> None:
    """An answer in one piece where a stream was asked for: the failure it tells of, or that it is one."""
    try:
        raw = await opened.response.aread()
    except Exception as error:  # noqa: BLE001  the SDK's and its transport's, told as ours
        raise _told(vendor, error, "stream") from _kept(error)
    _whole(raw, opened.response.headers, vendor)
    raise ProviderStreamError(
        "The endpoint answers a request for a stream with a whole body.",
        provider=PROVIDER,
        phase="decode",
        fix="Let the endpoint heed the option 'stream', or ask without streaming.",
        request_id=request_id_of(opened.response.headers),
    )


def _whole(raw: bytes, headers: Mapping[str, str], vendor: Vendor) -> Mapping[str, Any]:
    """The body of a whole answer.

    Raises:
        ProviderStreamError: It is a stream, or no JSON object.
        ProviderError: It holds an error (ADP-12).
    """
    request_id = request_id_of(headers)
    if "text/event-stream" in headers.get("content-type", ""):
        raise ProviderStreamError(
            "The endpoint answers a plain request with a stream.",
            provider=PROVIDER,
            phase="decode",
            fix="Let the endpoint heed the option 'stream', or stream only.",
            request_id=request_id,
        )
    try:
        data: object = json.loads(raw)  # takes half of a surrogate pair, which is mended where it is read
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, Mapping):
        raise ProviderStreamError(
            "The answer is no JSON object.", provider=PROVIDER, phase="decode", request_id=request_id
        ) from None
    message = cast("Mapping[str, Any]", data)
    if message.get("type") == "error" or ("error" in message and "content" not in message):
        raise in_band_error(vendor, message, headers=headers)
    return message


def _error_body(data: str) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data


def _told(vendor: Vendor, error: Exception, phase: str) -> ProviderError:
    return transport_error(vendor, error, phase=phase)


def _kept(error: Exception) -> Exception | None:
    """The cause to keep: not one that quotes what arrived."""
    return None if isinstance(error, ValueError) else error
