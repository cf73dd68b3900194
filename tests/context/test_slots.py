"""Tests of agentfootprint.context.slots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Agent, Fact, Mock, tool
from agentfootprint.context import compose, rows_text, slot_totals, tool_rows
from agentfootprint.events import ContextInjected, SourceShare
from agentfootprint.llm import ToolSchema
from agentfootprint.trace import fnv1a, thaw, utf16_length

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def row(text: str | None, source: str = "fact", summary: str = "summary") -> ContextInjected:
    return ContextInjected(
        content_summary=summary,
        content_hash="0",
        slot="system-prompt",
        source=source,
        reason="why",
        raw_content=text,
    )


@pytest.mark.parametrize(
    ("given_texts", "prompt"),
    [
        ([], None),
        (["", None], None),
        (["One."], "One."),
        (["One.", "", "Two.\n", None, "Three."], "One.\n\nTwo.\n\n\nThree."),
    ],
    ids=str,
)
def test_a_prompt_is_the_texts_that_are_there_with_a_blank_line_between(
    given_texts: list[str | None], prompt: str | None
) -> None:
    assert rows_text([row(text) for text in given_texts]) == prompt


def test_sums_are_by_source_in_order_of_first_appearance() -> None:
    used, sources = slot_totals([row("ab", "steering"), row("c"), row("😀", "steering"), row(None, summary="four")])

    assert used == 9
    assert [*sources.items()] == [("steering", SourceShare(chars=4, count=2)), ("fact", SourceShare(chars=5, count=2))]


@given(st.lists(st.tuples(texts, st.sampled_from(["base", "fact", "steering"])), max_size=8))
def test_shares_add_up_to_what_is_used(given_rows: list[tuple[str, str]]) -> None:
    used, sources = slot_totals([row(text, source) for text, source in given_rows])

    assert used == sum(utf16_length(text) for text, _ in given_rows) == sum(share.chars for share in sources.values())
    assert sum(share.count for share in sources.values()) == len(given_rows)


@pytest.mark.parametrize(("used", "headroom"), [(0, 10), (10, 0), (11, 0)])
def test_headroom_is_never_negative_and_nothing_is_dropped(used: int, headroom: int) -> None:
    composed = compose("tools", 3, 10, slot_totals([row("x" * used)]), "registry+injections")

    assert (composed.slot, composed.iteration, composed.ordering_strategy) == ("tools", 3, "registry+injections")
    assert (composed.budget.cap, composed.budget.used, composed.budget.headroom_chars) == (10, used, headroom)
    assert (composed.dropped_count, composed.dropped_summaries) == (0, ())


def test_a_tool_has_a_row_with_its_name_description_and_place() -> None:
    rows = tool_rows([ToolSchema("a", "First.", {}), ToolSchema("b", "Second.", {})])

    assert [(r.raw_content, r.source, r.source_id, r.position, r.slot) for r in rows] == [
        ("a: First.", "registry", "a", 0, "tools"),
        ("b: Second.", "registry", "b", 1, "tools"),
    ]
    assert rows[0].content_hash == fnv1a("tool:a:First.")


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number. Use it when the user names an order."""
    return f"Order {order_id}: shipped."


def test_the_rows_of_a_run_are_what_its_listeners_heard_and_its_state_keeps() -> None:
    heard: list[ContextInjected] = []
    agent = Agent(Mock("x"), system="Base.", tools=[lookup], context=[Fact("vip", "A VIP.")])
    agent.on("agentfootprint.context.injected", lambda event: heard.append(event.payload), form="wire")

    state = agent.run_sync("hi").recording.snapshot["sharedState"]

    base, fact, message, offered = heard
    assert [(r.slot, r.source, r.source_id) for r in heard] == [
        ("system-prompt", "base", None),
        ("system-prompt", "fact", "vip"),
        ("messages", "user", None),
        ("tools", "registry", "lookup"),
    ]
    assert [r.content_hash for r in heard[:3]] == [fnv1a("sp:Base."), fnv1a("sp:fact:vip:A VIP."), fnv1a("user:0:hi")]
    assert all(r.reason for r in heard)
    assert "'vip'" in fact.reason
    assert (message.as_role, message.as_recency, message.position) == ("user", "latest", 0)
    assert thaw(state["systemPromptInjections"]) == [thaw(base), thaw(fact)]
    assert thaw(state["messagesInjections"]) == [thaw(message)]
    assert thaw(state["toolsInjections"]) == [thaw(offered)]


@pytest.mark.parametrize(("length", "summary"), [(80, "x" * 80), (81, "x" * 79 + "…")])
def test_a_long_text_is_summed_up_in_eighty_characters_and_kept_whole(length: int, summary: str) -> None:
    agent = Agent(Mock("x"), system="x" * length)

    (kept,) = agent.run_sync("hi").recording.snapshot["sharedState"]["systemPromptInjections"]

    assert (kept.content_summary, kept.raw_content) == (summary, "x" * length)
