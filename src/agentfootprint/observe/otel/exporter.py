"""Runs as OpenTelemetry spans by the GenAI conventions, without content unless it is asked for (chapter 6.1)."""

from __future__ import annotations

import asyncio
import threading
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final, Literal

from agentfootprint._optional import optional
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.observe.export.port import check_rate, is_sampled
from agentfootprint.observe.otel.dials import Dials

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from agentfootprint.observe.otel.turns import Turns

__all__ = ["OtelExporter"]

_SCOPE: Final = "agentfootprint"
_SALT: Final = b"otel"


class OtelExporter:
    """One trace a turn: the agent, its iterations, model calls and tools.

    Under the span that is current where `run` is called; without one, a trace of its own. Needs the extra `otel`. The
    tokens of a model call stand on its span alone, and sums on the root as `agentfootprint.usage.*`, so that a back end
    that adds up `gen_ai.usage.*` counts each token once. A status is set only for an error.

    No prompt, answer, argument, result or error message is in a span unless one of the two capture options is on.

    Args:
        service_name: Names the root span and stands on it as `service.name`.
        tracer: Starts the spans; `None`: one of the global tracer provider.
        sample_rate: The share of turns that become traces, from 0 to 1.
        gen_ai_names: Spans are called `chat <model>` and so on; else `llm`, `tool:<name>`.
        root_usage: `"gen_ai"`: sums on the root are called `gen_ai.usage.*`, for back ends that need it there.
        explain: Decisions, routes, permissions and checks become span events.
        capture_content: System text, messages and replies stand on model spans. Each call then holds the whole
            conversation, so traces grow faster than the runs.
        capture_tool_content: Arguments and results stand on tool spans; not of failed calls, and not the arguments
            that a rule rewrote.
        raw_conversation_id: The session id as it is; else its SHA-256.

    Raises:
        ConfigError: An option can't work.
    """

    def __init__(
        self,
        service_name: str,
        *,
        tracer: Any = None,  # noqa: ANN401  a tracer of the optional package, or one that is made like it
        sample_rate: float = 1.0,
        gen_ai_names: bool = True,
        root_usage: Literal["agentfootprint", "gen_ai"] = "agentfootprint",
        explain: bool = True,
        capture_content: bool = False,
        capture_tool_content: bool = False,
        raw_conversation_id: bool = False,
    ) -> None:
        if not isinstance(service_name, str) or not service_name:  # pyright: ignore[reportUnnecessaryIsInstance]  configuration gives anything
            raise ConfigError(
                "service_name", "The service has no name.", fix="Give the name traces are to be found by."
            )
        if root_usage not in ("agentfootprint", "gen_ai"):
            raise ConfigError("root_usage", f"root_usage is {root_usage!r}.", fix='Use "agentfootprint" or "gen_ai".')
        check_rate("sample_rate", sample_rate)
        self.name = "otel"
        self.service_name = service_name
        self.sample_rate = sample_rate
        self.gen_ai_names = gen_ai_names
        self.root_usage: Literal["agentfootprint", "gen_ai"] = root_usage
        self.explain = explain
        self.capture_content = capture_content
        self.capture_tool_content = capture_tool_content
        self.raw_conversation_id = raw_conversation_id
        self._tracer = tracer
        self._turns: Turns | None = None
        self._lock = threading.RLock()  # a span processor may run code that emits

    def validate(self) -> None:
        """See that OpenTelemetry is there.

        Raises:
            MissingExtraError: It is not; names the extra.
        """
        with self._lock:
            self._ready()

    def export(self, event: Event[Any]) -> None:
        """Turn an event of a run into spans; one outside any run is passed over (SNK-20).

        Raises:
            MissingExtraError: OpenTelemetry is not installed.
        """
        meta = event.meta
        if not meta.in_run or not is_sampled(self.sample_rate, meta.run_id, salt=_SALT):
            return
        with self._lock:
            self._ready().hear(event)

    async def flush(self) -> None:
        """Have the global tracer provider hand on what it holds; with a tracer of your own, flush its provider."""
        if self._tracer is not None:
            return
        with optional("opentelemetry", extra="otel", needed_by="OtelExporter"):
            from opentelemetry import trace
        flush: object = getattr(trace.get_tracer_provider(), "force_flush", None)
        if callable(flush):
            await asyncio.to_thread(flush)

    async def stop(self) -> None:
        """End the spans that are open."""
        with self._lock:
            if self._turns is not None:
                self._turns.close_all()

    def _ready(self) -> Turns:
        if self._turns is None:
            with optional("opentelemetry", extra="otel", needed_by="OtelExporter"):
                from opentelemetry import trace

                from agentfootprint.observe.otel.turns import Turns
            tracer: Tracer = self._tracer or trace.get_tracer(_SCOPE, _version())
            dials = Dials(
                service=self.service_name,
                gen_ai_names=self.gen_ai_names,
                root_usage=self.root_usage,
                explain=self.explain,
                capture_content=self.capture_content,
                capture_tool_content=self.capture_tool_content,
                raw_conversation_id=self.raw_conversation_id,
            )
            self._turns = Turns(tracer, dials)
        return self._turns


def _version() -> str:
    try:
        return version(_SCOPE)
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"
