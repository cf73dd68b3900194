"""Tests of agentfootprint.agent.composing.delivering."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentfootprint import Agent, Fact, Gates, Instruction, Limits, Mock, Recording, tool
from agentfootprint.agent import RunOptions
from agentfootprint.agent.composing.delivering import text_of
from agentfootprint.context import Always, Content, DeliveryRoleError, Injection, WindowMessageError
from agentfootprint.explain import why
from agentfootprint.llm import InjectedBy, LLMMessage, LLMRequest, LLMResponse, ToolCall
from agentfootprint.trace import FrozenList, thaw


@tool
async def t() -> str:
    """Do t. Use it first."""
    return "r"


def said(role: Any, text: str = "FACT", **options: Any) -> Fact:
    return Fact("f", text, slot="messages", role=role, **options)


def agent_with(*context: Any, calls: int = 1, **options: Any) -> Agent[object, str]:
    replies = [LLMResponse(tool_calls=(ToolCall(f"c{n + 1}", "t", {}),)) for n in range(calls)]
    return Agent(Mock([*replies, "done"], cursor="run"), system="S", tools=[t], context=[*context], **options)


def rows(agent: Agent[Any, Any], form: Any) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    agent.on("agentfootprint.context.injected", lambda event: heard.append(thaw(event.payload)), form=form)
    agent.run_sync("q")
    return [row for row in heard if row["slot"] == "messages"]


def test_a_fact_is_said_once_in_its_place_and_stays_there() -> None:
    result = agent_with(said("assistant")).run_sync("q")

    state = thaw(result.recording.snapshot["sharedState"])
    assert [(each["role"], each["content"], each.get("injectedBy")) for each in state["history"]] == [
        ("user", "q", None),
        ("assistant", "FACT", {"injectionId": "f", "flavor": "fact", "iteration": 1}),
        ("assistant", "", None),
        ("tool", "r", None),
    ]
    assert state["messagesDelivery"] == {"iteration": 2, "delivered": [], "deferred": []}
    assert len(state["deliveredMessageKeys"]) == 1


def test_rows_name_the_piece_and_its_kind_with_the_hashes_of_the_wire() -> None:
    first, second = rows(agent_with(said("assistant")), "wire")[:2], rows(agent_with(said("assistant")), "wire")[2:]

    keys = ("source", "sourceId", "asRole", "asRecency", "position", "contentHash")
    assert [[row.get(key) for key in keys] for row in first] == [
        ["user", None, "user", "earlier", 0, "ec9732f5"],
        ["fact", "f", "assistant", "latest", 1, "fec89266"],
    ]
    assert [[row.get(key) for key in keys] for row in second] == [
        ["user", None, "user", "earlier", 0, "ec9732f5"],
        ["fact", "f", "assistant", "earlier", 1, "fec89266"],
        ["assistant", None, "assistant", "earlier", 2, "6cd918ef"],
        ["tool-result", "c1", "tool", "latest", 3, "33983f60"],
    ]
    assert "'f'" in first[1]["reason"]


def test_native_listeners_hear_of_it_once() -> None:
    heard = rows(agent_with(said("assistant")), "native")

    assert [row["source"] for row in heard] == ["user", "fact", "assistant", "tool-result"]


def test_the_record_holds_the_rows_and_sums_that_listeners_heard(tmp_path: Path) -> None:
    agent = agent_with(said("assistant"))
    live: list[tuple[str, Any]] = []
    agent.on("agentfootprint.context.*", lambda event: live.append((event.type, thaw(event.payload))), form="wire")

    result = agent.run_sync("q")

    stored = [(event["type"], event["payload"]) for event in result.recording.to_wire()["events"]]
    assert [each for each in stored if each[0].startswith("agentfootprint.context.")] == live
    loaded = Recording.load(result.recording.save(tmp_path / "run.json"))
    assert loaded.to_wire()["events"] == result.recording.to_wire()["events"]
    composed = [p for kind, p in live if kind.endswith("slot_composed") and p["slot"] == "messages"]
    assert composed[0]["sourceBreakdown"] == {"user": {"chars": 1, "count": 1}, "fact": {"chars": 4, "count": 1}}


def test_a_user_message_waits_as_long_as_the_conversation_ends_on_the_user() -> None:
    result = agent_with(said("user")).run_sync("q")

    state = thaw(result.recording.snapshot["sharedState"])
    (row,) = state["messagesDelivery"]["deferred"]
    assert {key: row[key] for key in ("injectionId", "flavor", "role", "reason")} == {
        "injectionId": "f",
        "flavor": "fact",
        "role": "user",
        "reason": "role-collision",
    }
    assert [each["content"] for each in state["history"]] == ["q", "", "r"]


def test_a_model_reads_the_words_and_none_of_the_bookkeeping() -> None:
    seen: list[list[LLMMessage]] = []

    def model(request: LLMRequest) -> str:
        seen.append([*request.messages])
        return "done"

    Agent(Mock(model), context=[said("system")]).run_sync("q")

    assert seen == [[LLMMessage("user", "q"), LLMMessage("system", "FACT")]]
    assert "injectedBy" not in repr([thaw(each) for each in seen[0]])


def test_messages_of_a_piece_come_one_at_a_time_and_keep_their_order() -> None:
    steps = Injection(
        "steps",
        trigger=Always(),
        inject=Content(messages=[LLMMessage("assistant", text) for text in ("one", "two", "three")]),
    )

    result = agent_with(steps, calls=3).run_sync("q")

    assert [each.content for each in result.messages if each.injected_by] == ["one", "two", "three"]
    assert [each.injected_by.iteration for each in result.messages if each.injected_by] == [1, 2, 3]


def test_a_rule_decides_when_a_message_is_due() -> None:
    late = Instruction("late", "Late.", slot="messages", role="assistant", when=lambda turn: turn.iteration == 2)

    result = agent_with(late, calls=2, gates=Gates(repeated_call_note=False)).run_sync("q")

    assert [each.content for each in result.messages] == ["q", "", "r", "Late.", "", "r", "done"]


def test_a_rule_sees_what_was_said_before() -> None:
    seen: list[int] = []

    def rule(turn: Any) -> bool:
        seen.append(len(turn.history))
        return False

    agent_with(said("assistant"), Fact("watch", "W.", when=rule)).run_sync("q")

    assert seen == [1, 4]


async def _run(agent: Agent[Any, Any]) -> None:
    await agent.run("q")


async def _stream(agent: Agent[Any, Any]) -> None:
    agent.stream("q")


async def _start(agent: Agent[Any, Any]) -> None:
    agent.start("q")


@pytest.mark.parametrize("door", [_run, _stream, _start], ids=lambda door: door.__name__)
async def test_a_role_that_the_provider_drops_is_refused_before_anything_happened(door: Any) -> None:
    class Vendor(Mock):
        carries_in_messages = ("user", "assistant")  # type: ignore[misc]  # narrower than the mock's own

    heard: list[object] = []
    agent = Agent(Vendor("x"), context=[said("system", "Secret words.")])
    agent.on("*", heard.append)

    with pytest.raises(DeliveryRoleError, match=r"'f'.*'system'.*user and assistant only") as caught:
        await door(agent)

    assert heard == []
    assert agent.inflight == ()
    assert "Secret" not in str(caught.value)


def test_the_refusal_of_a_message_without_text_says_where_it_is_from() -> None:
    def forged(role: Any, **options: Any) -> LLMMessage:
        message = LLMMessage(role, "x", **options)
        msgspec.structs.force_setattr(message, "content", ["Secret"])
        return message

    cases = [
        (forged("assistant", injected_by=InjectedBy("f", "fact", 1)), 3, "the piece 'f'"),
        (forged("tool", tool_call_id="c7"), 2, "the tool call 'c7'"),
        (forged("user"), 0, "the run's input"),
        (forged("user"), 4, "the history"),
    ]
    for message, position, origin in cases:
        with pytest.raises(
            WindowMessageError, match=rf"Message {position} \({message.role}, from {origin}\)"
        ) as caught:
            text_of(message, position)
        assert isinstance(caught.value, TypeError)
        assert (caught.value.position, caught.value.origin) == (position, origin)
        assert "Secret" not in str(caught.value)


def test_an_agent_that_says_nothing_has_no_stage_and_no_key_for_it() -> None:
    result = agent_with(Fact("f", "FACT")).run_sync("q")

    snapshot = result.recording.snapshot
    assert "messagesDelivery" not in snapshot["sharedState"]
    assert not any(each["runtimeStageId"].startswith("deliver#") for each in snapshot["commitLog"])
    assert thaw(snapshot["sharedState"])["deliveredMessageKeys"] == []


def test_the_stage_stands_between_the_rules_and_the_slots() -> None:
    commits = agent_with(said("assistant")).run_sync("q").recording.snapshot["commitLog"]

    order = [each["runtimeStageId"].partition("#")[0] for each in commits]
    place = order.index("deliver")
    assert order.index("sf-injection-engine") < place < order.index("context")


def test_two_runs_of_one_agent_each_hear_it() -> None:
    agent = agent_with(said("assistant"))

    texts = [[m.content for m in agent.run_sync("q", options=RunOptions(run_id=f"r{n}")).messages] for n in range(2)]

    assert texts[0] == texts[1] == ["q", "FACT", "", "r", "done"]


def test_a_run_without_the_piece_was_never_told() -> None:
    without = agent_with(said("assistant")).without(["f"])

    result = without.run_sync("q")

    assert [each.content for each in result.messages] == ["q", "", "r", "done"]
    assert "messagesDelivery" not in result.recording.snapshot["sharedState"]


def model_of(request: LLMRequest) -> str:
    return "APPROVED" if any("VIP" in message.content for message in request.messages) else "DECLINED"


FORMS: list[Callable[[Recording, Path], Recording]] = [
    lambda recording, folder: recording,
    lambda recording, folder: Recording.load(recording.save(folder / "native.json")),
    lambda recording, folder: Recording.load(recording.save(folder / "wire.json", form="wire")),
]


@pytest.mark.parametrize("form", FORMS, ids=["live", "native", "wire"])
def test_why_shows_what_was_said_with_its_rule(form: Callable[[Recording, Path], Recording], tmp_path: Path) -> None:
    agent = Agent(
        Mock(model_of),
        context=[
            Fact("waits", "Not now.", slot="messages", role="user"),
            Fact(
                "vip", "Dana is VIP.", slot="messages", role="assistant", when=lambda turn: "Dana" in turn.user_message
            ),
            Fact("style", "Two sentences."),
        ],
    )
    recording = form(agent.run_sync("May Dana return it?").recording, tmp_path)

    asked = why(recording)

    assert {source.id for source in asked.sources} == {"vip", "style"}
    hops = {hop.step: hop for hop in asked.custody("vip")}
    assert (hops["read"].variable, hops["read"].highlight) == ("history", "Dana is VIP.")
    assert hops["landed"].at is not None
    assert hops["landed"].at.startswith("deliver#")
    if recording.native:
        assert "its rule held in iteration 1" in hops["allowed"].detail
        assert [(unit.id, unit.reason) for unit in asked.dropped] == [("waits", "role-collision")]


def test_a_proof_finds_what_was_said() -> None:
    agent = Agent(
        Mock(model_of),
        context=[
            Fact("vip", "Dana is VIP.", slot="messages", role="assistant"),
            Fact("style", "Two sentences."),
        ],
    )

    proof = agent.run_sync("Refund?").prove_sync(expected="DECLINED", runs=40)

    verdicts = {suspect.id: suspect.verdict.verdict for suspect in proof.suspects if suspect.verdict}
    assert verdicts["vip"] == "confirmed"
    assert verdicts.get("style") != "confirmed"


def test_no_row_of_the_record_grows_with_the_run(tmp_path: Path) -> None:
    agent = agent_with(
        said("assistant"), Fact("never", "N.", slot="messages", role="user"), calls=120, limits=Limits(iterations=130)
    )

    path = agent.run_sync("q").recording.save(tmp_path / "run.json")

    sizes = [len(line) for line in path.read_bytes().splitlines()]
    tenth = len(sizes) // 10
    early, late = sizes[tenth : 2 * tenth], sizes[-2 * tenth : -tenth]
    assert max(late) <= 1.1 * max(early) + 32


def test_the_window_and_the_log_are_one_list() -> None:
    result = agent_with(said("assistant")).run_sync("q")

    history = result.recording.snapshot["sharedState"]["history"]
    assert isinstance(history, FrozenList)
    (landed,) = [
        bundle["runtimeStageId"]
        for bundle in result.recording.snapshot["commitLog"]
        if bundle["runtimeStageId"].startswith("deliver#") and "history" in repr(bundle["trace"])
    ]
    assert landed == "deliver#6"
