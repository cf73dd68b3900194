"""Tests of agentfootprint.recording.redacting.serving."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from agentfootprint.events import Event, RunFacts, ToolStart
from agentfootprint.flow import RedactionPolicy
from agentfootprint.recording import serve_covered
from agentfootprint.trace import (
    PATH_DELIMITER,
    EmittedRow,
    Execution,
    Journal,
    MappedRow,
    NotedRow,
    Op,
    SeededRow,
    StageInfo,
    freeze,
)

RUN = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000)
SEED = StageInfo(number=0, id="seed", local_id="seed", name="Seed")
MOUNT = StageInfo(
    number=1,
    id="m",
    local_id="m",
    name="M",
    kind="mount",
    entry=2,
    in_map=(("mine", "card"),),
    out_map=(("out", "mine"),),
)
INSIDE = StageInfo(number=2, id="m/in", local_id="in", name="M/In", path=("m",), mount=1)


def step(info: StageInfo, index: int, writes: dict[str, Any] | None = None, **more: Any) -> Execution:
    mount: int = more.pop("mount", -1)
    return Execution(
        info, index, -1, 0, mount, 0, (), {key: freeze(each) for key, each in (writes or {}).items()}, **more
    )


def journal(*keys: str) -> tuple[Journal, Journal]:
    made = Journal((SEED, MOUNT, INSIDE))
    serve_covered(made, RedactionPolicy(keys=keys))
    return made, made.shown()


def test_rows_are_shown_one_for_one_as_they_come_and_the_run_keeps_its_own() -> None:
    live, shown = journal("card")
    seed = step(SEED, 0, {"card": "4111", "rest": {"card": "4111", "n": 1}})

    live.append(seed)
    live.append(Event(ToolStart(tool_name="pay", tool_call_id="c", args=freeze({"card": "4111"})), seed, 1, RUN))
    live.append(seed)
    live.append(NotedRow(seed, "logs", "card", "4111"))
    live.append(EmittedRow(seed, 1, "paid", freeze({"card": "4111"})))

    assert live.shown() is shown
    assert len(shown.rows) == len(live.rows)
    event = shown.rows[1]
    assert event.execution is shown.rows[0] is shown.rows[2]
    assert event.payload.args["card"] == "[REDACTED]"
    assert shown.rows[2].writes == {"card": "REDACTED", "rest": freeze({"card": "[REDACTED]", "n": 1})}
    assert (shown.rows[3].value, shown.rows[4].payload["card"]) == ("[REDACTED]", "[REDACTED]")
    assert seed.writes["card"] == "4111"


def test_a_declared_map_takes_the_hiding_with_it_in_and_out() -> None:
    live, _ = journal("card")
    seed, mount = step(SEED, 0, {"card": "4111"}), step(MOUNT, 1)
    inside = step(INSIDE, 2, {"mine": "4111-2", "other": 1}, mount=1)

    for row in (seed, seed, mount, SeededRow(mount, {"mine": "4111"}), inside, inside):
        live.append(row)
    live.append(MappedRow(mount, mount, {"out": "4111-2"}))

    shown = live.shown().rows
    assert shown[3].writes == {"mine": "REDACTED"}
    assert shown[5].writes == {"mine": "REDACTED", "other": 1}
    assert shown[6].writes == {"out": "REDACTED"}


def test_a_write_below_what_is_hidden_ends_there() -> None:
    live, _ = journal("pin")
    path = PATH_DELIMITER.join(("user", "pin", "digits"))
    seed = step(
        SEED, 0, {"user": {"pin": {"digits": 1}, "name": "D"}}, ops=(Op(path, "set", 1), Op("user", "merge", 2))
    )

    live.append(seed)
    live.append(seed)

    row = live.shown().rows[1]
    assert [(op.path, op.value, op.hidden) for op in row.ops] == [
        (PATH_DELIMITER.join(("user", "pin")), "[REDACTED]", (PATH_DELIMITER.join(("user", "pin")),)),
        ("user", 2, ()),
    ]


def test_a_resumed_run_begins_with_what_its_checkpoint_had() -> None:
    live, shown = journal("card")
    live.append(Event(ToolStart(tool_name="pay", tool_call_id="c", args={}), "tool-calls#resumed", 0, RUN))
    assert len(live.shown().rows) == 1

    live.first_index, live.base_state = 7, {"card": "4111", "n": 2}
    live.append(step(SEED, 7))

    live.shown()
    assert (shown.first_index, shown.base_state) == (7, {"card": "REDACTED", "n": 2})


def test_a_journal_that_nobody_holds_is_freed_without_the_collector() -> None:
    live, _ = journal("card")
    live.append(step(SEED, 0))
    live.shown()
    gone = weakref.ref(live)

    gc.collect()
    gc.disable()
    try:
        del live
        assert gone() is None
    finally:
        gc.enable()
