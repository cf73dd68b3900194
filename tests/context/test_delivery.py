"""Tests of agentfootprint.context.delivery."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint import Fact, Instruction, Mock
from agentfootprint.context import (
    Always,
    Content,
    ContextDefinitionError,
    ContextPlan,
    Deliveries,
    DeliveryRoleError,
    Injection,
    SystemPrompt,
    carried_roles,
    check_roles,
    delivery_key,
    placement,
    without_delivered,
)
from agentfootprint.llm import InjectedBy, LLMMessage, ToolCall
from agentfootprint.trace import FrozenList, fnv1a, freeze, thaw

ROLES = ("system", "user", "assistant")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
EMPTY = FrozenList([], 0)
QUESTION = LLMMessage("user", "q")
ASKED = LLMMessage("assistant", "", tool_calls=[ToolCall("c1", "t", {})])
RESULT = LLMMessage("tool", "r", tool_call_id="c1", tool_name="t")
TWINS = ("dana always check green policy", "find ask always policy always")
"""Two texts of one hash, said by the assistant."""


def window(*messages: LLMMessage) -> FrozenList:
    return FrozenList([*messages], len(messages))


def piece(name: str, *texts: str, role: Any = "assistant") -> Injection:
    return Injection(name, trigger=Always(), inject=Content(messages=[LLMMessage(role, text) for text in texts]))


def fresh(*carried: str) -> Deliveries:
    return Deliveries(carried or ROLES, "mock")


@given(st.tuples(TEXT, st.sampled_from(ROLES), TEXT), st.tuples(TEXT, st.sampled_from(ROLES), TEXT))
def test_a_key_tells_pieces_apart_whatever_they_are_called(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    keys = delivery_key(*one), delivery_key(*other)

    assert all(key.rpartition(":")[0] == name for key, (name, *_) in zip(keys, (one, other), strict=True))
    if one[0] != other[0] or fnv1a(f"{one[1]}:{one[2]}") != fnv1a(f"{other[1]}:{other[2]}"):
        assert keys[0] != keys[1]
    else:
        assert keys[0] == keys[1]


@given(st.lists(st.tuples(st.sampled_from(ROLES), TEXT.filter(str.strip)), max_size=6))
def test_the_messages_of_a_piece_that_was_accepted_have_keys_of_their_own(said: list[tuple[Any, str]]) -> None:
    declared = Injection("a", trigger=Always(), inject=Content(messages=[LLMMessage(*each) for each in said]))

    ContextPlan(SystemPrompt(""), [declared], caching=False)

    assert len({delivery_key("a", *each) for each in said}) == len(set(said))


def test_two_texts_that_share_a_key_are_refused_where_one_would_never_be_said() -> None:
    assert delivery_key("a", "assistant", TWINS[0]) == delivery_key("a", "assistant", TWINS[1])

    with pytest.raises(ContextDefinitionError, match=r"Two messages of 'a' have one fingerprint") as caught:
        ContextPlan(SystemPrompt(""), [piece("a", *TWINS)], caching=False)

    assert TWINS[0] not in str(caught.value)
    ContextPlan(SystemPrompt(""), [piece("a", TWINS[0]), piece("b", TWINS[1]), piece("c", "x", "x")], caching=False)


@given(st.lists(st.sampled_from([QUESTION, ASKED, RESULT, LLMMessage("assistant", "a"), LLMMessage("system", "s")])))
def test_a_window_that_grew_is_judged_as_the_whole_is(messages: list[LLMMessage]) -> None:
    for role in ROLES:
        deliveries, ledger, seen = fresh(), EMPTY, EMPTY
        for count in range(len(messages) + 1):
            seen = seen.extend(messages[count - 1 : count]) if count else seen
            deliveries.deliver((), seen, ledger, 1)

        done = deliveries.deliver([piece("a", "new", role=role)], seen, ledger, 1)

        reasons = [row["reason"] for row in done.record["deferred"]]
        assert reasons == ([] if placement(messages, role) is None else [placement(messages, role)])


def test_a_message_is_appended_with_the_piece_it_is_from() -> None:
    told = Injection(
        "vip",
        trigger=Always(),
        inject=Content(messages=[LLMMessage("assistant", "VIP.")]),
        flavor="fact",
        description="who it is",
    )
    before = window(QUESTION)

    done = fresh().deliver([told], before, EMPTY, 3)

    assert [*done.window] == [
        QUESTION,
        LLMMessage("assistant", "VIP.", injected_by=InjectedBy("vip", "fact", 3, "who it is")),
    ]
    assert [*done.ledger] == [delivery_key("vip", "assistant", "VIP.")]
    assert thaw(done.record) == {
        "iteration": 3,
        "delivered": [
            {
                "injectionId": "vip",
                "flavor": "fact",
                "role": "assistant",
                "wireIndex": 1,
                "contentHash": fnv1a("assistant:1:VIP."),
                "key": delivery_key("vip", "assistant", "VIP."),
            }
        ],
        "deferred": [],
    }


def test_what_was_said_is_not_said_again_and_costs_no_new_object() -> None:
    deliveries, told = fresh(), piece("a", "one")
    first = deliveries.deliver([told], window(QUESTION), EMPTY, 1)

    second = deliveries.deliver([told], first.window, first.ledger, 2)

    assert (second.window, second.ledger) == (first.window, first.ledger)
    assert second.window is first.window
    assert second.ledger is first.ledger
    assert thaw(second.record) == {"iteration": 2, "delivered": [], "deferred": []}


def test_the_same_sentence_twice_in_a_piece_is_said_once_and_a_changed_one_anew() -> None:
    deliveries = fresh()
    first = deliveries.deliver([piece("a", "one", "one")], window(QUESTION), EMPTY, 1)

    later = first.window.extend([QUESTION])
    second = deliveries.deliver([piece("a", "one, and more")], later, first.ledger, 2)

    assert [each.content for each in second.window] == ["q", "one", "q", "one, and more"]


def test_a_message_that_has_to_wait_holds_back_those_behind_it_but_no_other_piece() -> None:
    mixed = Injection(
        "mixed",
        trigger=Always(),
        inject=Content(messages=[LLMMessage("user", "first"), LLMMessage("assistant", "second")]),
    )

    done = fresh().deliver([mixed, piece("other", "third")], window(QUESTION), EMPTY, 1)

    assert [each.content for each in done.window] == ["q", "third"]
    rows = thaw(done.record)["deferred"]
    assert [(row["injectionId"], row["role"], row["reason"]) for row in rows] == [("mixed", "user", "role-collision")]
    assert rows[0]["note"]


def test_nothing_comes_between_a_call_and_its_result() -> None:
    deliveries, told = fresh(), piece("a", "one")

    held = deliveries.deliver([told], window(QUESTION, ASKED), EMPTY, 1)
    said = deliveries.deliver([told], held.window.extend([RESULT]), held.ledger, 2)

    assert [row["reason"] for row in held.record["deferred"]] == ["unanswered-tool-call"]
    assert [each.content for each in said.window] == ["q", "", "r", "one"]


def test_a_run_that_goes_on_elsewhere_learns_from_the_marks_and_keeps_it_when_they_are_cut() -> None:
    told = piece("a", "one")
    marked = LLMMessage("assistant", "one", injected_by=InjectedBy("a", "custom", 1))
    deliveries = fresh()

    resumed = deliveries.deliver([], window(QUESTION, marked), EMPTY, 2)
    cut = fresh().deliver([told], window(QUESTION), resumed.ledger, 3)

    assert [*resumed.ledger] == [delivery_key("a", "assistant", "one")]
    assert [*cut.window] == [QUESTION]
    assert thaw(cut.record)["delivered"] == []


def test_a_window_that_lost_its_head_is_looked_at_anew() -> None:
    deliveries, told = fresh(), piece("a", "one")
    deliveries.deliver([], window(QUESTION, ASKED), EMPTY, 1)

    done = deliveries.deliver([told], window(LLMMessage("user", "again")), EMPTY, 2)

    assert [each.content for each in done.window] == ["again", "one"]


def test_a_role_the_provider_does_not_carry_is_refused_by_name_before_a_run_and_in_it() -> None:
    declared = Fact("rule", "Secret words.", slot="messages", role="system").to_injection()

    class Vendor:
        name = "vendor"
        carries_in_messages = ("user", "assistant")

    with pytest.raises(DeliveryRoleError, match=r"'rule'.*'system'.*vendor carries user and assistant only") as caught:
        check_roles([declared], Vendor())
    with pytest.raises(DeliveryRoleError):
        Deliveries(("user", "assistant"), "vendor").deliver([declared], window(QUESTION), EMPTY, 1)

    error = caught.value
    assert (error.piece, error.role, error.provider, error.carried) == (
        "rule",
        "system",
        "vendor",
        ("user", "assistant"),
    )
    assert "Secret" not in str(error)


def test_a_provider_that_says_nothing_carries_what_all_do() -> None:
    assert carried_roles(object()) == ("user", "assistant")
    assert set(carried_roles(Mock("x"))) == set(ROLES)


def test_a_history_loses_what_a_piece_said_and_is_the_same_object_when_it_said_nothing() -> None:
    marked = LLMMessage("assistant", "one", injected_by=InjectedBy("a", "custom", 1))
    history = freeze([QUESTION, marked, ASKED, RESULT])

    assert [*without_delivered(history, ["a"])] == [QUESTION, ASKED, RESULT]
    assert without_delivered(history, ["b"]) is history


def test_instructions_are_said_too() -> None:
    told = Instruction("i", "Mind the dates.", slot="messages", role="assistant").to_injection()

    assert (told.inject.system_prompt, told.flavor) == (None, "instructions")
    assert [(each.role, each.content) for each in told.inject.messages] == [("assistant", "Mind the dates.")]
