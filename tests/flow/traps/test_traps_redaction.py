"""Tests of traps 13 and 26: what is redacted shows up nowhere that a run's record leaves through."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Decider,
    Executor,
    Flow,
    FlowSnapshot,
    ForEach,
    Fork,
    Pausable,
    PauseCheckpoint,
    Recorder,
    RedactionPolicy,
    RetryPolicy,
    Rule,
    Selector,
    Sighting,
    Stage,
    StageContext,
    State,
    Subflow,
    decide,
    select,
)
from agentfootprint.trace import DecidedRow, FrozenDict, SelectedRow, format_slice, thaw
from tests.flow.charts import Listener

MARK = "S3CRET"
POLICY = RedactionPolicy(
    keys=["ssn", "vault", "diary"],
    patterns=["(?i)token$"],
    fields={"profile": ["pin", "address.zip", "cards.number"]},
    emit_patterns=[r"\.auth\."],
    event_fields={"app.paid": ["card.number", "items.*"]},
)
DIALS = [
    {"read_tracking": reads, "write_tracking": writes, "commit_values": values, "write_provenance": provenance}
    for reads, writes, values, provenance in itertools.product(
        ("full", "summary", "off"), ("full", "summary", "off"), ("full", "delta"), ("off", "reads-prefix")
    )
]


def nothing(s: State) -> None:
    """The body of a stage that does nothing."""


def profile(place: str) -> dict[str, Any]:
    address = {"zip": f"{MARK}-{place}-zip", "street": "Elm"}
    return {"name": "Dana", "pin": f"{MARK}-{place}-pin", "address": address, "cards": [{"number": f"{MARK}-{place}"}]}


def seed(s: State, ctx: StageContext) -> None:
    assert ctx.args["inputToken"] == f"{MARK}-input"
    assert s.startToken == f"{MARK}-initial"
    s.ssn = f"{MARK}-key"
    s.apiToken = {"deep": [f"{MARK}-pattern"]}
    ctx.set("profile", profile("field"))
    s.profile.address.zip = f"{MARK}-nested-field"
    s.profile.cards.append({"number": f"{MARK}-appended-field"})
    ctx.set("vault", {"box": {"lock": f"{MARK}-below"}})
    s.vault.box.lock = f"{MARK}-nested-key"
    s.diary = [f"{MARK}-list"]
    ctx.set("note", f"{MARK}-per-call", redact=True, description="a note")
    s.gone = "plain"


def grow(s: State, ctx: StageContext) -> None:
    s.diary.append(f"{MARK}-appended")
    s.vault.box["other"] = f"{MARK}-added"
    del s.vault["box"]["lock"]
    ctx.update("vault", {"box": {"was": f"{MARK}-update"}})
    ctx.update("profile", {"pin": f"{MARK}-field-update", "age": 40})
    s.note = f"{MARK}-written-again"
    assert "note" in s
    ctx.set("brief", f"{MARK}-deleted", redact=True)
    del s.brief
    ctx.emit("app.auth.login", {"password": f"{MARK}-emit-pattern"})
    ctx.emit("app.paid", {"card": {"number": f"{MARK}-emit-field"}, "items": [f"{MARK}-emit-any"]})
    ctx.emit("app.told", {"who": {"ssn": f"{MARK}-emit-name", "note": f"{MARK}-emit-per-call"}})
    ctx.log({"apiToken": f"{MARK}-log"})
    ctx.debug("ssn", f"{MARK}-debug")
    ctx.metric("usedToken", f"{MARK}-metric")
    ctx.eval("seen", {"profile": {"pin": f"{MARK}-eval"}})
    ctx.error("ssn", f"{MARK}-error-bag")


def choose(s: State) -> Any:
    rules = [
        Rule(when={"ssn": {"eq": f"{MARK}-key", "in": [f"{MARK}-key", "b"]}, "apiToken": {"ne": "x"}}, then="no"),
        Rule(when=lambda state: bool(state.ssn) and bool(state.note) and state.profile.pin == 1, then="no"),
        Rule(when=lambda state: int(f"{MARK}-rule {state.note}"), then="no"),
        Rule(when={"note": {"ne": "y"}}, then="yes"),
    ]
    return decide(s, rules, default="no")


def choose_by_mapping(s: State, ctx: StageContext) -> Any:
    copied = {"ssn": ctx.get("ssn"), "note": ctx.get("note")}
    rules = [Rule(when={"note": {"eq": copied["note"]}}, then="one"), Rule(when=lambda m: m["note"], then="two")]
    return select(copied, rules)


def in_branch(s: State, ctx: StageContext) -> None:
    s.ssn = f"{MARK}-branch"
    ctx.set("vault", {"a": f"{MARK}-branch-below"})
    s.vault.a = f"{MARK}-branch-nested"
    ctx.set("whisper", f"{MARK}-branch-per-call", redact=True)
    assert s.note
    assert s.whisper


def after_branches(s: State, ctx: StageContext) -> None:
    ctx.update("ssn", {"was": f"{MARK}-update"})
    assert s.runs["one"]["ssn"] == f"{MARK}-branch"
    assert s.runs["one"]["whisper"] == f"{MARK}-branch-per-call"


def inside(s: State, ctx: StageContext) -> str:
    assert s.renamed
    assert s.person.pin
    ctx.set("found", f"{MARK}-inside", redact=True)
    s.innerToken = f"{MARK}-inside-pattern"
    return "done"


def nested(s: State) -> None:
    s.deeperToken = [s.again]


def for_item(item: Any, index: int) -> Chart:
    def work(s: State) -> None:
        s.ssn = f"{MARK}-item-{index}"
        s.size = len(s.item["name"])

    return Chart.of(f"Item {index}", Stage(work, id="work"))


def collected(s: State) -> None:
    assert s.items[0]["ssn"] == f"{MARK}-item-0"


def ask(s: State) -> dict[str, Any]:
    return {"question": "which?", "ssn": f"{MARK}-asked"}


def answered(s: State, answer: Any) -> dict[str, Any]:
    s.answerToken = answer
    return {"ssn": f"{MARK}-result"}


def map_in(state: Any) -> dict[str, Any]:
    return {"renamed": "-", "person": {"pin": 1}, "vault": state["vault"]}


def map_out(value: Any, state: Any) -> dict[str, Any]:
    return {"ssn": f"{MARK}-mapped-out", "vault": {"x": f"{MARK}-mapped-nested"}}


def the_items(s: State) -> list[Any]:
    return [{"name": "ab"}]


def the_chart() -> Flow:
    deepest = Chart.of("Deepest", Stage(nested, id="nested"))
    inner = Chart.of(
        "Inner",
        Stage(inside, id="inside"),
        Subflow(deepest, id="deepest", input={"again": "renamed"}, output={"kept": "deeperToken", "copy": "again"}),
    )
    renamed = {"renamed": "ssn", "person": "profile", "ssn": "gone"}
    return Chart.of(
        "Secrets",
        Stage(seed, id="seed"),
        Stage(grow, id="grow", retry=RetryPolicy(attempts=2, delay=0)),
        Decider(choose, [Stage(nothing, id="yes"), Stage(nothing, id="no")], id="choose"),
        Selector(
            choose_by_mapping, [Stage(in_branch, id="one"), Subflow(inner, id="two", input=renamed)], id="selector"
        ),
        Stage(nothing, id="before"),
        Fork([Stage(in_branch, id="three"), Stage(nothing, id="four")]),
        Stage(after_branches, id="after"),
        Subflow(inner, id="mount", input=renamed, output={"outcome": "renamed", "someone": "person", "found": "found"}),
        Subflow(
            inner,
            id="mapped",
            input=map_in,
            output=map_out,
        ),
        ForEach(for_item, the_items, max_branches=3, into="items", id="each"),
        Stage(collected, id="collected"),
        Pausable(ask, answered, id="ask"),
    ).build()


class Everything:
    """All texts through which a run's record can leave, by name."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def events(self, listener: Listener) -> None:
        self.texts["events"] = json.dumps([event.to_wire() for event in listener.seen])
        self.texts["events as objects"] = "\n".join(map(repr, listener.seen))

    def snapshots(self, plain: FlowSnapshot, redacted: FlowSnapshot) -> None:
        wire = {key: value for key, value in plain.to_wire().items() if key != "sharedState"}
        self.texts["snapshot without its state"] = json.dumps(wire)
        self.texts["redacted snapshot"] = json.dumps(redacted.to_wire())
        self.texts["mirror"] = repr(redacted.shared_state)
        self.texts["log"] = repr(plain.commit_log)
        self.texts["reprs of snapshots"] = f"{plain!r} {redacted!r}"

    def leaks(self) -> dict[str, str]:
        return {
            name: text[max(0, text.index(MARK) - 200) : text.index(MARK) + 80]
            for name, text in self.texts.items()
            if MARK in text
        }


