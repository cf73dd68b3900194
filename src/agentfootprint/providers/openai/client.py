"""How is OpenAI asked, and what may go wrong on the way?

Servers: OpenAI's Chat Completions through its official SDK, and with another address whatever speaks them. Atomic: one
call is one request, without retries (ADP-8). Not offered: the Responses API.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Self, cast

from agentfootprint._optional import optional
from agentfootprint.errors import ConfigError
from agentfootprint.llm import (
    CURRENT_HOOKS,
    CallHooks,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    ProviderBadRequestError,
    Role,
)
from agentfootprint.providers.arguments import CallReader
from agentfootprint.providers.clients import LoopClients, WithClients
from agentfootprint.providers.faults import Vendor, request_id_of
from agentfootprint.providers.openai.request import Dialect, Memory, build_body, check_strict, manifest_of
from agentfootprint.providers.openai.response import read_completion
from agentfootprint.providers.openai.stream import Assembler
from agentfootprint.providers.openai.transport import (
    STATUSES,
    KeyedClient,
    Route,
    chunks_of,
    make_client,
    open_stream,
    post,
)
from agentfootprint.providers.options import HttpOptions, MalformedArgs, checked_address
from agentfootprint.providers.secrets import KeySource, environment
from agentfootprint.trace import JsonObject

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

__all__ = ["OpenAIProvider"]

_ADDRESS: Final = "https://api.openai.com/v1"
_MODEL: Final = "gpt-4o-mini"
_UNKNOWN_OPTION: Final = frozenset((400, 422))


class OpenAIProvider(WithClients):
    """A model of OpenAI, or of an endpoint that speaks its Chat Completions.

    Args:
        model: The model to ask when a request names none; by default `gpt-4o-mini`.
        api: Only `chat` is built.
        http: Key, address, timeout. Another address means a compatible server: older names of options, no forced tool
            choice. The key is otherwise read from `OPENAI_API_KEY`, the address from `OPENAI_BASE_URL`.

    Raises:
        MissingCredentialError: There is no key (ADP-3).
        MissingExtraError: The package `openai` is not installed.
        ConfigError: `api` is something else than `chat`, or the address is none.
    """

    name: str = "openai"
    carries_in_messages: Sequence[Role] = ("system", "user", "assistant")

    def __init__(
        self, model: str | None = None, *, api: Literal["chat"] = "chat", http: HttpOptions | None = None
    ) -> None:
        if cast("str", api) != "chat":
            raise ConfigError(
                "api", f"OpenAIProvider speaks the API 'chat', not {api!r}.", fix="Leave it out, or write api='chat'."
            )
        self._http = http or HttpOptions()
        own = self._http.client is None
        address = self._http.base_url or (environment("OPENAI_BASE_URL") if own else None)
        is_legacy = address is not None and address.rstrip("/") != _ADDRESS
        dialect = Dialect(
            default_model=model or _MODEL, is_legacy=is_legacy, empty_content="omit" if is_legacy else "null"
        )
        self._open(dialect, address or _ADDRESS)

    def _open(self, dialect: Dialect, address: str) -> None:
        """Make what is the same for OpenAI and for compatible endpoints; opens no socket (ADP-2)."""
        with optional("openai", extra="openai", needed_by=type(self).__name__):
            import openai
        given = cast("AsyncOpenAI | None", self._http.client)
        self._sdk = openai
        self._address = checked_address(address)
        self._key = self._key_source()
        self._dialect = dialect
        self._reader = CallReader(self.name, prefix="openai-call-")
        self._may_lack_end = False
        self._given = None if given is None else KeyedClient(self._adapted(given))
        self._clients = LoopClients(self._make, KeyedClient.aclose, owner=self.name)

    def _adapted(self, given: AsyncOpenAI) -> AsyncOpenAI:
        """A client of the caller's with what else was asked for; it shares the connections of the one given."""
        changes = {
            "base_url": None if self._address == _ADDRESS else self._address,
            "timeout": self._http.timeout,
            "default_headers": self._http.headers,
        }
        changed: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        return given.with_options(**changed) if changed else given

    def _key_source(self) -> KeySource | None:
        if self._http.client is not None and self._http.api_key is None:
            return None  # the client has its own
        return KeySource(self.name, self._http.api_key, variable="OPENAI_API_KEY", label="OpenAI")

    @property
    def default_model(self) -> str | None:
        """The model that is asked when a request names none."""
        return self._dialect.default_model

    @property
    def carries_forced_tool_choice(self) -> bool:
        """Whether the endpoint can be made to call one tool; not assumed of compatible servers (OAI-2)."""
        return not self._dialect.is_legacy

    @property
    def native_output(self) -> bool:
        """Whether the endpoint can hold an answer to a schema (STR-6); not assumed of compatible servers."""
        return not self._dialect.is_legacy

    def with_options(
        self,
        *,
        default_max_tokens: int | None = None,
        reasoning: bool | None = None,
        legacy_dialect: bool | None = None,
        output_schema: JsonObject | None = None,
        output_name: str | None = None,
        on_malformed_args: MalformedArgs | None = None,
        tolerate_missing_finish: bool | None = None,
    ) -> Self:
        """The same provider with other settings; what is left out stays.

        Args:
            default_max_tokens: Most tokens of a reply whose request does not say.
            reasoning: Whether its models are reasoning models, whatever their names (OAI-1).
            legacy_dialect: `False` for a server at another address that speaks today's OpenAI (OAI-3).
            output_schema: A JSON Schema that the vendor holds every answer to (STR-6).
            output_name: The name of that schema.
            on_malformed_args: What becomes of arguments that can't be read (ADP-10).
            tolerate_missing_finish: Take a stream that ends without a reason for whole (ADP-9).

        Raises:
            ConfigError: OpenAI's strict output does not take the schema; names the path.
        """
        if output_schema is not None:
            check_strict(output_schema)
        changes = {
            "default_max_tokens": default_max_tokens,
            "is_reasoning": reasoning,
            "is_legacy": legacy_dialect,
            "empty_content": None if legacy_dialect is None else "omit" if legacy_dialect else "null",
            "output_schema": output_schema,
            "output_name": output_name,
        }
        changed = {key: value for key, value in changes.items() if value is not None}
        other = copy.copy(self)
        vars(other)["_dialect"] = dataclasses.replace(self._dialect, **changed)
        if on_malformed_args is not None:
            vars(other)["_reader"] = self._reader.with_policy(on_malformed_args)
        if tolerate_missing_finish is not None:
            vars(other)["_may_lack_end"] = tolerate_missing_finish
        return other

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        """Answer a request as a whole.

        Raises:
            ProviderError: The call failed; the class says how.
        """
        body = build_body(request, self._dialect, stream=False, memory=self._memory(hooks))
        client, vendor, route = await self._ready(body)
        data, headers = await post(client, vendor, route, body)
        return read_completion(
            data,
            self._reader,
            provider=self.name,
            manifest=manifest_of(body),
            request_id=request_id_of(headers),
        )

    async def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        """Answer in chunks, the last of which holds the response.

        Raises:
            ProviderError: The call failed; the class says how. `StreamTruncatedError` when the stream ended too early.
        """
        body = build_body(request, self._dialect, stream=True, memory=self._memory(hooks))
        client, vendor, route = await self._ready(body)
        opened, body = await self._ask_stream(client, vendor, route, body)
        index = 0
        try:
            headers: Mapping[str, str] = opened.response.headers
            assembler = Assembler(
                self._reader,
                provider=self.name,
                manifest=manifest_of(body),
                request_id=request_id_of(headers),
                may_lack_end=self._may_lack_end,
            )
            async with contextlib.aclosing(chunks_of(opened, vendor, headers)) as chunks:
                async for chunk in chunks:
                    text, thinking = assembler.feed(chunk)
                    if thinking:
                        yield LLMChunk(token_index=index, content="", thinking_delta=thinking)
                        index += 1
                    if text:
                        yield LLMChunk(token_index=index, content=text)
                        index += 1
            yield LLMChunk(token_index=index, content="", done=True, response=assembler.finish())
        finally:
            await opened.response.aclose()  # a reader who leaves stops the model (PRT-15)

    async def _ask_stream(
        self, client: AsyncOpenAI, vendor: Vendor, route: Route, body: dict[str, Any]
    ) -> tuple[AsyncStream[object], dict[str, Any]]:
        """Open the stream; a server that does not know how to report its usage is asked without (OAI-2)."""
        idle = self._http.timeout
        try:
            return await open_stream(client, vendor, route, body, idle=idle), body
        except ProviderBadRequestError as refused:
            names_it = refused.status in _UNKNOWN_OPTION and "stream_options" in refused.problem
            if not (names_it and self._dialect.is_legacy):
                raise
        bare = {key: value for key, value in body.items() if key != "stream_options"}
        opened = await open_stream(client, vendor, route, bare, idle=idle)
        self._dialect = dataclasses.replace(self._dialect, asks_usage=False)
        return opened, bare

    async def _ready(self, body: Mapping[str, Any]) -> tuple[AsyncOpenAI, Vendor, Route]:
        """The client of this loop with the key in force, what must be known to tell of failures, and the way."""
        key = None if self._key is None else await self._key.current()
        held = self._given or await self._clients.get()
        client = held.with_key(key)
        used = key or client.api_key
        vendor = Vendor(self.name, STATUSES, str(client.base_url), (used, *(self._http.headers or {}).values()))
        return client, vendor, self._route(body["model"], used)

    def _route(self, model: str, key: str) -> Route:
        """Where a request goes; the same for all models here."""
        del model, key
        return Route()

    def _make(self) -> KeyedClient:
        return KeyedClient(make_client(self._sdk, self._address, self._http))

    def _memory(self, hooks: CallHooks | None) -> Memory | None:
        """What was translated before in the run that calls (DEC-16)."""
        lent = hooks or CURRENT_HOOKS.get()
        return None if lent is None else cast("Memory", lent.memory.setdefault(self, {}))
