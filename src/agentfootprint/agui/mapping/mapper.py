"""What does a client see of one run, event by event?

Invariants: what is sent always passes the client's checks, whatever the events say (AGU-84); the same events give the
same output with the same ids (AGU-7); an event costs the same however long the run is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from agentfootprint.agui.errors import AgUiMapperStateError
from agentfootprint.agui.ids import AgUiIds
from agentfootprint.agui.mapping.calls import Calls, OpenCall
from agentfootprint.agui.mapping.custom import Customs, raw_of
from agentfootprint.agui.mapping.interrupts import Questions
from agentfootprint.agui.mapping.lifecycle import Ending, finished
from agentfootprint.agui.mapping.moments import Moment, clean, label, told, when, whole
from agentfootprint.agui.mapping.outcomes import Cancelled, Failed, Interrupted, Outcome, Succeeded
from agentfootprint.agui.mapping.protocol import core
from agentfootprint.agui.mapping.reasoning import Reasoning
from agentfootprint.agui.mapping.snapshot import Thread
from agentfootprint.agui.mapping.state import LiveDocument
from agentfootprint.agui.mapping.steps import Steps
from agentfootprint.agui.mapping.texts import Texts
from agentfootprint.agui.mapping.usage import Spent
from agentfootprint.agui.options import AgUiOptions
from agentfootprint.events import (
    CompositionEnter,
    CompositionExit,
    CompositionIterationExit,
    CompositionIterationStart,
    ErrorFatal,
    Event,
    IterationEnd,
    IterationStart,
    LLMEnd,
    LLMStart,
    MiddlewareDecision,
    OutputContractUnmet,
    PauseRequest,
    PauseResume,
    PermissionHalt,
    Restarted,
    RouteDecided,
    ThinkingDelta,
    ThinkingEnd,
    Token,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)

__all__ = ["Mapper"]

_Sent: TypeAlias = "list[core.Event]"
_Heard: TypeAlias = "Callable[[Moment, str | None], _Sent]"
_PAUSED_AT: Final = "tool-calls#paused"
_STEPS: Final = {
    IterationStart.type: Steps.iteration_start,
    CompositionEnter.type: Steps.enter,
    CompositionIterationStart.type: Steps.pass_start,
    CompositionIterationExit.type: Steps.pass_end,
}


class Mapper:
    """Maps the events of one run to the events of one AG-UI run: `begin`, then `map` each, then `end`.

    Not for several threads at once.

    Args:
        thread_id: The AG-UI `threadId`.
        run_id: The AG-UI `runId`, from which every new id is made.
        options: How the run is shown.
        parent_run_id: The AG-UI `parentRunId`, if the client gave one.
        open_calls: On a resume: the calls that wait, as the paused mapper's `open_calls` were.
        message_ids: On a resume: the paused mapper's `message_ids`.
        history: What the client shows of the thread before this run's own messages, this turn's user message
            included; snapshots begin with it. Left out: nobody keeps the thread, and the user's message is read from
            the events.
        client_state: The client's state, for `state="live"`.
        client_input: The client's input, echoed if `include_input` says so.
    """

    def __init__(
        self,
        thread_id: str,
        run_id: str,
        options: AgUiOptions | None = None,
        *,
        parent_run_id: str | None = None,
        open_calls: Sequence[OpenCall] = (),
        message_ids: Mapping[str, str] | None = None,
        history: Sequence[core.Message] | None = None,
        client_state: object = None,
        client_input: core.RunAgentInput | None = None,
    ) -> None:
        self._ids = AgUiIds(run_id)
        self._run = thread_id, run_id
        self._options = options or AgUiOptions()
        self._parent_run_id, self._client_input = parent_run_id, client_input
        self._thread = Thread(history)
        self._steps = Steps()
        self._texts = Texts(self._ids, self._thread, message_ids or {})
        self._reasoning = Reasoning(self._ids, self._thread, encrypted=self._options.encrypted_reasoning)
        self._calls = Calls(self._ids, self._thread, open_calls)
        self._questions = Questions(self._ids, self._calls)
        self._customs = Customs(self._options, self._calls)
        self._spent = Spent()
        self._ending = Ending()
        self._state = LiveDocument(client_state, is_wanted=self._options.state == "live")
        self._handlers = self._wanted()
        self._last_ms: int | None = None
        self._phase = 0

    def begin(self) -> list[core.Event]:
        """What is sent before the run starts: RUN_STARTED, and the state if it is live (AGU-10).

        Raises:
            AgUiMapperStateError: It has begun already.
        """
        if self._phase:
            raise AgUiMapperStateError("A mapper was told to begin twice.")
        self._phase = 1
        sent: _Sent = [
            core.RunStartedEvent(
                thread_id=self._run[0],
                run_id=self._run[1],
                parent_run_id=self._parent_run_id,
                protocol_version=core.PROTOCOL_VERSION,
                input=self._client_input if self._options.include_input else None,
            )
        ]
        if self._state.is_live:
            sent.append(self._state.snapshot())
        return sent

    def map(self, event: Event[Any], *, text: str | None = None) -> list[core.Event]:
        """What is sent for one event of the run; often nothing, and nothing once it has ended.

        Args:
            event: The event, as the record has it: live, or read from a file.
            text: Of a token or a reply: the text that is handed to the caller, where the record holds less; ignored
                under `text="record"` (AGU-44).

        Raises:
            AgUiMapperStateError: It has not begun.
        """
        if self._phase != 1:
            if not self._phase:
                raise AgUiMapperStateError("A mapper was given an event before it had begun.")
            return []
        kind = event.type
        heard = self._handlers.get(kind)
        wants_custom = self._customs.wants(kind)
        if heard is None and not wants_custom and not self._state.is_live:
            return []
        moment = Moment(event, self._stamp(event))
        custom = [self._customs.forward(moment)] if wants_custom and kind == ToolEnd.type else []
        sent = [] if heard is None else heard(moment, text if self._options.text == "caller" else None)
        if wants_custom:
            sent += custom or [self._customs.forward(moment)]
        if self._state.is_live:
            sent += self._state.hear(moment, self._calls.open, self._spent, self._questions.interrupts())
        return sent

    def end(self, outcome: Outcome | None = None) -> list[core.Event]:
        """What is sent when the run has settled: what is open is closed, then the one terminal event (AGU-11).

        Args:
            outcome: How it ended; left out, what the events say: a question, a failure, or an answer.

        Raises:
            AgUiMapperStateError: It has not begun, or has ended already.
        """
        if self._phase != 1:
            raise AgUiMapperStateError(f"A mapper was told to end {'twice' if self._phase else 'before it had begun'}.")
        self._phase = 2
        stamp = {} if self._last_ms is None else {"timestamp": self._last_ms}
        sent = self._reasoning.close_all(stamp) + self._texts.close_all(stamp) + self._steps.close_all(stamp)
        if outcome is None:
            outcome = Interrupted() if self._questions.is_paused else self._ending.failure or Succeeded()
        if isinstance(outcome, Interrupted):
            return sent + self._interrupted(outcome, stamp)
        if isinstance(outcome, Succeeded):
            return sent + self._succeeded(outcome, stamp)
        self._texts.settle(None)
        sent += self._snapshot(stamp, is_due=isinstance(outcome, Failed) and self._thread.is_wrong)
        if isinstance(outcome, Cancelled):
            sent += self._ended("done", stamp)
            return [*sent, finished(self._run, core.RunFinishedCancelledOutcome(), self._spent.rows(), stamp)]
        sent += self._ended("failed", stamp)
        return [*sent, self._failed(outcome, stamp)]

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        """Calls that were sent and have no result yet, in the order of sending; keep them with a paused run."""
        return self._calls.open

    @property
    def message_ids(self) -> Mapping[str, str]:
        """By mount scope, the id of the latest assistant message, to which later tool calls belong."""
        return dict(self._texts.latest)

    @property
    def interrupts(self) -> tuple[core.Interrupt, ...]:
        """What the run asks, once it has paused; without the addresses at which a person consents."""
        return tuple(self._questions.interrupts())

    @property
    def messages(self) -> tuple[core.Message, ...]:
        """What the client should show now: `history`, then this run's messages under the ids they were sent with."""
        return tuple(self._thread.messages())

    @property
    def unpaired_results(self) -> int:
        """Results that came without their call, and were not sent (AGU-42)."""
        return self._calls.unpaired

    def _wanted(self) -> dict[str, _Heard]:
        """What is done at which event, under these options."""
        wanted: dict[str, _Heard] = {
            TurnStart.type: self._turn_start,
            IterationEnd.type: self._iteration_end,
            LLMStart.type: self._llm_start,
            Token.type: self._token,
            LLMEnd.type: self._llm_end,
            Restarted.type: self._restarted,
            RouteDecided.type: self._quietly(self._texts.routed),
            ToolStart.type: self._tool_start,
            ToolEnd.type: lambda moment, _: self._calls.result(moment),
            TurnEnd.type: self._turn_end,
            CompositionExit.type: self._composition_exit,
            PauseRequest.type: self._quietly(self._questions.asked),
            PauseResume.type: self._resumed,
            ErrorFatal.type: self._quietly(self._ending.failed),
            PermissionHalt.type: self._quietly(lambda _: self._ending.halted()),
            MiddlewareDecision.type: self._quietly(self._ending.ruled),
            OutputContractUnmet.type: self._quietly(lambda _: self._ending.unmet()),
        }
        if self._options.steps:
            wanted |= {kind: self._step(step) for kind, step in _STEPS.items()}
        if self._options.reasoning == "full":
            wanted[ThinkingDelta.type] = lambda moment, _: self._reasoning.delta(moment)
            wanted[ThinkingEnd.type] = lambda moment, _: self._reasoning.end(moment)
        return wanted

    def _step(self, step: Callable[[Steps, Moment], _Sent]) -> _Heard:
        return lambda moment, _: step(self._steps, moment)

    @staticmethod
    def _quietly(take: Callable[[Moment], None]) -> _Heard:
        def heard(moment: Moment, _: str | None) -> _Sent:
            take(moment)
            return []

        return heard

    def _turn_start(self, moment: Moment, _: str | None) -> _Sent:
        if not moment.scope and not self._thread.is_kept:
            prompt = label(moment.payload, "user_prompt") or ""
            self._thread.ask(self._ids.next("history", moment.address).id, prompt)
        return []

    def _iteration_end(self, moment: Moment, _: str | None) -> _Sent:
        sent = self._texts.close_scope(moment)
        return sent + self._steps.iteration_end(moment) if self._options.steps else sent

    def _llm_start(self, moment: Moment, _: str | None) -> _Sent:
        if not moment.scope and (whole(moment.payload, "messages_count") or 0) > 1:
            self._thread.heard_of_more()
        self._spent.asked(moment)
        self._texts.asked(moment)
        return self._reasoning.asked(moment)

    def _token(self, moment: Moment, text: str | None) -> _Sent:
        if self._reasoning.is_open and self._texts.begins(moment):
            return self._reasoning.close(moment) + self._texts.token(moment, text)
        return self._texts.token(moment, text)

    def _llm_end(self, moment: Moment, text: str | None) -> _Sent:
        self._spent.replied(moment)
        return self._reasoning.close(moment) + self._texts.reply(moment, text)

    def _restarted(self, moment: Moment, _: str | None) -> _Sent:
        return self._reasoning.close(moment) + self._texts.restarted(moment)

    def _tool_start(self, moment: Moment, _: str | None) -> _Sent:
        parent = self._texts.latest.get(moment.scope)
        return self._reasoning.close(moment) + self._calls.start(moment, parent)

    def _turn_end(self, moment: Moment, _: str | None) -> _Sent:
        self._texts.committed(moment)
        if not moment.scope:
            self._ending.answered(moment)
        return self._texts.close_scope(moment)

    def _composition_exit(self, moment: Moment, _: str | None) -> _Sent:
        if not moment.scope:
            self._texts.closed_at = moment.address
            if told(moment.payload, "status") != "err":
                self._ending.went_on()
        return self._steps.exit(moment) if self._options.steps else []

    def _resumed(self, moment: Moment, _: str | None) -> _Sent:
        del moment
        self._questions.resumed()
        self._calls.resumed()
        return []

    def _stamp(self, event: Event[Any]) -> Mapping[str, Any]:
        stamp: dict[str, Any] = {}
        if self._options.timestamps:
            moment = when(event)
            if moment is not None:
                stamp["timestamp"] = self._last_ms = moment
        if self._options.raw:
            stamp["raw_event"] = raw_of(event, reasoning=self._options.reasoning == "full")
        return stamp

    def _interrupted(self, outcome: Interrupted, stamp: Mapping[str, Any]) -> _Sent:
        if not self._questions.is_paused:
            self._questions.read(outcome.data or {}, "", _PAUSED_AT)
            self._state.paused(self._questions.interrupts())
        self._texts.settle(None)
        sent = self._snapshot(stamp, is_due=True)
        if self._state.is_live:
            sent.append(self._state.snapshot(stamp))
        asked = core.RunFinishedInterruptOutcome(interrupts=self._questions.interrupts(outcome.consent_urls))
        return [*sent, finished(self._run, asked, self._spent.rows(), stamp)]

    def _succeeded(self, outcome: Succeeded, stamp: Mapping[str, Any]) -> _Sent:
        text = self._texts.answer if self._options.text == "record" or outcome.text is None else clean(outcome.text)
        self._texts.settle(text)
        result = outcome.result
        if result is UNSET and self._options.result != "none":
            result = text
        pending = list(outcome.pending_tool_call_ids) or None
        said = core.RunFinishedSuccessOutcome(pending_tool_call_ids=pending)
        sent = self._snapshot(stamp, is_due=self._thread.is_stale) + self._ended("done", stamp)
        return [*sent, finished(self._run, said, self._spent.rows(), stamp, result)]

    def _failed(self, outcome: Failed, stamp: Mapping[str, Any]) -> core.Event:
        message = clean(self._ending.sentence(outcome))
        return core.RunErrorEvent(message=message, code=outcome.code, usage=self._spent.rows(), **stamp)

    def _ended(self, status: Literal["done", "failed"], stamp: Mapping[str, Any]) -> _Sent:
        return self._state.end(status, stamp) if self._state.is_live else []

    def _snapshot(self, stamp: Mapping[str, Any], *, is_due: bool) -> _Sent:
        wish = self._options.messages_snapshot
        if wish == "never" or not (is_due or wish == "always") or not self._thread.is_whole:
            return []
        return [core.MessagesSnapshotEvent(messages=self._thread.messages(), **stamp)]