async def told(executor: Executor, listener: Listener, seen: Everything) -> None:
    """Run the chart over its pause, and collect everything."""
    result = await executor.run({"inputToken": f"{MARK}-input"})
    assert result.status == "paused", result
    assert result.checkpoint is not None
    seen.texts["checkpoint as an object"] = repr(result.checkpoint)
    seen.texts["paused result as an object"] = repr(result)
    stored = result.checkpoint.to_wire()
    assert stored["sensitive"] is True
    tree = {key: stored[key] for key in ("executionTree", "subflowResults", "chartFingerprint", "redactedKeys")}
    seen.texts["what a checkpoint shows of the run"] = json.dumps(tree)
    result = await executor.resume(result.checkpoint, f"{MARK}-answer")
    assert result.status == "done"
    assert result.state["note"] == f"{MARK}-written-again"
    assert result.value == {"ssn": f"{MARK}-result"}
    seen.events(listener)
    seen.snapshots(executor.snapshot(), executor.snapshot(redact=True))
    seen.texts["result as an object"] = repr(result)
    seen.texts["narrative"] = str(result.narrative) + json.dumps(executor.narrative_entries().to_wire())
    evidence = [row.evidence for row in result.journal.rows if isinstance(row, (DecidedRow, SelectedRow))]
    seen.texts["evidence"] = json.dumps([thaw(one) for one in evidence])
    shown = result.journal.shown()
    seen.texts["shown rows"] = "\n".join(repr(row) for row in shown.rows if not hasattr(row, "ops"))
    keys = [*result.state, "brief", "runs"]
    seen.texts["slices"] = "\n".join(format_slice(result.why(key)) for key in keys)
    seen.texts["values"] = repr([result.value_at(key, n) for key in keys for n in range(executor.commit_count())])
    seen.texts["timelines"] = repr([result.timeline(key) for key in keys])
    seen.texts["births"] = repr([result.array_provenance(key) for key in ("diary", "items", "profile")])
    seen.texts["report"] = json.dumps(executor.redaction_report())
    assert {"ssn", "apiToken", "note"} <= set(executor.redaction_report()["redactedKeys"])


