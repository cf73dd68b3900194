"""What did an agent ask, get back and answer, and what did each step cost (05 s.5.6)?

The cost of a model call stands at the first step that came of it. A call that was never dispatched is no step (AGT-90).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from agentfootprint.events import Event, LLMEnd, LLMStart, RunConfigured, ToolEnd, ToolStart, TurnEnd, TurnStart
from agentfootprint.observe.views.openings import OpenCalls, never_ran
from agentfootprint.observe.views.per_run import RUN_EDGES, PerRun
from agentfootprint.observe.views.reading import text_of, told
from agentfootprint.trace import FrozenDict, JsonObject, Record, as_object, thaw

__all__ = ["StepCost", "ThinkingStep", "ThinkingTrace"]

Kind: TypeAlias = Literal["prompt", "ask", "return", "answer"]

_SKILL_READER: Final = "read_skill"


class StepCost(Record, frozen=True, kw_only=True, gc=False):
    """What a step took."""

    ms: int | float
    tokens: int
    """In and out; 0 where no model was asked, or it didn't say."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    """Of a prompt, read from a cache; absent when the provider didn't say."""


class ThinkingStep(Record, frozen=True, kw_only=True, gc=False):
    """One step; what a kind does not have is absent."""

    kind: Kind
    tool: str | None = None
    """The tool as it is shown: the skill's id where a skill was read."""
    tool_name: str | None = None
    input: JsonObject | None = None
    reply_type: Literal["data"] | None = None
    output: JsonObject | None = None
    to: str | None = None
    brain: str
    """What the model said; the library's words where it said nothing."""
    brain_source: Literal["framework"] | None = None
    brain_mode: Literal["reason"] | None = None
    answer: JsonObject | None = None
    cost: StepCost
    tools_seen: tuple[JsonObject, ...] | None = None
    error: str | None = None


_FREE: Final = StepCost(ms=0, tokens=0)


@dataclass(slots=True)
class _Thoughts:
    steps: list[ThinkingStep] = field(default_factory=list[ThinkingStep])
    open: OpenCalls[tuple[str, str]] = field(default_factory=OpenCalls[tuple[str, str]])
    agent: str = ""
    model: str = ""
    task: str = ""
    seen: tuple[JsonObject, ...] | None = None
    said: str = ""
    cost: StepCost = _FREE


