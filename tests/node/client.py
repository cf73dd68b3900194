"""The published client of AG-UI in a Node process of its own, asked and answering by JSON lines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["Client"]

Event = dict[str, Any]


class Client:
    """One Node process with as many tabs as are opened; `agui.mjs` says what it answers."""

    def __init__(self, node: str, packages: Path) -> None:
        self._process = subprocess.Popen(
            [node, str(packages / "agui.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **command: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the client has ended"
        return json.loads(line)

    def refusal(self, events: Sequence[Event]) -> str | None:
        """Why the client's own check refuses a stream; `None` when it doesn't."""
        return self.ask(verify=list(events))["error"]

    def open(self, tab: str, url: str, thread_id: str, *, like: str | None = None, **headers: str) -> None:
        self.ask(open=tab, url=url, threadId=thread_id, headers=headers, **({} if like is None else {"like": like}))

    def run(self, tab: str, run_id: str, **more: Any) -> dict[str, Any]:
        return self.ask(run=tab, runId=run_id, **more)

    def close(self) -> None:
        self._process.communicate(timeout=20)