@pytest.mark.parametrize("dials", DIALS, ids=lambda dials: "-".join(dials.values()))
def test_trap_26_no_redacted_value_leaves_the_run(dials: dict[str, Any], tmp_path: Path) -> None:
    listener, late, seen = Listener(), Listener(), Everything()
    late.id = "late"
    start = {"startToken": f"{MARK}-initial", "vault": {"old": f"{MARK}-initial"}, "profile": profile("initial")}
    log = tmp_path / "run.jsonl"
    executor = Executor(the_chart(), recorders=[listener], redaction=POLICY, initial_state=start, run_log=log, **dials)
    executor.attach(late, delivery="deferred", capture="ref")

    asyncio.run(told(executor, listener, seen))

    seen.texts["deferred events"] = json.dumps([event.to_wire() for event in late.seen])
    seen.texts["run log"] = log.read_text()
    assert seen.leaks() == {}
    assert "REDACTED" in seen.texts["run log"]
    assert [event.hook for event in late.seen] == [event.hook for event in listener.seen]


@pytest.mark.parametrize("where", ["stage", "decider", "mount", "fork", "pausable"])
def test_trap_26_no_error_message_tells_a_redacted_value(where: str) -> None:
    def fail(s: State) -> None:
        raise ValueError(f"bad number {s.ssn}")

    def ends(s: State) -> None:
        s.ssn = f"{MARK}-key"

    def go_on(s: State, answer: Any) -> None:
        """It does not come to this."""

    parts: dict[str, Any] = {
        "stage": Stage(fail, id="fail", retry=RetryPolicy(attempts=2, delay=0)),
        "decider": Decider(fail, [Stage(ends, id="never")], id="fail"),
        "mount": Subflow(Chart.of("In", Stage(fail, id="fail")), id="in", input=["ssn"]),
        "fork": Fork([Stage(fail, id="fail"), Stage(ends, id="fine")]),
        "pausable": Pausable(fail, go_on, id="fail"),
    }
    listener, seen = Listener(), Everything()
    executor = Executor(
        Chart.of("Failing", Stage(ends, id="ends"), parts[where]).build(), recorders=[listener], redaction=POLICY
    )

    told_to_the_caller = MARK
    try:
        asyncio.run(executor.run())
    except ValueError as error:
        told_to_the_caller = str(error)
        seen.texts["footprint"] = repr(error.footprint)  # type: ignore[attr-defined]  an extra of the engine

    seen.events(listener)
    seen.snapshots(executor.snapshot(), executor.snapshot(redact=True))
    seen.texts["narrative"] = str(executor.narrative_entries())
    assert seen.leaks() == {}
    assert MARK in told_to_the_caller
    assert "ValueError" in seen.texts["events"]


