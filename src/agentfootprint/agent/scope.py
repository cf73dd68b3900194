"""Everything that belongs to one run, and to no other: counters, collected facts, the way to the listeners.

An `Agent` is a description; a thousand runs of it may be in flight, each with a scope of its own (AGT-20, DEC-16).
Stages find it at `h.run.scope`. Nothing here outlives the run except what its result keeps.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from agentfootprint.agent.composing.budgets import DEFAULT_BUDGET
from agentfootprint.agent.composing.delivering import text_of
from agentfootprint.agent.running.pairs import PairGuard
from agentfootprint.events import (
    Carried,
    ContextInjected,
    Event,
    EventBus,
    MetaMarks,
    Payload,
    RunFacts,
    SourceShare,
    ToolProgress,
    app_event,
)
from agentfootprint.llm import (
    CallHooks,
    LLMRequest,
    LLMResponse,
    RequestMessages,
    Usage,
    provider_for_run,
)
from agentfootprint.recording import SOURCE_BY_ROLE, MessageRows, fresh_rows, source_of_message
from agentfootprint.tools import RepeatedCalls, Teardown, ToolRun
from agentfootprint.trace import Execution, FrozenDict, FrozenList, Journal, Value, freeze, thaw, utf16_length

if TYPE_CHECKING:
    from agentfootprint.agent.composing.offering import ToolOffer
    from agentfootprint.agent.ending import EndedBecause
    from agentfootprint.agent.gating.gates import RunGates
    from agentfootprint.agent.gating.messaging import Spoken
    from agentfootprint.agent.keeping.continuing import Continuation
    from agentfootprint.agent.options import Gates, Limits, ModelSettings, RecordOptions
    from agentfootprint.agent.output import Miss
    from agentfootprint.agent.pausing.waiting import TakenUp
    from agentfootprint.agent.plan import AgentPlan
    from agentfootprint.agent.result import LandedCall, ToolCallRecord
    from agentfootprint.agent.shaping.configuring import Configured
    from agentfootprint.agent.spending.charging import Purse
    from agentfootprint.context import Deliveries, Pass
    from agentfootprint.identity import Identity
    from agentfootprint.llm import LLMMessage, LLMProvider, SupportsStream, ToolSchema
    from agentfootprint.recording import Cover
    from agentfootprint.resilience import Spending
    from agentfootprint.tools import ToolSessions

__all__ = ["CALL_MARKS", "RunScope"]

CALL_MARKS: Final[ContextVar[MetaMarks | None]] = ContextVar("agentfootprint_call_marks", default=None)
"""The marks of the call that this task, or its worker thread, runs, where calls run side by side."""


class RunScope:
    """The state of one run outside its recorded state: what stages share and what the result is made from."""

    __slots__ = (
        "_append",
        "_began",
        "_bus",
        "_composed",
        "_now",
        "_sent",
        "_waiters",
        "_window",
        "_window_totals",
        "_wire_bus",
        "answer",
        "approvals",
        "asked_from",
        "attempts",
        "budget",
        "context",
        "continued",
        "cover",
        "deliveries",
        "deps",
        "dispatched_before",
        "ended_because",
        "facts",
        "gates",
        "given",
        "has_output",
        "held",
        "hooks",
        "identity",
        "invalid_in_a_row",
        "journal",
        "landed",
        "limits",
        "marks",
        "message",
        "miss",
        "model",
        "model_calls",
        "offer",
        "output_error",
        "output_source",
        "output_value",
        "pairs",
        "pass_",
        "plan",
        "prior_slots",
        "provider",
        "purse",
        "record",
        "refusal",
        "repeated",
        "response",
        "rules",
        "settings",
        "slots_delta",
        "spending",
        "spoken",
        "step",
        "stopped_early",
        "streaming",
        "system_before",
        "system_pass",
        "taken_up",
        "teardown",
        "tool_calls",
        "tool_run",
        "unmet",
        "usage",
        "wire_checked",
        "wire_findings",
        "wire_unreachable",
        "wrap_up_asked",
    )

    def __init__(  # noqa: PLR0913, PLR0915  built by AgentRun only; a line for each fact
        self,
        plan: AgentPlan,
        *,
        message: str,
        facts: RunFacts,
        deps: object,
        identity: Identity | None,
        settings: ModelSettings,
        limits: Limits,
        gates: Gates,
        record: RecordOptions,
        bus: EventBus,
        wire_bus: EventBus,
        given: Configured | None = None,
        sessions: Callable[[], ToolSessions] | None = None,
    ) -> None:
        self.plan = plan
        self.provider = provider_for_run(plan.provider)
        self.model = plan.model
        """The model of this run."""
        self.context = plan.context
        """The context of this run: the agent's, with the run's own base prompt if it has one."""
        self.given = given
        """What the caller said for this run alone."""
        self.streaming = _streaming(self.provider)
        self.hooks = CallHooks(facts.run_id)
        self.message = message
        self.facts = facts
        self.deps = deps
        self.identity = identity
        self.settings = settings
        self.limits = limits
        self.gates = gates
        self.record = record
        self._bus = bus
        self._wire_bus = wire_bus
        self.cover: Cover | None = None
        """What listeners get instead of what a policy keeps out; `None` without a policy."""
        self._waiters: list[asyncio.Future[None]] = []
        self._composed: dict[str, tuple[FrozenList | MessageRows, Execution]] = {}
        self.pass_: Pass | None = None
        self.system_pass: Pass | None = None
        """The pass that the system prompt was composed from."""
        self.offer: ToolOffer = plan.every_offer
        self.budget = limits.context_budget or DEFAULT_BUDGET
        self.deliveries: Deliveries | None = None
        self.prior_slots: FrozenDict | None = None
        self.slots_delta: FrozenDict | None = None
        self.response: LLMResponse | None = None
        self.usage: Usage | None = None
        self.purse: Purse | None = plan.purse if limits is plan.limits else plan.purse_of(limits)
        self.spending: Spending | None = None
        """What the run has spent so far, when it has prices."""
        self.model_calls = 0
        self.wire_checked = 0
        self.wire_unreachable = 0
        self.wire_findings = 0
        self.tool_calls: list[ToolCallRecord | LandedCall] = []
        self.teardown = Teardown(limits.teardown)
        self.tool_run = ToolRun(
            deps=deps,
            run_id=facts.run_id,
            session_id=facts.session_id,
            identity=identity,
            deadline=None if limits.deadline is None else time.monotonic() + limits.deadline,
            teardown=self.teardown,
            sessions=sessions,
        )
        self.tool_run.on_progress = self._progressed
        self.tool_run.on_emit = self._emitted
        self.tool_run.on_session = self.teardown.tell = self.hear_session
        self.step: Execution | str = "consumer-emit#0"
        self.system_before: str | None = None
        """The system prompt that was in force when the run paused, until a pass composes one."""
        self.rules: RunGates | None = None
        """Who is asked about calls and messages; only where somebody is."""
        self.spoken: Spoken | None = None
        """The answer, as the rules at the output left it."""
        self.refusal: Exception | None = None
        """What the run raises when its record is closed."""
        self.held: Teardown | None = None
        """Cleanups of the call that asked a person, undone until the answer is there."""
        self.continued: Continuation | None = None
        """The conversation that the run goes on with, if it does."""
        self.taken_up: TakenUp | None = None
        """The calls that waited together, until the run that takes them up is through with them."""
        self.approvals: tuple[FrozenDict, ...] = ()
        """The approvals that hold for the whole conversation."""
        self.asked_from: int | None = None
        """From which call of the open batch on nothing runs, as a person is asked about them first."""
        self.dispatched_before = 0
        """How many calls were dispatched when the open batch began."""
        self.landed: Sequence[LLMMessage] = ()
        """What the open batch has added to the window so far, which is committed when it ends."""
        self.marks: MetaMarks | None = None
        self.repeated = RepeatedCalls()
        self.invalid_in_a_row = 0
        self.wrap_up_asked = False
        self.answer = ""
        self.ended_because: EndedBecause = "answer"
        self.stopped_early: dict[str, Any] | None = None
        self.attempts = 0
        self.miss: Miss | None = None
        self.unmet: FrozenDict | None = None
        self.has_output = False
        self.output_value: Any = None
        self.output_source: Literal["model", "fallback", "canned"] | None = None
        self.output_error: Exception | None = None
        """What the fallback failed with."""
        self._window = FrozenList([], 0)
        self._window_totals: tuple[int, dict[str, tuple[int, int]]] = (0, {})
        self._sent = RequestMessages(self._window)
        self.pairs = PairGuard()
        """Looks at every conversation before it is sent."""

    def bind(self, journal: Journal) -> None:
        """Take the journal that the engine made for this run."""
        self.journal = journal
        self._append: Callable[[Any], None] = journal.append
        self._now: Callable[[], int] = journal.now
        self._began = 0

    def seal(self) -> None:
        """Let nothing more be recorded or heard: the run has ended, and something of it could not be stopped."""
        self._append = self.journal.append = _unheard
        self._bus = self._wire_bus = EventBus()

    def shown(self, key: str, text: str) -> str:
        """What stands under a key of the state, as it may be quoted under another name."""
        return text if self.cover is None else str(self.cover.member(key, text))

    def emit(self, where: Execution | str, payload: Payload, marks: MetaMarks | None = None) -> None:
        """Record an event and hand it to whoever listens; costs two lookups when nobody does (DSP-8).

        Args:
            where: The open step, or a pseudo-stage address for an event outside any stage (EVT-9).
            payload: What happened.
            marks: What the event adds to its meta.
        """
        event = Event(payload, where, perf_counter_ns() - self.journal.t0, self.facts, marks)
        self._append(event)
        if self._bus.heard or self._wire_bus.heard or self._waiters:
            self.deliver(event)

    def _progressed(self, tool: str, call_id: str, iteration: int, payload: Value) -> None:
        progress = ToolProgress(tool_call_id=call_id, tool_name=tool, iteration=iteration, payload=payload)
        self.emit(self.step, progress, self.marks or CALL_MARKS.get())

    def hear_session(self, payload: Payload) -> None:
        """File what happens to something that a tool keeps open; that it was closed stands outside any stage."""
        self.emit(payload.outside_stage or self.step, payload)

    def _emitted(self, name: str, payload: FrozenDict) -> None:
        event = app_event(name, payload, self.step, self._now(), self.facts)
        self._append(event)
        self.deliver(event)

    def deliver(self, event: Event[Any]) -> None:
        """Hand an event to the listeners of both forms, and wake those who read the run as a stream."""
        if self.cover is not None:
            event = self.journal.shown().rows[-1]
        bus = self._bus
        if bus.heard and bus.has_listeners(event.type):
            bus.dispatch(event)
        bus = self._wire_bus
        if bus.heard and bus.has_listeners(event.type):
            bus.dispatch(event)
        if self._waiters:
            self.wake()

    def announce(
        self,
        where: Execution,
        slot: str,
        rows: FrozenList | MessageRows,
        composed: Payload,
        pressure: Payload | None = None,
    ) -> None:
        """Tell listeners about a composed slot; nothing is recorded, the commit implies it (01b s.5).

        Native listeners hear of rows that are new since the slot's last pass, wire listeners of all.

        Args:
            where: The compose step.
            slot: The slot.
            rows: All rows of the slot, in order.
            composed: The record that closes the pass.
            pressure: That the slot is over its budget, when it is.
        """
        last, last_step = self._composed.get(slot, (None, None))
        self._composed[slot] = (rows, where)
        if not self._bus.heard and not self._wire_bus.heard:
            return
        tell = _dispatch
        if self.cover is not None:
            self.journal.shown()
            rows, last, tell = self.cover.of(rows), self.cover.of(last), self._tell_covered
        for bus, wire in ((self._bus, False), (self._wire_bus, True)):
            if not (bus.has_listeners(_INJECTED) or bus.has_listeners(_COMPOSED)):
                if pressure is not None and bus.has_listeners(pressure.type):
                    tell(bus, Event(pressure, where, self._now(), self.facts))
                continue
            told = fresh_rows(None if wire else _rows(last), _rows(rows) or ())
            for row in told:
                tell(bus, Event(row, where, self._now(), self.facts))
            kept = len(rows) - len(told)
            marks = None
            if kept and not wire and last_step is not None:
                marks = MetaMarks(carried=Carried(count=kept, from_=last_step.runtime_stage_id))
            tell(bus, Event(composed, where, self._now(), self.facts, marks))
            if pressure is not None:
                tell(bus, Event(pressure, where, self._now(), self.facts))

    def _tell_covered(self, bus: EventBus, event: Event[Any]) -> None:
        assert self.cover is not None  # noqa: S101  else nobody asks
        bus.dispatch(self.cover.implied(event))

    @property
    def has_asked(self) -> bool:
        """Whether a model was asked, whatever came of it: there was something to check."""
        return len(self._sent) > 0

    def elapsed_ms(self) -> float:
        """Milliseconds since the run began, or this part of it."""
        return (self._now() - self._began) / 1e6

    def run_identity(self) -> FrozenDict:
        """Whose run this is, as the state keeps it (02 s.4.2): the caller's, else the session's, else the run's own."""
        if self.identity is not None:
            return freeze(thaw(self.identity))
        return FrozenDict({"conversationId": self.facts.session_id or self.facts.run_id})

    def wake(self) -> None:
        """Let every waiting reader of the stream look at the journal again."""
        waiting, self._waiters[:] = [*self._waiters], []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    def join(self, waiters: list[asyncio.Future[None]]) -> None:
        """Be a part of a run that is under way: wake those who wait for it, and count time from now."""
        self._waiters = waiters
        self._began = self._now()

    async def changed(self) -> None:
        """Wait until something was recorded."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def observe_window(self, window: FrozenList) -> None:
        """Bring the sums over the window up to date; costs what was added since the last time (01b s.7)."""
        known = self._window
        if window is known:
            return
        used, sources = self._window_totals
        if not window.starts_with(known):
            known, used, sources = window[:0], 0, {}
        for position, message in enumerate(window.buf[known.n : window.n], known.n):
            text = message.content
            if type(text) is not str or not text.isascii():
                length = utf16_length(text_of(message, position))
            else:
                length = len(text)
            used += length
            source = _SOURCES[message.role] if message.injected_by is None else source_of_message(message)
            chars, count = sources.get(source, (0, 0))
            sources[source] = (chars + length, count + 1)
        self._window_totals = (used, sources)
        self._window = window

    def took(self, request: LLMRequest, response: LLMResponse) -> None:
        """Count a model call: its usage, and whether it served the tools it was given (INT-5)."""
        self.response = response
        self.model_calls += 1
        usage = response.usage or Usage(known=False)
        self.usage = usage if self.usage is None else self.usage + usage
        manifest = response.wire_manifest
        if manifest is None:
            self.wire_unreachable += 1
        else:
            self.wire_checked += 1
            tools, offer = request.tools, self.offer
            known = cast("object", tools) is offer.schemas
            offered = offer.names if known else tuple([tool.name for tool in tools or ()])
            if manifest.tool_names != offered and set(manifest.tool_names) != set(offered):
                self.wire_findings += 1

    def window_breakdown(self) -> tuple[int, FrozenDict]:
        """Characters in the window, and `{source: {chars, count}}`, as the messages slot reports them (SLOT-8)."""
        used, sources = self._window_totals
        return used, FrozenDict(
            {name: SourceShare(chars=chars, count=count) for name, (chars, count) in sources.items()}
        )

    def request(
        self, system: str | None, history: FrozenList, tools: FrozenList, forced: str | None = None
    ) -> LLMRequest:
        """The request of one model call, with only the settings that were made (AGT-1, AGT-42)."""
        settings = self.settings
        self._sent = self._sent.over(history)
        return LLMRequest(
            model=self.model,
            messages=self._sent,
            system_prompt=system,
            tools=cast("Sequence[ToolSchema]", tools) if len(tools) else None,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            thinking=settings.thinking,
            tool_choice=forced,
        )


_SOURCES: Final = dict(SOURCE_BY_ROLE)
"""A plain dict: two messages an iteration are looked up."""


def _streaming(provider: LLMProvider) -> SupportsStream | None:
    """The provider as one that answers piece by piece, if it does; `isinstance` asks the same at ten times the cost."""
    return cast("SupportsStream", provider) if getattr(provider, "stream", None) is not None else None


def _unheard(_row: object) -> None:
    return None


_INJECTED = "agentfootprint.context.injected"
_COMPOSED = "agentfootprint.context.slot_composed"


def _rows(rows: FrozenList | MessageRows | None) -> Sequence[ContextInjected] | None:
    """Rows as the sequence they read as; a checker can't see that a frozen list is one."""
    return cast("Sequence[ContextInjected] | None", rows)


def _dispatch(bus: EventBus, event: Event[Any]) -> None:
    bus.dispatch(event)  # which may be that of a run whose observers are told later
