"""Tests of agentfootprint.observe.otel.turns: agents within compositions, from events as they are stored."""

from __future__ import annotations

from typing import Any

from opentelemetry.trace import StatusCode

from agentfootprint.events import event_from_wire
from agentfootprint.observe import OtelExporter
from tests.observe.otel.tracing import Tracing

USAGE = {"input": 1, "output": 1}


class Story:
    """Tells an exporter what happens, in mounts of one run."""

    def __init__(self, runner: str) -> None:
        self.tracing = Tracing()
        self._exporter = OtelExporter("shop", tracer=self.tracing.tracer)
        self._runner = runner
        self._clock = 0

    def __call__(self, event_type: str, at: str = "seed#0", /, **payload: Any) -> None:
        self._clock += 1
        meta = {
            "wallClockMs": self._clock,
            "runOffsetMs": self._clock,
            "runtimeStageId": at,
            "subflowPath": at.split("/")[:-1],
            "compositionPath": [self._runner],
            "runId": "run-1-1",
        }
        self._exporter.export(
            event_from_wire({"type": f"agentfootprint.{event_type}", "payload": payload, "meta": meta})
        )

    def asks(self, mount: str, name: str) -> None:
        start = {"iteration": 1, "provider": "mock", "model": name, "systemPromptChars": 0, "messagesCount": 1}
        self("stream.llm_start", f"{mount}/call-llm#7", toolsCount=0, **start)

    def is_answered(self, mount: str) -> None:
        end = {"iteration": 1, "content": "", "toolCallCount": 0, "usage": USAGE, "stopReason": "stop", "durationMs": 1}
        self("stream.llm_end", f"{mount}/call-llm#7", **end)

    def agent(self, mount: str, *, ends: bool = True) -> None:
        self("agent.turn_start", f"{mount}/seed#1", turnIndex=0, userPrompt="Hi")
        self("agent.iteration_start", f"{mount}/call-llm#7", turnIndex=0, iterIndex=1)
        self.asks(mount, f"model-{mount}")
        if ends:
            self.is_answered(mount)
            self("agent.iteration_end", f"{mount}/final#9", turnIndex=0, iterIndex=1, toolCallCount=0)
            self(
                "agent.turn_end",
                f"{mount}/final#9",
                turnIndex=0,
                finalContent="",
                totalInputTokens=1,
                totalOutputTokens=1,
                iterationCount=1,
                durationMs=1,
            )

    def tree(self) -> set[tuple[str, str | None]]:
        return {(span.name, self.tracing.parent_of(span)) for span in self.tracing.spans}


def test_agents_in_a_sequence_stand_under_the_workflow() -> None:
    """SNK-27."""
    story = Story("Sequence:pipe")

    story("composition.enter", kind="Sequence", id="pipe", name="Pipe", childCount=2)
    story.agent("la")
    story.agent("lb")
    story("composition.exit", kind="Sequence", id="pipe", name="Pipe", status="ok", durationMs=1)

    assert story.tree() == {
        ("invoke_workflow shop", None),
        *((f"invoke_agent {name}", "invoke_workflow shop") for name in ("la", "lb")),
        ("iteration:1", "invoke_agent la"),
        ("iteration:1", "invoke_agent lb"),
        ("chat model-la", "iteration:1"),
        ("chat model-lb", "iteration:1"),
    }
    root = story.tracing.named("invoke_workflow shop").attributes or {}
    assert root["gen_ai.workflow.name"] == "Pipe"
    assert root["agentfootprint.usage.input_tokens"] == 2
    assert story.tracing.attribute("invoke_agent la", "agentfootprint.usage.input_tokens") == 1


def test_branches_side_by_side_do_not_mix() -> None:
    story = Story("Parallel:fan")

    story("composition.enter", kind="Parallel", id="fan", name="Fan", childCount=2)
    story.asks("x/sf-llm-call", "mx")
    story.asks("y/sf-llm-call", "my")
    story.is_answered("x/sf-llm-call")
    story.is_answered("y/sf-llm-call")
    story("composition.exit", kind="Parallel", id="fan", name="Fan", status="ok", durationMs=1)

    assert story.tree() == {
        ("invoke_workflow shop", None),
        ("chat mx", "invoke_workflow shop"),
        ("chat my", "invoke_workflow shop"),
    }
    for name in ("mx", "my"):
        assert story.tracing.attribute(f"chat {name}", "gen_ai.usage.input_tokens") == 1


