"""How many people can watch their agents speak at once?

`python -m benchmarks.agui_clients [CLIENTS] [SECONDS]` serves one agent in a process of its own and lets clients hold
threads with it: each asks, reads the answer as it streams, and asks again. Every stream goes through the protocol's
verifier, and the text that arrives must be the text that was said, word for word: nothing lost, nothing out of order.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import socket
import sys
import time
from collections import Counter
from typing import Any

import uvicorn

from agentfootprint import Agent, Mock
from agentfootprint.agui import agui_app, verify_events
from agentfootprint.hosting import InMemorySessions

__all__ = ["figures"]

WORDS = 60
BETWEEN_WORDS = 0.05
"""Seconds; twenty words a second is what a quick model says."""
ANSWER = " ".join(f"word-{number}" for number in range(WORDS))


def _serve(port: int) -> None:
    agent = Agent(Mock(lambda _: ANSWER, chunk_delay=BETWEEN_WORDS), system="You count.")
    uvicorn.run(agui_app(agent, sessions=InMemorySessions()), port=port, log_level="warning")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


async def _ready(port: int) -> None:
    for _ in range(200):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise RuntimeError("The server did not start.")


async def _turn(port: int, thread: str, turn: int) -> list[dict[str, Any]]:
    """Ask once, and read the stream to its end; by hand, so that what is measured is the server."""
    body = json.dumps(
        {
            "threadId": thread, "runId": f"{thread}-{turn}", "state": {}, "tools": [], "context": [],
            "forwardedProps": {}, "messages": [{"id": f"u-{turn}", "role": "user", "content": "Count."}],
        }
    ).encode()  # fmt: skip
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST /agent HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\nconnection: close\r\n"
        b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise RuntimeError(head.decode(errors="replace"))
    events: list[dict[str, Any]] = []
    while size := int(await reader.readline(), 16):
        piece = await reader.readexactly(size + 2)
        events += [json.loads(line[6:]) for line in piece.splitlines() if line.startswith(b"data: ")]
    writer.close()
    return events


async def _person(port: int, name: str, until: float, seen: Counter[str]) -> None:
    turn = 0
    while time.monotonic() < until:
        turn += 1
        events = await _turn(port, name, turn)
        seen["turns"] += 1
        seen["events"] += len(events)
        said = "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
        seen["wrong texts"] += said != ANSWER
        seen["ended well"] += events[-1]["type"] == "RUN_FINISHED"
        try:
            verify_events(events)
        except Exception as error:  # noqa: BLE001  counted: the figure is how many
            seen["refused streams"] += 1
            print(f"{type(error).__name__}: {error}", file=sys.stderr)


async def figures(clients: int = 200, seconds: float = 60.0) -> dict[str, Any]:
    """What arrived, over all clients.

    Args:
        clients: How many stream at once.
        seconds: How long new turns are begun.
    """
    port = _free_port()
    server = await asyncio.create_subprocess_exec(sys.executable, "-m", "benchmarks.agui_clients", "--serve", str(port))
    try:
        await _ready(port)
        seen: Counter[str] = Counter({"wrong texts": 0, "refused streams": 0})
        started = time.monotonic()
        until = started + seconds
        await asyncio.gather(*(_person(port, f"t-{number}", until, seen) for number in range(clients)))
        took = time.monotonic() - started
    finally:
        server.terminate()
        await server.wait()
    return {
        "clients": clients,
        "seconds": round(took, 1),
        **dict(seen),
        "events a second": round(seen["events"] / took),
        "a turn, seconds": round(took * clients / seen["turns"], 2),
        "a turn with nobody else, seconds": WORDS * BETWEEN_WORDS,
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _serve(int(sys.argv[2]))
    else:
        print(json.dumps(asyncio.run(figures(*(int(value) for value in sys.argv[1:]))), indent=2))
