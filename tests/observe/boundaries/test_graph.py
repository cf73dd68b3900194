"""Tests of agentfootprint.observe.boundaries.graph."""

from __future__ import annotations

from typing import Any

from agentfootprint.observe import BoundaryLog, StepGraphBuilder, build_step_graph
from tests.observe.made import desk

AT = {"ts": 10, "commitIdxBefore": 0, "commitIdxAfter": 0}


def boundary(kind: str, address: str, *, inside: bool = False, ts: int = 10, **more: Any) -> dict[str, Any]:
    """A boundary as the wire has it; `inside` when the address is the mount's own."""
    segments = address.partition("#")[0].split("/")
    path = ["__root__", *(segments if inside else segments[:-1])]
    if kind.startswith("subflow"):
        local = segments[-1]
        more = {
            "subflowId": "/".join(segments),
            "localSubflowId": local,
            "subflowName": local,
            "isAgentInternal": False,
            **more,
        }
    return {
        "type": kind,
        **AT,
        "ts": ts,
        "runtimeStageId": address,
        "subflowPath": path,
        "depth": len(path) - 1,
        **more,
    }


def piece(mount: str, text: str) -> dict[str, Any]:
    return boundary(
        "context.injected", f"{mount}/sf-messages/compose#1", slot="messages", source="user", contentSummary=text
    )


def asked(mount: str, number: int, arrow: str = "user→llm") -> dict[str, Any]:
    return boundary("llm.start", f"{mount}/call-llm#{number}", model="m", provider="p", actorArrow=arrow)


def answered(mount: str, number: int, calls: int = 0, **usage: int) -> dict[str, Any]:
    arrow = "llm→tool" if calls else "llm→user"
    used = {"input": 1, "output": 1, **usage}
    return boundary(
        "llm.end", f"{mount}/call-llm#{number}", content=mount, toolCallCount=calls, usage=used, actorArrow=arrow
    )


SIDE_BY_SIDE = [
    boundary("run.entry", "__root__#0", isRoot=True),
    boundary("subflow.entry", "x#1", inside=True, primitiveKind="LLMCall"),
    boundary("subflow.entry", "y#2", inside=True, primitiveKind="LLMCall"),
    piece("x", "for x"),
    piece("y", "for y"),
    asked("x", 3),
    asked("y", 4),
    answered("x", 3, input=5),
    answered("y", 4, input=7),
    boundary("subflow.exit", "x#1", inside=True),
    boundary("subflow.exit", "y#2", inside=True),
]


def test_agents_side_by_side_do_not_take_each_other_s_pieces_tokens_or_places() -> None:
    graph = build_step_graph(SIDE_BY_SIDE).to_wire()

    calls = [node for node in graph["nodes"] if node["kind"] == "user->llm"]
    assert [(node["injections"][0]["contentSummary"], node["tokens"]["in"]) for node in calls] == [
        ("for x", 5),
        ("for y", 7),
    ]
    assert [(edge["from"], edge["to"]) for edge in graph["edges"]] == [
        ("step-llm-start-x/call-llm#3-1", "step-llm-end-x/call-llm#3-1"),
        ("step-llm-start-y/call-llm#4-2", "step-llm-end-y/call-llm#4-2"),
    ]


def test_what_comes_after_a_boundary_follows_on_from_its_last_step() -> None:
    after = [*SIDE_BY_SIDE, boundary("subflow.entry", "z#9", inside=True, primitiveKind="LLMCall"), asked("z", 10)]

    edges = build_step_graph(after).to_wire()["edges"]

    assert edges[-1]["from"] == "step-llm-end-y/call-llm#4-2"
    assert edges[-1]["to"] == "step-llm-start-z/call-llm#10-3"


def test_a_call_that_was_never_dispatched_is_no_step_and_the_last_real_result_is_shown() -> None:
    never: dict[str, Any] = {"notDispatched": {"cause": "halt"}}
    events = [
        asked("a", 1),
        answered("a", 1, calls=2),
        boundary("tool.start", "a/tool-calls#2", toolName="t", toolCallId="c1", args={}),
        boundary("tool.end", "a/tool-calls#2", toolCallId="c1", result="real"),
        boundary("tool.start", "a/tool-calls#2", toolName="t", toolCallId="c2", args={}, **never),
        boundary("tool.end", "a/tool-calls#2", toolCallId="c2", result="settled", **never),
        asked("a", 3, "tool→llm"),
    ]

    nodes = build_step_graph(events).to_wire()["nodes"]

    assert [node["kind"] for node in nodes] == ["user->llm", "llm->tool", "tool->llm"]
    assert nodes[-1]["toolResult"] == "real"


def test_ids_of_calls_repeat_and_ids_of_steps_do_not() -> None:
    start = boundary("tool.start", "a/tool-calls#2", toolName="t", toolCallId="same", args={})
    ends = [boundary("tool.end", "a/tool-calls#2", toolCallId="same", result=n, ts=10 + n) for n in (1, 2)]

    nodes = build_step_graph([start, start, *ends]).to_wire()["nodes"]

    assert [node["id"] for node in nodes] == [
        "step-tool-start-a/tool-calls#2-same",
        "step-tool-start-a/tool-calls#2-same-2",
    ]
    assert [node["endOffsetMs"] for node in nodes] == [1, 2]


def test_a_decision_of_the_user_s_own_is_a_node_and_one_of_the_machinery_is_none() -> None:
    def decided(internal: bool) -> dict[str, Any]:
        return boundary("decision.branch", "choose#1", decider="Choose", chosen="yes", isAgentInternal=internal)

    nodes = build_step_graph([decided(True), decided(False)]).to_wire()["nodes"]

    assert [(node["id"], node["kind"]) for node in nodes] == [("decision-choose#1-yes", "decision-branch")]


def test_a_recording_is_drawn_with_what_was_new_or_with_all_that_was_sent() -> None:
    recording = desk(turns=2, system="Be brief.").run_sync("Weather?").recording

    native, wire = (build_step_graph(recording, form=form).to_wire()["nodes"] for form in ("native", "wire"))

    counts = [[len(node["injections"]) for node in nodes if node["kind"].endswith("->llm")] for nodes in (native, wire)]
    assert counts == [[3, 2, 2], [3, 5, 7]]
    assert [node["kind"] for node in native] == [node["kind"] for node in wire]


def test_a_graph_can_be_built_as_a_run_goes_on() -> None:
    builder = StepGraphBuilder()
    recording = desk().run_sync("Weather?").recording

    sizes: list[int] = []
    for event in BoundaryLog(recording).events():
        builder.add(event)
        sizes.append(len(builder.graph().nodes))

    assert sizes == sorted(sizes)
    assert builder.graph() == build_step_graph(recording)


def test_what_is_no_boundary_is_left_out() -> None:
    assert build_step_graph([{"type": "shop.sold"}, {"type": "llm.start"}, {}]).to_wire() == {"nodes": [], "edges": []}
