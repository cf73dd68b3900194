"""Tests of agentfootprint.flow.redaction."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Executor,
    FlowRun,
    Fork,
    RedactionPolicy,
    RedactionPolicyError,
    Stage,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.flow.dev import FlowDevWarning, enable_dev_mode
from agentfootprint.trace import JournalIndex, thaw
from tests.flow.charts import Listener

MARK = "S3CRET"


def nothing(s: State) -> None:
    """The body of a stage that does nothing."""


def writing(key: str, value: Any) -> Callable[[State], None]:
    def write(s: State) -> None:
        s[key] = value

    return write


def appending(key: str, value: Any) -> Callable[[State], None]:
    def append(s: State) -> None:
        s[key].append(value)

    return append


def reading(key: str) -> Callable[[State], None]:
    def read(s: State) -> None:
        assert s[key]

    return read


def run_of(*stages: Any, policy: RedactionPolicy | None = None, **options: Any) -> Executor:
    """One run of plain stage functions, by its executor."""
    chart = Chart.of("Test", *(Stage(stage, id=f"s{n}") for n, stage in enumerate(stages)))
    executor = Executor(chart.build(), redaction=policy, **options)
    executor.run_sync()
    return executor


def log_of(executor: Executor) -> list[dict[str, Any]]:
    return [bundle.to_wire() for bundle in executor.snapshot().commit_log]


def mirror_of(executor: Executor) -> Any:
    return thaw(executor.snapshot(redact=True).shared_state)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, r"names nothing"),
        ({"keys": "ssn"}, r"`keys` is no list.*keys=\[\.\.\.\]"),
        ({"keys": [1]}, r"`keys` has an item that is no text"),
        ({"keys": [""]}, r"an empty one"),
        ({"patterns": ["("]}, r"'\(', which is no regular expression"),
        ({"patterns": [re.compile("x")]}, r"patterns too: they are compiled here"),
        ({"emit_patterns": ["[a"]}, r"`emit_patterns`"),
        ({"fields": ["user"]}, r"`fields` is no mapping"),
        ({"fields": {"user": "pin"}}, r"`fields\['user'\]` is no list"),
        ({"fields": {"user": []}}, r"names no field"),
        ({"event_fields": {"app.paid": ["a..b"]}}, r"an empty part"),
        ({"keys": ["a"], "placeholder": ""}, r"`placeholder`"),
    ],
)
def test_a_policy_that_would_not_hide_what_it_says_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(RedactionPolicyError, match=why) as refused:
        RedactionPolicy(**given)

    assert isinstance(refused.value, ValueError)
    assert refused.value.code == "ERR_REDACTION_POLICY"


def test_a_policy_is_a_value_that_can_be_copied_and_sent() -> None:
    policy = RedactionPolicy(keys=["a"], patterns=["t$"], fields={"u": ["p.q"]}, event_fields={"e": ["x"]})

    for same in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert same == policy
        assert hash(same) == hash(policy)
        assert same.hides("last")
    assert policy != RedactionPolicy(keys=["a"])
    with pytest.raises(TypeError):
        policy.fields["u"] = ("other",)  # type: ignore[index]  nobody can


def test_a_pattern_keeps_no_position_between_keys() -> None:
    policy = RedactionPolicy(patterns=["token"])

    found = [policy.hides(key) for key in ("token", "token", "a-token", "tok", "token")]

    assert found == [True, True, True, False, True]


def test_a_very_long_key_is_not_searched_and_that_is_said_in_dev_mode() -> None:
    policy = RedactionPolicy(keys=["k" * 300], patterns=["z"])
    enable_dev_mode()
    try:
        with pytest.warns(FlowDevWarning, match="257 characters"):
            found = policy.hides("z" * 257)
    finally:
        enable_dev_mode(on=False)

    assert not found
    assert policy.hides("z" * 256)
    assert policy.hides("k" * 300)


def test_the_payload_of_an_event_is_hidden_by_its_name_or_at_places_in_it() -> None:
    policy = RedactionPolicy(
        emit_patterns=["^auth"], event_fields={"paid": ["card.number", "items.*.price", "gone"]}, placeholder="***"
    )
    payload = {"card": {"number": 1, "name": "D"}, "items": [{"price": 2}, {"price": 3}], "plain": [1]}

    shown = policy.emitted("paid", payload)

    assert policy.emitted("auth.login", payload) == "***"
    assert policy.emitted("other", payload) is payload
    items = [{"price": "***"}, {"price": "***"}]
    assert thaw(shown) == {"card": {"number": "***", "name": "D"}, "items": items, "plain": [1]}
    assert payload["card"] == {"number": 1, "name": "D"}


def test_a_field_with_dots_in_its_name_comes_before_the_path() -> None:
    def write(s: State) -> None:
        s.user = {"a.b": 1, "a": {"b": 2}}
        s.other = {"a": {"b": 2}}

    executor = run_of(write, policy=RedactionPolicy(fields={"user": ["a.b"], "other": ["a.b"]}))

    assert mirror_of(executor) == {"user": {"a.b": "REDACTED", "a": {"b": 2}}, "other": {"a": {"b": "REDACTED"}}}


def test_the_stage_and_the_caller_see_real_values() -> None:
    seen: list[Any] = []

    def read(s: State) -> None:
        seen.append(s.ssn.n[0])

    executor = run_of(writing("ssn", {"n": [1]}), read, policy=RedactionPolicy(keys=["ssn"]))

    assert seen == [1]
    assert thaw(executor.snapshot().shared_state) == {"ssn": {"n": [1]}}
    assert mirror_of(executor) == {"ssn": "REDACTED"}


def test_a_write_below_a_hidden_key_is_logged_at_the_key_so_that_replay_gives_the_mirror() -> None:
    def write(s: State) -> None:
        s.vault = {"a": {"b": 1}, "c": 2}

    def nest(s: State) -> None:
        s.vault.a.b = 3
        del s.vault["c"]

    executor = run_of(write, nest, policy=RedactionPolicy(keys=["vault"]), commit_values="delta")

    assert log_of(executor)[1]["overwrite"] == {"vault": "REDACTED"}
    assert {entry["path"] for entry in log_of(executor)[1]["trace"]} == {"vault"}
    assert log_of(executor)[1]["redactedPaths"] == ["vault"]


def test_an_appended_hidden_tail_stands_for_the_whole_list() -> None:
    executor = run_of(
        writing("log", [1]),
        appending("log", 2),
        policy=RedactionPolicy(keys=["log"]),
        commit_values="delta",
    )

    assert [bundle["trace"][0]["verb"] for bundle in log_of(executor)] == ["set", "append"]
    assert mirror_of(executor) == {"log": "REDACTED"}


def test_an_update_of_a_hidden_key_is_hidden() -> None:
    def update(s: State, ctx: StageContext) -> None:
        ctx.update("ssn", {"n": 1})

    executor = run_of(update, policy=RedactionPolicy(keys=["ssn"]))

    assert log_of(executor)[0]["updates"] == {"ssn": "REDACTED"}
    assert mirror_of(executor) == {"ssn": "REDACTED"}


def test_the_initial_state_is_hidden_in_the_mirror() -> None:
    executor = run_of(
        nothing,
        policy=RedactionPolicy(keys=["ssn"], fields={"user": ["pin"]}),
        initial_state={"ssn": 1, "user": {"pin": 2, "name": "D"}},
    )

    assert mirror_of(executor) == {"ssn": "REDACTED", "user": {"pin": "REDACTED", "name": "D"}}


def test_a_write_redacts_a_key_for_later_stages_and_mounts_until_it_is_deleted() -> None:
    def write(s: State, ctx: StageContext) -> None:
        ctx.set("code", 1, redact=True)

    def again(s: State) -> None:
        s.code = 2

    def replaced(s: State) -> None:
        del s.code
        s.code = 3

    def last(s: State) -> None:
        s.code = [s.code, 4]

    inner = Chart.of("Inner", Stage(again, id="again"))
    chart = Chart.of(
        "Test", Stage(write, id="w"), Subflow(inner, id="sf"), Stage(replaced, id="r"), Stage(last, id="l")
    )
    executor = Executor(chart.build())
    executor.run_sync()

    result = executor.snapshot().subflow_results["sf"]["treeContext"]
    assert result["globalContext"] == {"code": "REDACTED"}
    assert [bundle["overwrite"].get("code") for bundle in log_of(executor)] == ["REDACTED", None, 3, [3, 4]]
    assert mirror_of(executor) == {"code": [3, 4]}


def test_a_key_that_is_redacted_no_more_is_shown_whole() -> None:
    def write(s: State, ctx: StageContext) -> None:
        ctx.set("list", [1, 2], redact=True)

    def replaced(s: State) -> None:
        del s.list
        s.list = [1, 2, 3]  # which would be logged as an append to what is hidden

    executor = run_of(write, replaced, commit_values="delta")

    assert log_of(executor)[1]["trace"] == [{"path": "list", "verb": "set"}]
    assert mirror_of(executor) == {"list": [1, 2, 3]}


def test_what_was_written_below_a_key_before_the_stage_redacted_it_is_hidden_in_tree_and_commit() -> None:
    listener = Listener()

    def write(s: State, ctx: StageContext) -> None:
        ctx.set("user", {"pins": [1]})
        s.user.pins.append(2)
        ctx.set("user", {"pins": [MARK]}, redact=True)

    executor = run_of(write, recorders=[listener])

    tree = executor.snapshot().execution_tree
    assert tree is not None
    assert tree["stageWrites"] == {"user": "[REDACTED]", "user.pins": "[REDACTED]"}
    commit = next(event.to_wire() for event in listener.seen if event.hook == "on_commit")
    assert {mutation["value"] for mutation in commit["mutations"]} == {"[REDACTED]"}


def test_a_delete_inside_a_mount_forgets_nothing_outside() -> None:
    def write(s: State, ctx: StageContext) -> None:
        ctx.set("code", MARK, redact=True)

    def inside(s: State) -> None:
        s.code = "plain"
        del s.code
        s.code = "free"

    def after(s: State) -> None:
        assert s.code == MARK
        s.code = MARK * 2

    chart = Chart.of(
        "Test",
        Stage(write, id="w"),
        Subflow(Chart.of("Inner", Stage(inside, id="inside")), id="sf"),
        Stage(after, id="after"),
    )
    listener = Listener()
    executor = Executor(chart.build(), recorders=[listener])
    executor.run_sync()

    assert executor.snapshot().subflow_results["sf"]["treeContext"]["globalContext"] == {"code": "free"}
    assert MARK not in json.dumps([event.to_wire() for event in listener.seen])
    assert mirror_of(executor) == {"code": "REDACTED"}


def test_what_a_mount_is_given_of_a_hidden_key_is_hidden_under_any_name_and_on_the_way_back() -> None:
    def inside(s: State) -> None:
        s.mine = s.theirs
        s.person = {**s.person.raw.data, "pin": MARK}

    inner = Chart.of("Inner", Stage(inside, id="inside"))
    chart = Chart.of(
        "Test",
        Stage(writing("ssn", MARK), id="w"),
        Stage(writing("user", {"pin": MARK, "name": "D"}), id="u"),
        Subflow(
            inner,
            id="sf",
            inputs="mutable",
            input={"theirs": "ssn", "person": "user", "mine": "ssn"},
            output={"back": "theirs", "who": "person", "ssn": "mine"},
        ),
    )
    executor = Executor(chart.build(), redaction=RedactionPolicy(keys=["ssn"], fields={"user": ["pin"]}))
    executor.run_sync()

    context = executor.snapshot().subflow_results["sf"]["treeContext"]
    hidden = {"pin": "REDACTED", "name": "D"}
    assert context["globalContext"] == {"theirs": "REDACTED", "person": hidden, "mine": "REDACTED"}
    assert mirror_of(executor) == {"ssn": "REDACTED", "user": hidden, "back": "REDACTED", "who": hidden}
    assert MARK not in json.dumps(executor.snapshot(redact=True).to_wire())


def test_a_snapshot_says_that_it_is_redacted_and_by_which_names() -> None:
    policy = RedactionPolicy(keys=["ssn"], patterns=["oken$"])
    executor = run_of(writing("apiToken", 1), policy=policy)

    wire = executor.snapshot(redact=True).to_wire()

    report: dict[str, Any] = {"redactedKeys": ["ssn", "apiToken"], "fieldRedactions": {}, "patterns": ["oken$"]}
    assert executor.redaction_report() == report
    assert wire["recorders"] == [{"id": "agentfootprint.redaction", "name": "Redaction", "data": report}]
    assert "recorders" not in executor.snapshot().to_wire()
    assert Executor(executor.flow, redaction=policy).redaction_report()["redactedKeys"] == ["ssn"]


def test_without_a_policy_the_flag_changes_nothing() -> None:
    executor = run_of(writing("a", 1))

    assert executor.snapshot(redact=True).to_wire() == executor.snapshot().to_wire()
    assert executor.redaction_report() == {"redactedKeys": [], "fieldRedactions": {}, "patterns": []}


@pytest.mark.parametrize("dial", ["full", "summary", "off"])
def test_the_tree_and_on_commit_show_the_placeholder_in_full_and_summary_and_nothing_when_off(dial: Any) -> None:
    listener = Listener()
    executor = run_of(
        writing("ssn", "123"),
        reading("ssn"),
        policy=RedactionPolicy(keys=["ssn"], placeholder="(hidden)"),
        recorders=[listener],
        read_tracking=dial,
        write_tracking=dial,
    )

    tree = executor.snapshot().execution_tree
    assert tree is not None
    shown = None if dial == "off" else {"ssn": "(hidden)"}
    assert (tree.get("stageWrites"), tree["next"].get("stageReads")) == (shown, shown)
    commit = next(event.to_wire() for event in listener.seen if event.hook == "on_commit")
    assert [mutation.get("value") for mutation in commit["mutations"]] == ([] if dial == "off" else ["(hidden)"])
    assert log_of(executor)[0]["overwrite"] == {"ssn": "REDACTED"}


def test_recorders_are_told_that_something_is_redacted() -> None:
    listener = Listener()

    def work(s: State, ctx: StageContext) -> None:
        s.ssn = 1
        s.plain = s.ssn
        ctx.get("absent-token")
        del s.ssn

    run_of(work, policy=RedactionPolicy(keys=["ssn"], patterns=["token"]), recorders=[listener])

    told = [
        (event.hook, wire["key"], wire.get("value"), wire.get("redacted"))
        for event in listener.seen
        if event.hook in ("on_read", "on_write")
        for wire in (event.to_wire(),)
    ]
    assert told == [
        ("on_write", "ssn", "[REDACTED]", True),
        ("on_read", "ssn", "[REDACTED]", True),
        ("on_write", "plain", 1, None),
        ("on_read", "absent-token", None, None),
        ("on_write", "ssn", None, None),
    ]


def test_a_flow_run_of_the_engine_takes_a_policy_too() -> None:
    def write(h: Any) -> None:
        h["ssn"] = MARK
        h.emit("app.told", {"ssn": MARK})

    flow = Chart.of("Raw", Stage(write, id="w", raw=True)).build()
    run = FlowRun(flow)
    run.redact(RedactionPolicy(keys=["ssn"]))

    asyncio.run(run.start())

    assert run.state["ssn"] == MARK
    assert JournalIndex(run.journal).value_at("ssn", 9) == "REDACTED"
    assert MARK not in repr([row.payload for row in run.journal.shown().rows if hasattr(row, "payload")])


def test_an_index_made_before_the_first_redaction_forgets_what_it_had_seen() -> None:
    def first(s: State) -> None:
        s.code = "plain"

    def second(s: State, ctx: StageContext) -> None:
        indexes.append(JournalIndex(run.journal))
        assert indexes[0].value_at("code", 9) == "plain"
        ctx.set("code", MARK, redact=True)

    indexes: list[JournalIndex] = []
    run = FlowRun(Chart.of("Test", Stage(first, id="a"), Stage(second, id="b")).build())
    asyncio.run(run.start())

    assert indexes[0].value_at("code", 99) == "REDACTED"


def test_what_was_merged_into_a_hidden_key_stays_hidden_when_the_stage_deletes_the_key() -> None:
    def write(s: State, ctx: StageContext) -> None:
        ctx.set("code", {"a": MARK}, redact=True)

    def merge(s: State, ctx: StageContext) -> None:
        ctx.update("code", {"b": MARK})
        del s.code
        ctx.update("code", {"c": 1})

    executor = run_of(write, merge)

    assert MARK not in json.dumps(executor.snapshot(redact=True).to_wire())
    assert mirror_of(executor) == {"code": "REDACTED"}


def test_the_report_names_keys_of_the_first_state_and_of_mounts_too() -> None:
    inner = Chart.of("Inner", Stage(nothing, id="inner"))
    chart = Chart.of("Test", Subflow(inner, id="sf", input={"inToken": "plain"}, output={"outToken": "inToken"}))
    executor = Executor(
        chart.build(),
        redaction=RedactionPolicy(patterns=["Token$"]),
        initial_state={"plain": 1, "firstToken": 2},
    )

    executor.run_sync()

    assert executor.redaction_report()["redactedKeys"] == ["firstToken", "inToken", "outToken"]


def test_stages_in_threads_that_redact_at_the_same_time_make_one_veil() -> None:
    gate = threading.Barrier(2)

    def redact(key: str) -> Callable[[State, StageContext], None]:
        def stage(s: State, ctx: StageContext) -> None:
            gate.wait(10)
            ctx.set(key, MARK, redact=True)

        return stage

    children = [Stage(redact(key), id=key, thread=True) for key in ("a", "b")]
    executor = Executor(Chart.of("Test", Stage(nothing, id="start"), Fork(children)).build())

    executor.run_sync()

    assert set(executor.redaction_report()["redactedKeys"]) == {"a", "b"}
    assert MARK not in json.dumps(executor.snapshot(redact=True).to_wire())