def test_compositions_nest_and_one_that_failed_is_an_error() -> None:
    story = Story("Sequence:pipe")

    story("composition.enter", kind="Sequence", id="pipe", name="Pipe", childCount=1)
    story("composition.enter", "inner/seed#3", kind="Loop", id="rep", name="Rep", childCount=1)
    story.agent("inner/body")
    story("composition.exit", "inner/guard#9", kind="Loop", id="rep", name="Rep", status="err", durationMs=1)
    story("composition.exit", kind="Sequence", id="pipe", name="Pipe", status="ok", durationMs=1)

    assert ("invoke_workflow Rep", "invoke_workflow shop") in story.tree()
    assert ("invoke_agent body", "invoke_workflow Rep") in story.tree()
    assert story.tracing.named("invoke_workflow Rep").status.status_code is StatusCode.ERROR
    assert story.tracing.named("invoke_workflow shop").status.status_code is StatusCode.UNSET


def test_a_failure_ends_all_that_is_open_the_innermost_first() -> None:
    """SNK-25."""
    story = Story("Parallel:fan")

    story("composition.enter", kind="Parallel", id="fan", name="Fan", childCount=2)
    story.agent("x", ends=False)
    story.agent("y", ends=False)
    story("error.fatal", error="no", stage="__root__", scope="run")

    names = [span.name for span in story.tracing.spans]
    assert len(names) == 7
    assert names[-1] == "invoke_workflow shop"
    assert names.index("invoke_agent x") > names.index("chat model-x")
    failed = [span.name for span in story.tracing.spans if span.status.status_code is StatusCode.ERROR]
    assert failed == ["invoke_workflow shop"]


def test_an_agent_at_the_place_of_its_composition_is_within_it() -> None:
    story = Story("Loop:rep")

    story("composition.enter", kind="Loop", id="rep", name="Rep", childCount=1)
    for _ in range(2):
        story("agent.turn_start", turnIndex=0, userPrompt="Hi")
        story("agent.turn_end", turnIndex=0, finalContent="", iterationCount=1)
    story("composition.exit", kind="Loop", id="rep", name="Rep", status="ok", durationMs=1)

    assert [(span.name, story.tracing.parent_of(span)) for span in story.tracing.spans] == [
        ("invoke_agent agent", "invoke_workflow shop"),
        ("invoke_agent agent", "invoke_workflow shop"),
        ("invoke_workflow shop", None),
    ]


def test_embeddings_and_retrievals_are_spans_that_end_where_they_are_told() -> None:
    """SNK-27."""
    story = Story("Agent:desk")

    story("agent.turn_start", turnIndex=0, userPrompt="Hi")
    for _ in range(9):
        story("shop.nothing")
    story("embedding.generated", model="e-1", provider="mock", inputKind="query", dimension=8, count=1, durationMs=4)
    story("memory.retrieved", strategy="top-k", queryHash="h", k=3, consideredCount=5, admittedCount=2, rejectedCount=3)
    story("agent.turn_end", turnIndex=0, finalContent="", iterationCount=0)

    embedding = story.tracing.named("embeddings e-1")
    assert embedding.start_time == 7_000_000
    assert embedding.end_time == 11_000_000
    assert story.tracing.attribute("embeddings e-1", "gen_ai.operation.name") == "embeddings"
    assert story.tracing.attribute("retrieval top-k", "agentfootprint.retrieval.admitted_count") == 2
    assert story.tracing.parent_of(embedding) == "invoke_agent shop"


def test_a_turn_that_is_joined_midway_is_traced_from_there() -> None:
    story = Story("Agent:desk")

    story("stream.tool_end", toolCallId="c1", result=1, durationMs=1)
    story.asks("sf-x", "m")
    story.is_answered("sf-x")
    story("agent.turn_end", turnIndex=0, finalContent="", iterationCount=3)

    assert story.tree() == {("chat m", "invoke_agent shop"), ("invoke_agent shop", None)}
