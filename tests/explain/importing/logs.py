"""Made-up logs for the tests of importing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["SAMPLE", "a_log", "sample", "write"]

SAMPLE = Path(__file__).parents[3] / "src" / "agentfootprint" / "explain" / "importing" / "sample_failure.json"


def sample() -> dict[str, Any]:
    """The log that the package ships."""
    return json.loads(SAMPLE.read_text(encoding="utf-8"))


def a_log(*messages: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A log with these messages, each `(who, text)`; who may have a parenthesis."""
    history = [{"role": who, "content": text} for who, text in messages]
    return {"question": "How many lamps are lit?", "history": history, **more}


def write(folder: Path, document: object, name: str = "log.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
