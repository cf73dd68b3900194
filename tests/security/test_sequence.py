"""Tests of agentfootprint.security.sequence."""

from __future__ import annotations

import pickle
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import CallPosition, CallRef, LLMMessage, NotDispatched, ToolCall
from agentfootprint.security import (
    SYNTHETIC_DENY_PREFIX,
    SequenceFold,
    ToolCallEntry,
    extract_sequence,
    settled_proposals,
)
from agentfootprint.trace import FrozenList, thaw

EMPTY = FrozenList([], 0)


def propose(*calls: tuple[str, str]) -> LLMMessage:
    return LLMMessage("assistant", "", tool_calls=[ToolCall(id_, name, {}) for id_, name in calls])


def ran(id_: str) -> LLMMessage:
    return LLMMessage("tool", "ok", tool_call_id=id_)


def denied(id_: str) -> LLMMessage:
    return LLMMessage("tool", f"{SYNTHETIC_DENY_PREFIX} no]", tool_call_id=id_)


def settled(id_: str) -> LLMMessage:
    marker = NotDispatched(paused_call=CallRef("p", "ask"))
    return LLMMessage("tool", "not run", tool_call_id=id_, not_dispatched=marker)


def names(history: list[LLMMessage]) -> list[str]:
    return [entry.name for entry in extract_sequence(history, 1)]


IDS = st.sampled_from(["", "a", "b", "c"])
MESSAGES = st.one_of(
    st.lists(st.tuples(IDS, st.sampled_from(["verify", "pay", "look"])), min_size=1, max_size=4).map(
        lambda calls: propose(*calls)
    ),
    IDS.map(ran),
    IDS.map(denied),
    IDS.map(settled),
    st.sampled_from([LLMMessage("user", "q"), LLMMessage("assistant", "hm")]),
)
HISTORIES = st.lists(MESSAGES, max_size=25)


def by_the_rules(history: list[LLMMessage], iteration: int) -> list[tuple[str, int]]:
    """The rules word by word: quadratic, and without any state (AGT-72, AGT-96)."""
    open_: dict[str, list[CallPosition]] = {}
    out: set[CallPosition] = set()
    latest: dict[str, bool] = {}
    for index, message in enumerate(history):
        if message.tool_calls:
            for call in message.tool_calls:
                open_[call.id] = [
                    CallPosition(index, i) for i, other in enumerate(message.tool_calls) if other.id == call.id
                ]
        elif message.role == "tool" and message.tool_call_id:
            waiting = open_.get(message.tool_call_id, [])
            position = waiting.pop(0) if waiting else None
            if message.not_dispatched is None:
                latest[message.tool_call_id] = not message.content.startswith("[permission denied:")
            elif position is not None:
                out.add(position)
    turns = [(index, message) for index, message in enumerate(history) if message.tool_calls]
    found: list[tuple[str, int]] = []
    for ordinal, (index, message) in enumerate(turns, start=1):
        shown = iteration if ordinal == len(turns) and iteration > len(turns) else ordinal
        found += [
            (call.name, shown)
            for i, call in enumerate(message.tool_calls)
            if call.id and latest.get(call.id, False) and CallPosition(index, i) not in out
        ]
    return found


@given(HISTORIES, st.integers(1, 12))
def test_the_sequence_is_what_the_rules_say(history: list[LLMMessage], iteration: int) -> None:
    sequence = extract_sequence(history, iteration)

    assert [(entry.name, entry.iteration) for entry in sequence] == by_the_rules(history, iteration)


@given(HISTORIES, st.integers(1, 12), st.sets(st.integers(0, 25)))
def test_the_fold_equals_the_function_at_every_prefix(
    history: list[LLMMessage], iteration: int, asked: set[int]
) -> None:
    fold = SequenceFold()
    grown = EMPTY

    for length, message in enumerate(history, start=1):
        grown = grown.append(message)
        if length in asked:  # not at every one, so that it also takes in several messages at once
            fold.advance(grown)
            assert fold.entries(iteration) == extract_sequence(history[:length], iteration)

    fold.advance(grown)
    assert fold.entries(iteration) == extract_sequence(history, iteration)


@given(HISTORIES, st.integers(0, 25), st.integers(0, 25))
def test_the_fold_begins_again_when_the_history_was_cut(history: list[LLMMessage], start: int, later: int) -> None:
    grown = EMPTY.extend(history)
    fold = SequenceFold()
    fold.advance(grown)

    cut = grown.tail(min(start, len(history)))
    fold.advance(cut)

    assert fold.entries(1) == extract_sequence(list(cut), 1)
    shorter = grown[: min(later, len(history))]
    fold.advance(shorter)
    assert fold.entries(1) == extract_sequence(list(shorter), 1)


@given(HISTORIES, st.integers(0, 25))
def test_a_view_tells_the_sequence_of_its_own_moment(history: list[LLMMessage], moment: int) -> None:
    grown = EMPTY.extend(history)
    then = grown[: min(moment, len(history))]
    fold = SequenceFold()
    read_at_once = fold.view(then, 9)
    read_late = fold.view(then, 9)

    early = list(read_at_once)
    fold.advance(grown)

    assert early == extract_sequence(list(then), 9)
    assert read_late == early
    assert fold.length == len(history)


