"""How a scenario of `vectors/agent-loop` becomes an agent, a scripted provider and steps.

Only what landed is understood; `unbuilt(case)` says what a case needs beyond it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from agentfootprint import Agent, Gates, Limits, Mock, ModelSettings, RecordOptions, RunResult, Tool, Usage
from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, event_to_wire
from agentfootprint.llm import CallHooks, LLMChunk, LLMRequest, LLMResponse, ToolCall
from agentfootprint.tools import ToolContext
from agentfootprint.trace import thaw
from tests.vectors.harness import Case

BUILT_AGENT = frozenset(
    {
        "system",
        "id",
        "maxIterations",
        "temperature",
        "maxTokens",
        "recordSystemPrompt",
        "wrapUpAtMaxIterations",
        "name",
        "toolArgValidation",
        "repeatedCallNudge",
    }
)
BUILT_STEPS = frozenset({"run", "state", "stoppedEarly"})
BUILT_BEHAVIOURS = frozenset({"return", "none", "sequence", "raise", "progress"})
BUILT_PROVIDER = frozenset({"replies", "usage", "stream"})
STEP_KEYS = frozenset({"op", "message", "keys"})


def unbuilt(case: Case) -> str | None:
    """What a case needs that is not built yet, or `None`."""
    given = case.input
    needs = [f"agent.{key}" for key in given.get("agent", {}) if key not in BUILT_AGENT]
    needs += [f"provider.{key}" for key in given.get("provider", {}) if key not in BUILT_PROVIDER]
    needs += [f"step {step['op']}" for step in given["steps"] if step["op"] not in BUILT_STEPS]
    needs += [f"step.{key}" for step in given["steps"] for key in step if key not in _step_keys(step["op"])]
    for tool in given.get("tools", ()):
        if tool["behavior"]["kind"] not in BUILT_BEHAVIOURS:
            needs.append(f"tool behaviour {tool['behavior']['kind']}")
        needs += [f"tool.{key}" for key in tool if key not in ("name", "description", "inputSchema", "behavior")]
    return ", ".join(sorted(set(needs))) or None


def _step_keys(op: str) -> frozenset[str]:
    return STEP_KEYS | {"input"} if op == "run" else STEP_KEYS


class Capture:
    """A provider that keeps what it was sent."""

    def __init__(self, mock: Mock) -> None:
        self.mock = mock
        self.requests: list[dict[str, Any]] = []

    @property
    def name(self) -> str:
        return self.mock.name

    @property
    def default_model(self) -> str:
        return self.mock.default_model

    async def complete(self, request: LLMRequest, hooks: CallHooks | None = None) -> LLMResponse:
        self.requests.append(request.to_wire())
        return await self.mock.complete(request, hooks)


class StreamingCapture(Capture):
    """The same with a streaming door."""

    async def stream(self, request: LLMRequest, hooks: CallHooks | None = None) -> AsyncIterator[LLMChunk]:
        self.requests.append(request.to_wire())
        async for chunk in self.mock.stream(request, hooks):
            yield chunk


class Scenario:
    """One case, ready to run."""

    def __init__(self, case: Case) -> None:
        given = case.input
        self.events: list[dict[str, Any]] = []
        self.dispatches: list[dict[str, Any]] = []
        script = given["provider"]
        usage = script.get("usage")
        mock = Mock(
            [_reply(reply) for reply in script["replies"]],
            usage=None if usage is None else Usage(input=usage["input"], output=usage["output"]),
        )
        self.provider = Capture(mock) if script.get("stream") is False else StreamingCapture(mock)
        options = given.get("agent", {})
        self.agent = Agent(
            self.provider,
            name=options.get("name", "Agent"),
            id=options.get("id"),
            system=options.get("system", ""),
            tools=[self._tool(tool) for tool in given.get("tools", ())],
            settings=ModelSettings(temperature=options.get("temperature"), max_tokens=options.get("maxTokens")),
            limits=Limits(
                iterations=options.get("maxIterations", 10), wrap_up=options.get("wrapUpAtMaxIterations", True)
            ),
            gates=Gates(
                tool_args=options.get("toolArgValidation", "enforce"),
                repeated_call_note=options.get("repeatedCallNudge", True),
            ),
            record=RecordOptions(system_prompt=options.get("recordSystemPrompt", False)),
        )
        self.agent.on("*", self._heard, form="wire")
        self._only = given.get("eventsOnly")
        self._steps = given["steps"]

    def _heard(self, event: Event[Any]) -> None:
        if self._only is None or event.type.startswith(tuple(self._only)):
            self.events.append(event_to_wire(event))

    def _tool(self, declared: Mapping[str, Any]) -> Tool[..., Any]:
        behavior, name = declared["behavior"], declared["name"]
        values = iter(behavior.get("values", ()))

        async def act(ctx: ToolContext, **args: object) -> object:
            self.dispatches.append({"tool": name, "args": args, "toolCallId": ctx.tool_call_id})
            if behavior["kind"] == "raise":
                raise RuntimeError(behavior["message"])
            for payload in behavior.get("payloads", ()):
                ctx.progress(payload)
            if behavior["kind"] == "sequence":
                return next(values)
            return behavior.get("value")

        schema = declared.get("inputSchema", {"type": "object", "properties": {}})
        return Tool(act, name=name, description=declared.get("description", name), input_schema=schema)

    async def run(self) -> list[dict[str, Any]]:
        """Take the steps; what each gave, in the form of `expected.steps`."""
        outcomes: list[dict[str, Any]] = []
        result: RunResult[str] | None = None
        for step in self._steps:
            if step["op"] == "run":
                try:
                    result = await self.agent.run(step["message"] if "message" in step else step["input"])
                except AgentFootprintError as error:
                    outcomes.append({"op": "run", "error": _raised(error)})
                else:
                    outcomes.append({"op": "run", "result": result.text})
                continue
            assert result is not None
            value = result.recording.snapshot["sharedState"] if step["op"] == "state" else _stopped_early(result)
            outcomes.append({"op": step["op"], "value": thaw(value)})
        return outcomes


def _raised(error: AgentFootprintError) -> dict[str, Any]:
    return {"errorType": type(error).__name__, "code": error.code, **vars(error)}


def _stopped_early(result: RunResult[str]) -> Any:
    early, committed = result.stopped_early, result.recording.snapshot["sharedState"].get("stoppedEarly")
    if early is None:
        return None
    assert (early.reason, early.iteration, early.pending) == (
        committed["reason"],
        committed["iteration"],
        committed["pendingToolCalls"],
    )
    return committed


def _reply(reply: Any) -> str | LLMResponse:
    if isinstance(reply, str):
        return reply
    calls = [ToolCall(call["id"], call["name"], call["args"], **_meta(call)) for call in reply.get("toolCalls", ())]
    return LLMResponse(reply.get("content", ""), tool_calls=calls)


def _meta(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"provider_meta": call["providerMeta"]} if "providerMeta" in call else {}


_RUN_ID = re.compile(r"run-\d+-\d+")
_DROPPED = frozenset({"wallClockMs", "runOffsetMs", "toolOrdinal"})
_ZERO = frozenset({"durationMs", "turnStartMs", "pausedToolStartMs"})


class Normaliser:
    """Takes off what differs from run to run: clocks, durations and run ids (the README's rules)."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def __call__(self, value: Any, key: str = "") -> Any:
        plain = thaw(value)
        if isinstance(plain, dict):
            fields = cast("dict[str, Any]", plain)
            return {k: self(item, k) for k, item in fields.items() if k not in _DROPPED}
        if isinstance(plain, list):
            return [self(item) for item in cast("list[Any]", plain)]
        if key in _ZERO and isinstance(plain, (int, float)):
            return 0
        if isinstance(plain, str) and _RUN_ID.fullmatch(plain):
            return self._ids.setdefault(plain, f"RUN_{len(self._ids) + 1}")
        return plain


class Markers:
    """Compares with placeholders: `*` is any non-empty value, equal `{{...}}` markers are equal texts."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fill(self, expected: Any, actual: Any) -> Any:
        """The expected value with placeholders replaced by what stands there, where that is allowed."""
        if isinstance(expected, dict) and isinstance(actual, dict):
            wanted, found = cast("dict[str, Any]", expected), cast("dict[str, Any]", actual)
            return {key: self.fill(item, found.get(key)) for key, item in wanted.items()}
        if isinstance(expected, list) and isinstance(actual, list):
            pair = cast("list[Any]", expected), cast("list[Any]", actual)
            return [self.fill(x, y) for x, y in zip(*pair, strict=True)] if len(pair[0]) == len(pair[1]) else pair[0]
        if expected == "*":
            return actual or "(a value)"
        if isinstance(expected, str) and "{{" in expected and isinstance(actual, str):
            return self._fill_text(expected, actual)
        return cast("Any", expected)

    def _fill_text(self, expected: str, actual: str) -> str:
        parts = re.split(r"(\{\{.*?\}\})", expected)
        pattern = "".join("(.+?)" if part.startswith("{{") else re.escape(part) for part in parts)
        found = re.fullmatch(pattern, actual, re.DOTALL)
        if found is None:
            return expected
        markers = [part for part in parts if part.startswith("{{")]
        for marker, text in zip(markers, found.groups(), strict=True):
            if self._texts.setdefault(marker, text) != text:
                return expected
        return actual
