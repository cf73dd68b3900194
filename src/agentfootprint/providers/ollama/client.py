"""How is a model on a machine of one's own asked, and what may be missing there?

Servers: Ollama's native `/api/chat`, without an SDK and without a key. Atomic: one call is one request, without
retries. Not offered: a forced tool choice, images.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, cast

import msgspec

from agentfootprint._optional import optional
from agentfootprint.errors import ConfigError
from agentfootprint.llm import (
    CURRENT_HOOKS,
    CallHooks,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    ProviderError,
    ProviderStreamError,
    Role,
)
from agentfootprint.providers.arguments import CallReader
from agentfootprint.providers.clients import LoopClients, WithClients
from agentfootprint.providers.faults import Vendor, in_band_error, status_error, transport_error
from agentfootprint.providers.ollama.errors import OllamaModelError, OllamaSilentError, OllamaUnreachableError
from agentfootprint.providers.ollama.request import Memory, Settings, Think, base_of, build_body, manifest_of
from agentfootprint.providers.ollama.response import PROVIDER, Frames, obj
from agentfootprint.providers.options import HttpOptions, MalformedArgs, checked_address
from agentfootprint.providers.secrets import environment
from agentfootprint.trace import JsonObject

if TYPE_CHECKING:
    import httpx

__all__ = ["OllamaProvider"]

_ADDRESS: Final = "http://localhost:11434"
_LOOPBACK: Final = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0"))  # noqa: S104  where to call, not to listen
_CONNECT: Final = 10.0  # seconds
_FIRST: Final = 600.0  # a model may have to be loaded before the first word
_IDLE: Final = 120.0
_TAGS: Final = 5.0
_OK: Final = 200
_NOT_FOUND: Final = 404
_UNREACHABLE: Final = frozenset(("ConnectError", "ConnectTimeout"))


class OllamaProvider(WithClients):
    """A model that Ollama runs.

    Args:
        model: The model to ask when a request names none, as `ollama list` names it.
        http: Address, timeout, headers. The address is otherwise read from `OLLAMA_HOST`, and is by default
            `http://localhost:11434`. There is no key.

    Raises:
        MissingExtraError: The package `httpx` is not installed.
        ConfigError: A key was given, or the address is none.
    """

    name: str = PROVIDER
    carries_in_messages: Sequence[Role] = ("system", "user", "assistant")
    carries_forced_tool_choice: bool = False
    native_output: bool = True

    def __init__(self, model: str, *, http: HttpOptions | None = None) -> None:
        with optional("httpx", extra="ollama", needed_by=type(self).__name__):
            import httpx
        self._sdk = httpx
        self._http = http or HttpOptions()
        if self._http.api_key is not None:
            raise ConfigError(
                "http.api_key",
                "Ollama takes no key.",
                fix="Leave it out; what a proxy before it wants goes into HttpOptions(headers=...).",
            )
        self._base = checked_address(base_of(self._http.base_url or environment("OLLAMA_HOST") or _ADDRESS))
        self._settings = Settings(model=model)
        self._reader = CallReader(PROVIDER, prefix="ollama-call-")
        self._clients: LoopClients[httpx.AsyncClient] = LoopClients(self._make, _close, owner=PROVIDER)

    @property
    def default_model(self) -> str:
        """The model that is asked when a request names none."""
        return self._settings.model

    def with_options(
        self,
        *,
        default_max_tokens: int | None = None,
        think: Think | None = None,
        keep_alive: str | int | None = None,
        output_schema: JsonObject | None = None,
        on_malformed_args: MalformedArgs | None = None,
    ) -> Self:
        """The same provider with other settings; what is left out stays.

        Args:
            default_max_tokens: Most tokens of a reply whose request does not say.
            think: Whether, or how hard, the model thinks, whatever a request says (OLL-2).
            keep_alive: How long the model stays loaded: `"5m"`, or seconds.
            output_schema: A JSON Schema that every answer is held to (OLL-10).
            on_malformed_args: What becomes of arguments that can't be read (ADP-10).
        """
        changes = {
            "default_max_tokens": default_max_tokens,
            "think": think,
            "keep_alive": keep_alive,
            "output_schema": output_schema,
        }
        changed: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        other = copy.copy(self)
        vars(other)["_settings"] = dataclasses.replace(self._settings, **changed)
        if on_malformed_args is not None:
            vars(other)["_reader"] = self._reader.with_policy(on_malformed_args)
        return other

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        """Answer a request as a whole.

        Raises:
            OllamaUnavailableError: Nothing answers, or the model is not there; says what to do (OLL-6).
            ProviderError: The call failed otherwise; the class says how.
        """
        body = build_body(request, self._settings, stream=False, memory=self._memory(hooks))
        vendor = self._vendor()
        async with self._answer(body, vendor) as answer:
            raw = await _read(answer, vendor)
        frame = _object(raw)
        if frame is None:
            raise ProviderStreamError("The answer is no JSON object.", provider=PROVIDER, phase="decode")
        if frame.get("error"):
            raise in_band_error(vendor, frame)
        frames = Frames(self._reader, manifest=manifest_of(body))
        frames.feed(frame)
        return frames.finish(is_whole=True)

    async def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        """Answer in chunks, the last of which holds the response.

        Raises:
            OllamaUnavailableError: Nothing answers, or the model is not there; says what to do (OLL-6).
            ProviderError: The call failed otherwise. `StreamTruncatedError` when the stream ended too early.
        """
        body = build_body(request, self._settings, stream=True, memory=self._memory(hooks))
        vendor = self._vendor()
        frames = Frames(self._reader, manifest=manifest_of(body))
        index = 0
        async with self._answer(body, vendor) as answer, contextlib.aclosing(_lines(answer, vendor)) as lines:
            async for line in lines:
                frame = _object(line)
                if frame is None:
                    continue  # a line that is no object is passed over (OLL-5); an end that is lost with it is missed
                if frame.get("error"):
                    raise in_band_error(vendor, frame)
                text, thinking = frames.feed(frame)
                if thinking:
                    yield LLMChunk(token_index=index, content="", thinking_delta=thinking)
                    index += 1
                if text:
                    yield LLMChunk(token_index=index, content=text)
                    index += 1
                if frames.is_done:
                    break
        yield LLMChunk(token_index=index, content="", done=True, response=frames.finish())

    @contextlib.asynccontextmanager
    async def _answer(self, body: Mapping[str, Any], vendor: Vendor) -> AsyncGenerator[httpx.Response]:
        """Ask, and hold the answer open; it is closed when its reader leaves, which stops the model (PRT-15).

        Raises:
            OllamaUnavailableError: Nothing answers, or the model is not there.
            ProviderError: The daemon refused, or the connection broke.
        """
        client = self._http.client or await self._clients.get()
        first = self._http.timeout or _FIRST
        request = client.build_request(
            "POST",
            f"{self._base}/api/chat",
            content=msgspec.json.encode(body),
            headers={"content-type": "application/json", **(self._http.headers or {})},
            timeout=self._sdk.Timeout(first, connect=min(first, _CONNECT)),
        )
        try:
            answer = await client.send(request, stream=True)
        except Exception as error:
            raise self._unreachable(error, vendor) from error
        try:
            if answer.status_code != _OK:
                raise await self._refusal(client, answer, vendor, cast("str", body["model"]))
            waits: object = request.extensions.get("timeout")
            if isinstance(waits, dict):
                cast("dict[str, Any]", waits)["read"] = (
                    self._http.timeout or _IDLE
                )  # from here on it must talk (ADP-19)
            yield answer
        finally:
            await answer.aclose()

    def _unreachable(self, error: Exception, vendor: Vendor) -> ProviderError:
        names = {kind.__name__ for kind in type(error).__mro__}
        if names & _UNREACHABLE:
            return OllamaUnreachableError(self._base)
        return (
            OllamaSilentError(self._base) if "ReadTimeout" in names else transport_error(vendor, error, phase="connect")
        )

    async def _refusal(
        self, client: httpx.AsyncClient, answer: httpx.Response, vendor: Vendor, model: str
    ) -> ProviderError:
        raw = await _read(answer, vendor)
        if answer.status_code == _NOT_FOUND:
            return OllamaModelError(self._base, model, await self._models(client))
        said = _object(raw) or raw.decode("utf-8", "replace")
        return status_error(vendor, answer.status_code, said, headers=answer.headers)

    async def _models(self, client: httpx.AsyncClient) -> list[str] | None:
        """What the machine has, if it says so; a failure to say never takes the place of the refusal (OLL-6)."""
        try:
            answer = await client.get(f"{self._base}/api/tags", headers=dict(self._http.headers or {}), timeout=_TAGS)
        except self._sdk.HTTPError:
            return None
        listed = (_object(answer.content) or {}).get("models") if answer.status_code == _OK else None
        if not isinstance(listed, list):
            return None
        entries = [obj(one) or {} for one in cast("list[object]", listed)]
        names = [entry.get("name") or entry.get("model") for entry in entries]
        return [name for name in names if isinstance(name, str)]

    def _vendor(self) -> Vendor:
        return Vendor(PROVIDER, {}, self._base, tuple((self._http.headers or {}).values()))

    def _make(self) -> httpx.AsyncClient:
        is_near = self._sdk.URL(self._base).host in _LOOPBACK
        # no proxy stands before this machine, and without TLS nothing needs the certificates, which are slow to load
        return self._sdk.AsyncClient(trust_env=not is_near, verify=self._base.startswith("https:"))

    def _memory(self, hooks: CallHooks | None) -> Memory | None:
        """What was translated before in the run that calls (DEC-16)."""
        lent = hooks or CURRENT_HOOKS.get()
        return None if lent is None else cast("Memory", lent.memory.setdefault(self, {}))


async def _close(client: httpx.AsyncClient) -> None:
    await client.aclose()


async def _read(answer: httpx.Response, vendor: Vendor) -> bytes:
    try:
        return await answer.aread()
    except Exception as error:
        raise transport_error(vendor, error, phase="stream") from error


async def _lines(answer: httpx.Response, vendor: Vendor) -> AsyncGenerator[bytes]:
    """The lines of a stream, whole whatever pieces they come in; the last one needs no end (OLL-5)."""
    rest = bytearray()
    pieces = answer.aiter_bytes()
    while True:
        try:
            rest += await anext(pieces)
        except StopAsyncIteration:
            break
        except Exception as error:
            raise transport_error(vendor, error, phase="stream") from error
        if b"\n" in rest:
            *whole, last = bytes(rest).split(b"\n")
            rest = bytearray(last)
            for line in whole:
                yield line
    if rest:
        yield bytes(rest)


def _object(raw: bytes) -> Mapping[str, Any] | None:
    """The object that some bytes are, or `None`."""
    try:
        return obj(json.loads(raw))
    except (ValueError, RecursionError):
        return None