@given(st.lists(MESSAGES.filter(lambda message: message.not_dispatched is None), max_size=25))
def test_without_a_settled_message_everything_goes_by_id(history: list[LLMMessage]) -> None:
    latest = {m.tool_call_id: m.content for m in history if m.role == "tool"}
    by_id = [
        call.name
        for message in history
        for call in message.tool_calls
        if call.id and not latest.get(call.id, SYNTHETIC_DENY_PREFIX).startswith(SYNTHETIC_DENY_PREFIX)
    ]

    assert names(history) == by_id


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=4), max_size=8))
def test_a_proposal_answered_in_call_order_counts_exactly_when_it_ran(batches: list[list[tuple[str, bool]]]) -> None:
    history: list[LLMMessage] = []
    expected: list[str] = []
    runs_of_id: set[str] = set()
    for number, batch in enumerate(batches):
        history.append(propose(*((id_, f"t{number}.{i}") for i, (id_, _) in enumerate(batch))))
        history += [ran(id_) if runs else settled(id_) for id_, runs in batch]
        expected += [f"t{number}.{i}" for i, (_, runs) in enumerate(batch) if runs]
        runs_of_id |= {id_ for id_, runs in batch if runs}

    assert names(history) == expected


def test_settled_proposals_are_found_by_position() -> None:
    history = [propose(("a", "ask"), ("c", "one"), ("c", "two")), ran("a"), settled("c"), settled("c")]
    history += [propose(("c", "three")), ran("c"), settled("c")]

    positions = settled_proposals(history)

    assert positions == {(0, 1), (0, 2)}


def test_the_known_limits_of_judging_by_id_are_kept() -> None:
    denied_then_reused = [propose(("1", "first")), denied("1"), propose(("1", "second")), ran("1")]
    ran_then_denied = [propose(("1", "first")), ran("1"), propose(("1", "second")), denied("1")]
    never_answered = [propose(("1", "first")), propose(("1", "second")), ran("1")]

    assert names(denied_then_reused) == ["first", "second"]
    assert names(ran_then_denied) == []
    assert names(never_answered) == ["first", "second"]


def test_a_provider_is_named_only_when_it_was_asked_for() -> None:
    history = [propose(("1", "hub"), ("2", "own")), ran("1"), ran("2")]
    asked: list[str] = []

    def resolve(tool: str) -> str | None:
        asked.append(tool)
        return {"hub": "mcp-1"}.get(tool)

    named = extract_sequence([*history, *history], 1, resolve_provider_id=resolve)

    assert [entry.provider_id for entry in named] == ["mcp-1", "local"] * 2
    assert asked == ["hub", "own"]
    assert [entry.provider_id for entry in extract_sequence(history, 1)] == [None, None]


def test_an_entry_stands_in_a_record_under_its_wire_keys() -> None:
    entry = ToolCallEntry("pay", {"amount": 3}, 2, provider_id="mcp-1")

    assert thaw(entry) == {"name": "pay", "args": {"amount": 3}, "iteration": 2, "providerId": "mcp-1"}
    assert thaw(ToolCallEntry("pay", {}, 1)) == {"name": "pay", "args": {}, "iteration": 1}


def test_arguments_are_shared_with_the_message_and_not_copied() -> None:
    call = ToolCall("1", "pay", {"amount": 3})
    history = [LLMMessage("assistant", "", tool_calls=[call]), ran("1")]

    assert extract_sequence(history, 1)[0].args is call.args


def test_a_view_reads_like_a_list_and_pickles_as_one() -> None:
    history = EMPTY.extend([propose(("1", "a"), ("2", "b")), ran("1"), ran("2")])
    view = SequenceFold().view(history, 1)

    assert len(view) == 2
    assert view[-1].name == "b"
    assert [entry.name for entry in view[:1]] == ["a"]
    assert repr(view) == repr(list(view))
    assert pickle.loads(pickle.dumps(view)) == list(view)


@pytest.mark.parametrize("reuse", [False, True])
def test_taking_in_a_message_costs_the_same_at_any_length(reuse: bool) -> None:
    def spent(turns: int) -> float:
        """Seconds for the last 200 of so many turns, the best of three."""
        best = float("inf")
        for _ in range(3):
            fold, history, began = SequenceFold(), EMPTY, 0.0
            for turn in range(turns):
                if turn == turns - 200:
                    began = time.process_time()
                id_ = "1" if reuse else f"c{turn}"
                history = history.append(propose((id_, "t"))).append(ran(id_))
                fold.advance(history)
            best = min(best, time.process_time() - began)
        return best

    assert spent(4000) < 3 * spent(400)


def test_a_long_history_is_read_in_linear_time() -> None:
    chance = random.Random(7)
    kinds = [ran, denied, settled]
    history = [m for i in range(500) for m in (propose((f"c{i % 50}", "t")), chance.choice(kinds)(f"c{i % 50}"))]

    began = time.process_time()
    extract_sequence(history, 1)

    assert time.process_time() - began < 0.05