def test_trap_26_a_write_redacts_without_a_policy_from_then_on() -> None:
    listener, seen = Listener(), Everything()

    def write(s: State, ctx: StageContext) -> None:
        ctx.set("code", f"{MARK}-one", redact=True)

    def raw(h: Any) -> None:
        h["code"] = f"{MARK}-two"
        h.append("list", [1])

    def read(s: State) -> None:
        assert s.code == f"{MARK}-two"

    chart = Chart.of("Later", Stage(write, id="w"), Stage(raw, id="raw", raw=True), Stage(read, id="r"))
    native = {"read_tracking": "summary", "write_tracking": "summary", "commit_values": "delta"}
    for recorders, dials in (([listener], {}), ([], native)):
        executor = Executor(chart.build(), recorders=recorders, **dials)  # type: ignore[arg-type]  dials are texts
        result = executor.run_sync()
        assert result.state["code"] == f"{MARK}-two"
        seen.events(listener)
        seen.snapshots(executor.snapshot(), executor.snapshot(redact=True))
        seen.texts["result"] = repr(result)
        assert seen.leaks() == {}
        assert executor.redaction_report() == {"redactedKeys": ["code"], "fieldRedactions": {}, "patterns": []}


def test_trap_13_what_is_done_to_a_redacted_snapshot_reaches_nothing() -> None:
    def write(s: State) -> None:
        s.ssn = f"{MARK}-key"
        s.list = [1]

    executor = Executor(Chart.of("One", Stage(write, id="w")).build(), redaction=POLICY)
    executor.run_sync()
    snapshot = executor.snapshot(redact=True)
    wire = snapshot.to_wire()

    wire["sharedState"]["list"].append(2)
    wire["commitLog"][0]["overwrite"]["ssn"] = "changed"

    assert thaw(snapshot.shared_state) == {"ssn": "REDACTED", "list": [1]}
    assert executor.snapshot(redact=True).to_wire()["commitLog"][0]["overwrite"] == {"ssn": "REDACTED", "list": [1]}
    with pytest.raises(TypeError):
        snapshot.shared_state["ssn"] = "x"  # type: ignore[index]  nobody can


def test_trap_26_a_checkpoint_keeps_what_the_resume_needs_and_what_was_redacted() -> None:
    def write(s: State, ctx: StageContext) -> None:
        ctx.set("code", f"{MARK}-one", redact=True)
        ctx.set("other", 1, redact=True)
        del s.other

    def ask(s: State) -> str:
        return "go on?"

    def go_on(s: State, answer: Any) -> None:
        s.code = f"{s.code}-{answer}"
        s.other = "plain"

    flow = Chart.of("Pausing", Stage(write, id="w"), Pausable(ask, go_on, id="ask")).build()
    first = flow.run_sync({"inputToken": f"{MARK}-input", "plain": 1}, redaction=POLICY)
    assert first.checkpoint is not None
    wire = json.loads(json.dumps(first.checkpoint.to_wire()))

    listener = Listener()
    executor = Executor(flow, recorders=[listener])
    second = executor.resume_sync(PauseCheckpoint.from_wire(wire), "yes")

    assert wire["sharedState"]["code"] == f"{MARK}-one"
    assert wire["redactedKeys"] == ["code"]
    assert wire["runInput"] == {"plain": 1}  # FLOW-PAU-8
    assert second.state == FrozenDict({"code": f"{MARK}-one-yes", "other": "plain"})
    seen = Everything()
    seen.events(listener)
    seen.snapshots(executor.snapshot(), executor.snapshot(redact=True))
    assert seen.leaks() == {}
    assert thaw(executor.snapshot(redact=True).shared_state) == {"code": "REDACTED", "other": "plain"}


def test_trap_26_a_recorder_that_looks_at_the_run_while_it_goes_sees_no_redacted_value() -> None:
    class Looking(Recorder):
        texts: list[str]

        def look(self, event: Sighting) -> None:
            self.texts.append(json.dumps(executor.snapshot(redact=True).to_wire()))
            self.texts.append(json.dumps(executor.snapshot().execution_tree))

        on_read = on_write = on_emit = on_commit = on_stage_start = on_subflow_exit = look

    looking = Looking()
    looking.texts = []
    executor = Executor(
        the_chart(),
        recorders=[looking],
        redaction=POLICY,
        initial_state={"startToken": f"{MARK}-initial"},
    )

    executor.run_sync({"inputToken": f"{MARK}-input"})

    assert len(looking.texts) > 100
    assert not [text for text in looking.texts if MARK in text]
