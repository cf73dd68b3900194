"""Tests of agentfootprint.cli.serving: what is refused, and a real server on loopback that is started twice."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentfootprint.agui import verify_events
from tests.cli.commands import afp

AGENT = """
from agentfootprint import Agent, Mock, tool

@tool(check_in="always")
async def refund(amount: int) -> str:
    \"\"\"Refund an amount. Use it when the policy allows it.\"\"\"
    print("a tool that prints")
    return f"refunded {amount}"

agent = Agent(Mock([Mock.call("refund", amount=480), "Done."], cursor="history"), tools=[refund])
number = 5
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory has a module `stall` with an agent."""
    (tmp_path / "stall.py").write_text(AGENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "stall", raising=False)
    return tmp_path


@contextmanager
def serving(*words: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A server in a process of its own: its address, and the process, which is ended here if it still runs."""
    command = [sys.executable, "-m", "agentfootprint", "serve", *words, "--port", "0", "-q"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url
        yield url, process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=20)


def ended(process: subprocess.Popen[str], *, is_told: bool = False) -> tuple[int, str]:
    """Press Ctrl-C, unless that was done, and wait: the exit code, and what was said."""
    if not is_told:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return process.returncode, out + err


def post(url: str, run: str, **more: Any) -> list[dict[str, Any]]:
    request: dict[str, Any] = {"threadId": "t-1", "runId": run, "messages": [], **more}
    answer = httpx.post(url, json=request, timeout=20)
    assert answer.status_code == 200, answer.text
    events = [json.loads(frame.removeprefix("data: ")) for frame in answer.text.split("\n\n") if frame]
    verify_events(events)
    return events


@pytest.mark.usefixtures("folder")
def test_a_question_outlives_the_process_that_asked_it() -> None:
    said = [{"id": "u-1", "role": "user", "content": "Refund 480."}]
    with serving("--agui", "stall:agent", "--sessions", "threads.db") as (url, process):
        asks = post(url, "r-1", messages=said)
        code, words = ended(process)
    assert code == 130
    assert "Traceback" not in words

    (question,) = asks[-1]["outcome"]["interrupts"]
    resume = [{"interruptId": question["id"], "status": "resolved", "payload": {"approved": True}}]
    with serving("--agui", "stall:agent", "--sessions", "threads.db") as (url, process):
        events = post(url, "r-2", resume=resume)
        again = post(url, "r-2", resume=resume)
        code, words = ended(process)

    (result,) = [each for each in events if each["type"] == "TOOL_CALL_RESULT"]
    assert (result["content"], result["toolCallId"]) == ("refunded 480", question["toolCallId"])
    assert events[-1]["result"] == again[-1]["result"] == "Done."
    assert code == 130
    assert "480" not in words
    assert "a tool that prints" in words


@pytest.mark.usefixtures("folder")
def test_ctrl_c_ends_it_while_a_client_is_connected() -> None:
    slow = AGENT.replace('cursor="history"', 'cursor="history", delay=30.0')
    Path("slow.py").write_text(slow, encoding="utf-8")
    request = {"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "Go."}]}
    options = ("--agui", "slow:agent", "--sessions", "threads.db")
    with serving(*options) as (url, process), httpx.stream("POST", url, json=request) as answer:
        lines = answer.iter_lines()
        first = next(lines)
        process.send_signal(signal.SIGINT)
        last = [line for line in lines if line][-1]
        code, words = ended(process, is_told=True)

    assert "RUN_STARTED" in first
    assert '"code":"cancelled"' in last
    assert code == 130
    assert "Traceback" not in words
    with closing(sqlite3.connect("threads.db")) as kept:
        ((envelope,),) = kept.execute("SELECT envelope FROM agent_sessions")
    assert json.loads(envelope)["data"]["history"][0]["content"] == "Go."
    assert "claim" not in json.loads(envelope)["data"]["agui"]


@pytest.mark.usefixtures("folder")
def test_a_free_port_and_a_path() -> None:
    with serving("--agui", "stall:agent", "--path", "/desk") as (url, _):
        found = httpx.get(f"{url}/capabilities").json()

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/desk", url)
    assert found["tools"]["supported"] is True


@pytest.mark.usefixtures("folder")
def test_on_this_machine_it_answers_to_names_of_this_machine_only() -> None:
    with serving("--agui", "stall:agent") as (url, _):
        port = url.rpartition(":")[2].partition("/")[0]
        named = ("127.0.0.1", f"localhost:{port}", "[::1]", "LOCALHOST", "evil.example", "127.0.0.1.evil.example", "")
        found = [httpx.get(f"{url}/capabilities", headers={"host": each}).status_code for each in named]

    assert found == [200, 200, 200, 200, 421, 421, 421]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], "ERR_USAGE", "No agent is named."),
        (["--agui", "stall"], "ERR_USAGE", "--agui 'stall' is no MODULE:ATTRIBUTE."),
        (["--agui", "stall.py:agent"], "ERR_USAGE", "--agui stall:agent"),
        (["--agui", "stall:number"], "ERR_AGENT_NOT_FOUND", "of type int, not an agent"),
        (["--agui", "stall:nobody"], "ERR_AGENT_NOT_FOUND", "no 'nobody'"),
        (["--agui", "stall:agent", "--port", "99999"], "ERR_USAGE", "--port 99999 is no port."),
        (["--agui", "stall:agent", "--path", "desk"], "ERR_CONFIG", "begins with a slash"),
        (["--agui", "stall:agent", "--sessions", "stall.py"], "ERR_UNREADABLE_SESSION_FILE", "SQLite"),
        (["--agui", "stall:agent", "--host", "203.0.113.7"], "ERR_ADDRESS", "203.0.113.7:8000 can't be listened at"),
    ],
)
def test_what_cant_be_served_is_said_and_exits_with_2(words: list[str], code: str, said: str) -> None:
    ran = afp("serve", *words, "--json")

    assert ran.code == 2
    error = ran.json["error"]
    assert error["code"] == code
    assert said in f"{error['problem']} {error['fix']}"


@pytest.mark.usefixtures("folder")
def test_an_address_that_another_program_has() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = afp("serve", "--agui", "stall:agent", "--port", str(port))

    assert (ran.code, ran.out) == (2, "")
    assert "[ERR_ADDRESS]" in ran.err
    assert "already in use" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="addresses of all interfaces are another matter there")
@pytest.mark.usefixtures("folder")
def test_an_open_address_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(*_: object, sockets: list[socket.socket]) -> None:
        """A server that ends when it has begun."""

    monkeypatch.setattr("uvicorn.Server.serve", at_once)

    ran = afp("serve", "--agui", "stall:agent", "--port", "0", "--host", "0.0.0.0")

    assert ran.code == 0
    assert "nobody is asked who they are" in ran.err
    assert re.search(r"^SERVING stall:agent in AG-UI at http://127\.0\.0\.1:\d+/agent$", ran.out, re.MULTILINE)
    assert "THREADS in memory" in ran.out


@pytest.mark.usefixtures("folder")
def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    ran = afp("serve", "--agui", "stall:agent")

    assert (ran.code, ran.out) == (2, "")
    assert 'pip install "agentfootprint[agui]"' in ran.err
