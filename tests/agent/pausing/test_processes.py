"""Tests of pauses that are answered in another process: stored in SQLite, resumed by a fresh interpreter."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentfootprint import Mock
from tests.agent.pausing.desk import RAN, desk
from tests.landed import ROOT

SCRIPT = """
import json, sqlite3, sys
from agentfootprint import Mock, PauseCheckpoint, approve
from agentfootprint.llm import LLMResponse, ToolCall
from tests.agent.pausing.desk import KEYS, RAN, desk
from tests.agent.pausing.test_processes import SAID

path, id = sys.argv[1:]
text, answer = sqlite3.connect(path).execute("select checkpoint, answer from pauses where id = ?", (id,)).fetchone()
given = json.loads(answer)
result = desk(*SAID()).resume_sync(PauseCheckpoint.from_json(text), given)
print(json.dumps({
    "text": result.text, "ran": RAN, "keys": KEYS,
    "paused": None if result.paused is None else result.paused.checkpoint.to_json(),
    "history": [message.content for message in result.messages],
    "sent": result.recording.calls[0].system_text,
    "why": str(result.why()),
}))
"""


def SAID() -> list[Any]:  # noqa: N802  a constant that is made anew
    from agentfootprint.llm import LLMResponse, ToolCall

    first = (
        ToolCall("c1", "look", {"order": "A"}),
        ToolCall("c2", "ask", {"question": "Vip?"}),
        ToolCall("c3", "look", {"order": "B"}),
    )
    return [LLMResponse(tool_calls=first, stop_reason="tool_use"), Mock.call("refund", amount=480), "Refunded."]


def answered(store: Path, checkpoint: str, answer: Any) -> dict[str, Any]:
    with sqlite3.connect(store) as rows:
        rows.execute("create table if not exists pauses (id text, checkpoint text, answer text)")
        rows.execute("delete from pauses")
        rows.execute("insert into pauses values ('p', ?, ?)", (checkpoint, json.dumps(answer)))
    rows.close()
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store), "p"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_leg_of_a_turn_may_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    RAN.clear()
    first = desk(*SAID()).run_sync("Refund A?")
    assert first.paused is not None

    second = answered(tmp_path / "pauses.db", first.paused.checkpoint.to_json(), "a vip")
    third = answered(tmp_path / "pauses.db", second["paused"], {"approved": True, "by": "dana"})
    again = answered(tmp_path / "pauses.db", second["paused"], {"approved": True, "by": "dana"})

    assert RAN == ["look A", "ask Vip?"]
    assert (second["ran"], third["ran"]) == ([], ["refund 480"])
    assert third["text"] == "Refunded."
    assert third["history"][2:4] == ["A: shipped", "a vip"]
    assert "B" not in third["history"][4]
    assert third["sent"] == "You decide refunds. Be kind.\n\nRefunds up to 500 are allowed."
    assert third["keys"] == again["keys"]
    assert third["keys"][0] is not None
    assert "policy" in third["why"]
    assert "refund" in third["why"]


def test_a_stored_checkpoint_holds_no_callable_and_says_its_size() -> None:
    paused = desk(*SAID()).run_sync("Refund A?").paused
    assert paused is not None

    text = paused.checkpoint.to_json()

    assert paused.checkpoint.size_bytes == len(text.encode())
    assert json.loads(text)["agentfootprint"]["schema"] == 1
    assert "function" not in text
