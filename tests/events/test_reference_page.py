"""Tests of the page docs/reference/events.md and of scripts/generate_event_docs.py, which makes it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from agentfootprint.events import EVENT_TYPES, PAYLOADS

ROOT = Path(__file__).parents[2]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_event_docs", ROOT / "scripts" / "generate_event_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_not_stale() -> None:
    script = generator()

    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run scripts/generate_event_docs.py"


def test_the_page_has_a_row_for_every_key_of_every_event() -> None:
    text = generator().PAGE.read_text(encoding="utf-8")

    for kind in PAYLOADS:
        section = text.partition(f"### {kind.type}\n")[2].partition("\n### ")[0]
        missing = [key for key in kind.__struct_encode_fields__ if f"| `{key}`" not in section]

        assert missing == [], kind.type
    assert text.count("\n### agentfootprint.") == len(EVENT_TYPES)
