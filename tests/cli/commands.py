"""Run a command line in process, and look at what it printed where."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from agentfootprint.cli.program import app
from agentfootprint.explain import display_width

__all__ = ["Ran", "afp", "widest"]

PLAIN = {"NO_COLOR": None, "FORCE_COLOR": None, "CI": None, "TERM": "xterm", "COLUMNS": None}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def afp(*words: str, typed: str | None = None, env: dict[str, str | None] | None = None) -> Ran:
    """Run `agentfootprint WORDS`, as if piped."""
    done = CliRunner().invoke(app, list(words), input=typed, env={**PLAIN, **(env or {})})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


def widest(text: str) -> int:
    return max(map(display_width, text.splitlines()), default=0)
