"""What an exporter of spans was told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Dials"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dials:
    """The options of `OtelExporter` that its spans depend on."""

    service: str
    gen_ai_names: bool
    root_usage: Literal["agentfootprint", "gen_ai"]
    explain: bool
    capture_content: bool
    capture_tool_content: bool
    raw_conversation_id: bool