class ThinkingTrace(PerRun[_Thoughts]):
    """The steps of a run: what was asked for, each tool call and its result, the answer.

    Args:
        agent: What the agent is called; else its id.
        model: What the model is called; else its name.
        asker: Who is answered.
    """

    name = "thinking"
    relevant_types = (
        *RUN_EDGES,
        *(kind.type for kind in (TurnStart, LLMStart, LLMEnd, ToolStart, ToolEnd, TurnEnd)),
    )

    def __init__(self, *, agent: str | None = None, model: str | None = None, asker: str = "user") -> None:
        super().__init__()
        self.agent = agent
        self.model = model
        self.asker = asker

    def new_state(self) -> _Thoughts:
        """No thought yet."""
        return _Thoughts()

    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""
        state, kind, payload = self.state_of(event), event.type, event.payload
        if kind == RunConfigured.type:
            state.agent = text_of(payload, "agent_id")
        elif kind == TurnStart.type:
            state.task = text_of(payload, "user_prompt")
        elif kind == LLMStart.type:
            state.model = text_of(payload, "model")
            state.seen = _tools(payload)
        elif kind == LLMEnd.type:
            state.said, state.cost = text_of(payload, "content"), _cost_of(payload)
        elif kind == ToolStart.type and not never_ran(event):
            self._asked(state, event)
        elif kind == ToolEnd.type and not never_ran(event):
            _returned(state, event)
        elif kind == TurnEnd.type:
            self._answered(state, text_of(payload, "final_content"))

    def steps(self, run_id: str | None = None, *, task: str | None = None) -> tuple[ThinkingStep, ...]:
        """The steps, in order; the first is the prompt.

        Args:
            run_id: The run; without it the one that began last.
            task: What the run is about; else the user's message.
        """
        state = self.known_of(run_id)
        prompt = ThinkingStep(kind="prompt", brain=state.task if task is None else task, cost=_FREE)
        return (prompt, *state.steps)

    def to_wire(self, run_id: str | None = None, *, task: str | None = None) -> dict[str, Any]:
        """The trace under the keys of the wire."""
        state, steps = self.known_of(run_id), self.steps(run_id, task=task)
        return {
            "task": steps[0].brain,
            "agent": state.agent if self.agent is None else self.agent,
            "model": state.model if self.model is None else self.model,
            "asker": self.asker,
            "steps": [thaw(step) for step in steps],
        }

    def _asked(self, state: _Thoughts, event: Event[Any]) -> None:
        payload = event.payload
        name, args = text_of(payload, "tool_name"), as_object(told(payload, "args"))
        skill = (args or {}).get("id") if name == _SKILL_READER else None
        shown = skill if isinstance(skill, str) else name
        state.open.open(event, (shown, name))
        state.steps.append(
            ThinkingStep(
                kind="ask",
                tool=shown,
                tool_name=name,
                input=FrozenDict({}) if args is None else args,  # pyright: ignore[reportArgumentType]  the same object, as JSON
                brain=state.said or f"Asks {shown}.",
                cost=state.cost,
                tools_seen=state.seen,
            )
        )
        state.said, state.cost = "", _FREE

    def _answered(self, state: _Thoughts, text: str) -> None:
        first_line = text.strip().split("\n", 1)[0]
        state.steps.append(
            ThinkingStep(
                kind="answer",
                to=self.asker,
                brain=text,
                answer=FrozenDict({"headline": first_line, "text": text}),  # pyright: ignore[reportArgumentType]  the same object, as JSON
                cost=state.cost,
                tools_seen=state.seen,
            )
        )
        state.said, state.cost = "", _FREE


def _returned(state: _Thoughts, event: Event[Any]) -> None:
    payload = event.payload
    shown, name = state.open.close(event) or ("", "")
    result, failed = told(payload, "result"), told(payload, "error") is True
    output = as_object(result)
    took = told(payload, "duration_ms")
    state.steps.append(
        ThinkingStep(
            kind="return",
            tool=shown,
            tool_name=name,
            reply_type="data",
            output=FrozenDict({"value": result}) if output is None else output,  # pyright: ignore[reportArgumentType]  the same object, as JSON
            brain=f"{shown} failed." if failed else f"{shown} answered.",
            brain_source="framework",
            brain_mode="reason",
            cost=StepCost(ms=took if isinstance(took, (int, float)) else 0, tokens=0),
            error="tool failed" if failed else None,
        )
    )


def _cost_of(payload: Any) -> StepCost:  # noqa: ANN401  any payload
    usage, took = told(payload, "usage"), told(payload, "duration_ms")
    ms = took if isinstance(took, (int, float)) else 0
    tokens_in, tokens_out, cached = told(usage, "input"), told(usage, "output"), told(usage, "cache_read")
    if told(usage, "usage_reported") is False or not isinstance(tokens_in, int) or not isinstance(tokens_out, int):
        return StepCost(ms=ms, tokens=0)
    return StepCost(
        ms=ms,
        tokens=tokens_in + tokens_out,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_cached=cached if isinstance(cached, int) else None,
    )


def _tools(payload: Any) -> tuple[JsonObject, ...] | None:  # noqa: ANN401  any payload
    offered = told(payload, "tools")
    if offered is None or isinstance(offered, str):
        return None
    seen: list[Any] = [
        FrozenDict({key: told(each, key) for key in ("name", "description") if told(each, key) is not None})
        for each in cast("list[Any]", offered)
    ]
    return tuple(seen)
