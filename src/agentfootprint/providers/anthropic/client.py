"""How is a Claude model asked, through Anthropic's own SDK?

Served: `POST /v1/messages` of Anthropic and of gateways that speak it. The SDK carries bytes; what is sent and
what is read is translated in the modules beside this one. Atomic: one call is one request, without retries (ADP-8). Not
offered: pictures, documents, the vendor's own tools, batches.

Invariants: construction opens no socket and asks for no key (ADP-2, ADP-4); one instance keeps nothing of a call
(PRT-11); leaving or cancelling a call closes its connection (PRT-15).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING, Any, Final, Self, cast

import msgspec

from agentfootprint._optional import optional
from agentfootprint.llm import (
    CURRENT_HOOKS,
    CallHooks,
    LLMChunk,
    LLMRequest,
    LLMResponse,
    Role,
    ThinkingHandler,
    find_thinking_handler,
)
from agentfootprint.providers.anthropic.models import ThinkingMode
from agentfootprint.providers.anthropic.request import PROVIDER, BodyOptions, Turns, request_body
from agentfootprint.providers.anthropic.response import Reader, manifest_of
from agentfootprint.providers.anthropic.stream import Assembly
from agentfootprint.providers.anthropic.transport import STATUSES, Connection, events_of, open_stream, post
from agentfootprint.providers.clients import LoopClients, WithClients
from agentfootprint.providers.faults import Vendor, request_id_of
from agentfootprint.providers.options import HttpOptions, MalformedArgs
from agentfootprint.providers.secrets import KeySource, environment

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

__all__ = ["AnthropicProvider"]

_DEFAULT_MODEL: Final = "claude-sonnet-4-5-20250929"
_ADDRESS: Final = "https://api.anthropic.com"
_KEY_VARIABLE: Final = "ANTHROPIC_API_KEY"
_ADDRESS_VARIABLE: Final = "ANTHROPIC_BASE_URL"


class AnthropicProvider(WithClients):
    """A Claude model behind Anthropic's Messages API.

    One instance serves any number of runs and event loops at the same time. It closes the clients it made; one given
    in `HttpOptions` stays the caller's.

    Args:
        model: The model asked where a request names none; left out, a current one of the middle size.
        http: Key, address, timeout, headers, or a client of the SDK's own (`anthropic.AsyncAnthropic`). The key stands
            in `ANTHROPIC_API_KEY` otherwise, another address in `ANTHROPIC_BASE_URL`.

    Raises:
        MissingExtraError: The package `anthropic` is not installed.
        MissingCredentialError: There is no key.
    """

    name: str = PROVIDER
    """Stands in events and before error messages."""
    carries_in_messages: Final[tuple[Role, ...]] = ("user", "assistant")
    carries_forced_tool_choice: Final = True
    thinking_handler: Final[ThinkingHandler | None] = find_thinking_handler(PROVIDER)

    def __init__(self, model: str | None = None, *, http: HttpOptions | None = None) -> None:
        self.default_model = model or _DEFAULT_MODEL
        """The model asked where a request names none."""
        self._body = BodyOptions(default_model=self.default_model)
        self._reader = Reader()
        self._http = http or HttpOptions()
        self._given = cast("AsyncAnthropic | None", self._http.client)
        self._key: KeySource | None = None
        self._address = self._http.base_url or ""
        if self._given is None:
            with optional("anthropic", extra="anthropic", needed_by="AnthropicProvider"):
                import anthropic as _  # noqa: F401  a missing package is told here, not at the first call
            self._key = KeySource(PROVIDER, self._http.api_key, variable=_KEY_VARIABLE, label="Anthropic")
            self._address = self._address or environment(_ADDRESS_VARIABLE) or _ADDRESS
        self._clients = LoopClients(self._connect, Connection.aclose, owner=PROVIDER)

    def __repr__(self) -> str:
        return f"AnthropicProvider({self.default_model!r})"

    def with_options(
        self,
        *,
        max_tokens: int | None = None,
        parallel_tool_calls: bool | None = None,
        on_malformed_args: MalformedArgs | None = None,
        thinking_mode: Callable[[str], ThinkingMode] | None = None,
    ) -> Self:
        """The same provider, over the same connections, with other ways; what is left out stays as it is.

        Args:
            max_tokens: Most tokens of a reply where the request says nothing; 4,096 at first.
            parallel_tool_calls: False asks the model for one call at a time.
            on_malformed_args: What becomes of a call whose arguments can't be read: reported on the call at first,
                otherwise raised, or run with none.
            thinking_mode: How a model thinks, by its name, for names that tell nothing: `budget`, `adaptive` or `none`.
        """
        other = copy.copy(self)
        changes = {
            "max_tokens": max_tokens,
            "parallel_tool_calls": parallel_tool_calls,
            "thinking_mode": thinking_mode,
        }
        changed = {name: value for name, value in changes.items() if value is not None}
        vars(other)["_body"] = msgspec.structs.replace(self._body, **changed)
        if on_malformed_args is not None:
            vars(other)["_reader"] = self._reader.with_policy(on_malformed_args)
        return other

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        """Answer a request as a whole.

        Raises:
            ProviderError: The call failed; the class says how.
        """
        body = self._translate(request, hooks)
        client, vendor = await self._ready()
        message, headers = await post(client, vendor, body)
        return self._reader.message(message, manifest_of(body), request_id_of(headers))

    async def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncGenerator[LLMChunk, None]:
        """Answer a request piece by piece; the last chunk holds the response.

        Raises:
            ProviderError: The call failed; the class says how.
            StreamTruncatedError: The stream ended before its end signal.
        """
        body = self._translate(request, hooks)
        client, vendor = await self._ready()
        opened = await open_stream(client, vendor, body, idle=self._http.timeout)
        try:
            assembly = Assembly(self._reader, manifest_of(body), request_id_of(opened.response.headers))
            async with contextlib.aclosing(events_of(opened, vendor)) as events:
                async for name, data in events:
                    for chunk in assembly.feed(name, data):
                        yield chunk
                        if chunk.done:
                            return
            raise assembly.truncated()
        finally:
            await opened.response.aclose()  # a reader who leaves stops the model (PRT-15)

    def _translate(self, request: LLMRequest, hooks: CallHooks | None) -> dict[str, Any]:
        hooks = hooks or CURRENT_HOOKS.get()
        if hooks is None:
            return request_body(request, self._body)
        turns = hooks.memory.get(self)
        if turns is None:
            turns = hooks.memory[self] = Turns()
        return request_body(request, self._body, turns)

    async def _ready(self) -> tuple[AsyncAnthropic, Vendor]:
        """The client of this loop with the key in force, and what must be known to tell of failures."""
        connection = await self._clients.get()
        if self._key is not None:
            client = connection.keyed(await self._key.current())
        else:
            client = cast("AsyncAnthropic", self._given)
        key = client.api_key or client.auth_token or ""
        secrets = (key, *(self._http.headers or {}).values())
        return client, Vendor(PROVIDER, STATUSES, str(client.base_url), secrets)

    def _connect(self) -> Connection:
        return Connection(self._address, self._http)
