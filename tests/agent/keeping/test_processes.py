"""Tests of runs that failed and are taken up by another process, from a checkpoint in SQLite."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Checkpoint, RunCheckpointError
from agentfootprint.agent import InvalidAskComponentError
from agentfootprint.agent.loop import AgentRun
from tests.agent.keeping.desk import KEYS, RAN, Scripted, batch, desk
from tests.landed import ROOT

SCRIPT = """
import json, sqlite3, sys
from agentfootprint import Checkpoint
from tests.agent.keeping.desk import KEYS, RAN, Scripted, batch, desk

path, op, key = sys.argv[1:]
(text,) = sqlite3.connect(path).execute("select checkpoint from kept").fetchone()
checkpoint = Checkpoint.from_json(text, key=key)
model = Scripted(batch(("pay", {"amount": 5}), prefix="d"), "Done.")
agent = desk(model)
if op == "again":
    result = agent.resume_on_error_sync(checkpoint)
else:
    result = agent.run_sync("And now?", continue_from=checkpoint)
print(json.dumps({
    "text": result.text, "ran": RAN, "keys": KEYS, "sent": model.sent,
    "messages": [message.content for message in result.messages],
    "state": {key: result.recording.snapshot["sharedState"][key] for key in ("turnNumber", "userMessage", "iteration")},
}))
"""


def elsewhere(store: Path, checkpoint: Checkpoint, op: str) -> dict[str, Any]:
    """Store a checkpoint, and go on with it in a fresh interpreter."""
    with sqlite3.connect(store) as rows:
        rows.execute("create table if not exists kept (checkpoint text)")
        rows.execute("delete from kept")
        rows.execute("insert into kept values (?)", (checkpoint.to_json(key="a secret"),))
    rows.close()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store), op, "a secret"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def failed(*script: Any) -> Checkpoint:
    RAN.clear()
    KEYS.clear()
    with pytest.raises(RunCheckpointError) as caught:
        desk(Scripted(*script)).run_sync("Pay 5 twice.")
    return caught.value.checkpoint


def test_a_run_that_failed_is_taken_up_by_a_fresh_interpreter(tmp_path: Path) -> None:
    left = failed(batch(("pay", {"amount": 5})), ConnectionError("socket hang up"))

    again = elsewhere(tmp_path / "kept.db", left, "again")

    assert again["text"] == "Done."
    assert again["sent"][0] == [["user", "Pay 5 twice."], ["assistant", ""], ["tool", "paid 5"]]
    assert again["state"] == {"turnNumber": 1, "userMessage": "Pay 5 twice.", "iteration": 2}
    assert again["messages"] == ["Pay 5 twice.", "", "paid 5", "", "paid 5", "Done."]


def test_a_second_payment_of_the_turn_has_a_key_of_its_own_and_one_of_the_next_turn_another(tmp_path: Path) -> None:
    left = failed(batch(("pay", {"amount": 5})), ConnectionError("socket hang up"))
    first = list(KEYS)

    again = elsewhere(tmp_path / "kept.db", left, "again")
    retried = elsewhere(tmp_path / "kept.db", left, "again")
    next_turn = elsewhere(tmp_path / "kept.db", left, "next")

    assert again["keys"] == retried["keys"]
    assert len({*first, *again["keys"], *next_turn["keys"]}) == 3


async def test_a_call_that_ran_after_the_last_whole_iteration_keeps_its_key_when_it_runs_again(tmp_path: Path) -> None:
    RAN.clear()
    KEYS.clear()
    handle = desk(Scripted(batch(("pay", {"amount": 5}), ("show", {"question": "?"})))).start("Pay 5 twice.")
    with pytest.raises(InvalidAskComponentError):
        await handle.result()
    left = handle.checkpoint
    assert left is not None

    again = elsewhere(tmp_path / "kept.db", left, "again")

    assert left.in_flight is not None
    assert [call.name for call in left.in_flight.tool_calls] == ["pay", "show"]
    assert [message.content for message in left.in_flight.landed] == ["paid 5"]
    assert [message.content for message in left.history] == ["Pay 5 twice."]
    assert again["keys"] == KEYS


def test_a_batch_that_a_dying_program_interrupted_is_answered_and_says_what_may_have_acted() -> None:
    run = AgentRun(
        desk(Scripted(batch(("pay", {"amount": 5}), ("crash", {"what": "power cut"}), ("look", {"order": "A"})))), "Go."
    )
    with pytest.raises(SystemExit):
        asyncio.run(run.execute())

    left = run.checkpoint
    assert left is not None
    told = left.history[-3:]
    assert [message.tool_name for message in told] == ["pay", "crash", "look"]
    assert told[0].content == "paid 5"
    assert "Whether it took effect is not known" in told[1].content
    assert [message.not_dispatched and message.not_dispatched.cause for message in told] == [None, None, "stopped"]
