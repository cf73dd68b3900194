"""Traps of redaction that begins in the middle of a run, or goes on in another process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentfootprint.flow import (
    Chart,
    Flow,
    ForEach,
    Fork,
    Pausable,
    RedactionPolicy,
    Stage,
    StageContext,
    State,
    Subflow,
)
from agentfootprint.trace import open_run_log
from tests.flow.charts import Listener, always

MARK = "S3CRET"
POLICY = RedactionPolicy(keys=["ssn"])


def idle(s: State) -> None:
    """A stage that does nothing."""


def take(s: State, answer: Any) -> None:
    s["got"] = answer


def hide(s: State, ctx: StageContext) -> None:
    ctx.set("ssn", MARK, redact=True)


def test_trap_26_a_result_that_was_asked_before_the_first_redaction_shows_nothing_of_it() -> None:
    def answered(s: State, answer: Any, ctx: StageContext) -> None:
        hide(s, ctx)

    executor = Chart.of("Late", Stage(idle, id="a"), Pausable(always("?"), answered, id="ask")).build().executor()
    paused = executor.run_sync()
    assert paused.checkpoint is not None
    assert paused.why("ssn").missing == "never-written"

    executor.resume_sync(paused.checkpoint, "go")

    assert paused.value_at("ssn", 99) == "REDACTED"
    assert MARK not in repr(paused.why("ssn").writer)


def test_trap_26_a_mount_that_is_entered_again_is_logged_without_what_was_redacted_in_between(tmp_path: Path) -> None:
    inner = Chart.of("Inner", Stage(idle, id="i"), Pausable(always("?"), take, id="ask"))
    parts = (Stage(idle, id="a"), Stage(hide, id="b"), Subflow(inner, id="sf", input=["ssn"]))
    executor = Chart.of("Late", *parts).build().executor(run_log=tmp_path / "run.log")
    paused = executor.run_sync()
    assert paused.checkpoint is not None

    executor.resume_sync(paused.checkpoint, "go")

    assert MARK not in (tmp_path / "run.log").read_text()
    assert open_run_log(tmp_path / "run.log").ended == "done"


def fails(s: State) -> None:
    raise ValueError(f"{MARK} is no number")


def forked() -> Flow:
    return Chart.of(
        "Fork", Stage(idle, id="a"), Fork([Stage(fails, id="bad"), Pausable(always("?"), take, id="ask")])
    ).build()


def each() -> Flow:
    def branch(item: int, index: int) -> Chart:
        part = Stage(fails, id="bad") if item == 0 else Pausable(always("?"), take, id="ask")
        return Chart.of("Branch", part)

    items: Callable[[State], list[int]] = lambda s: [0, 1]  # noqa: E731  a name for the checker
    return Chart.of(
        "Each", Stage(idle, id="a"), ForEach(branch, items, max_branches=2, into="all", errors_into="errors")
    ).build()


@pytest.mark.parametrize("make", [forked, each])
def test_trap_26_what_a_branch_raised_before_a_pause_is_withheld_after_it_too(make: Callable[[], Flow]) -> None:
    paused = make().executor(redaction=POLICY).run_sync()
    assert paused.checkpoint is not None
    stored = json.loads(json.dumps(paused.checkpoint.to_wire()))
    listener = Listener()

    executor = make().executor(redaction=POLICY, recorders=[listener])
    result = executor.resume_sync(stored, "go")

    told = [json.dumps(event.to_wire()) for event in listener.seen]
    assert MARK not in "".join(told)
    assert MARK not in json.dumps(executor.snapshot().to_wire())
    assert MARK not in str(result.narrative)


def test_trap_26_an_error_that_minds_being_looked_at_is_the_runs_own_under_a_policy_too() -> None:
    class Hostile(Exception):  # noqa: N818  what it is called does not matter
        @property
        def __class__(self) -> type[Any]:  # type: ignore[override]  it raises
            raise RuntimeError("do not look")

    def raises(s: State) -> None:
        raise Hostile

    async def run() -> BaseException | None:
        try:
            await Chart.of("Hostile", Stage(raises)).build().run(redaction=POLICY)
        except BaseException as error:  # noqa: BLE001  whatever it is
            return error
        return None

    assert type(asyncio.run(run())) is Hostile
