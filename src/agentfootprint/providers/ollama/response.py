"""What did Ollama say, in one answer or frame by frame?

Invariants: pure; an answer is never edited, thinking inside it stays (OLL-4); a stream is whole only with the frame
that says so (ADP-9), and what comes after that frame is not read (OLL-5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from agentfootprint.llm import (
    LLMResponse,
    ProviderStreamError,
    StreamTruncatedError,
    Usage,
    WireToolManifest,
    whole_text,
)
from agentfootprint.providers.arguments import CallReader, Proposed

__all__ = ["PROVIDER", "Frames", "obj"]

PROVIDER: Final = "ollama"
_OPEN_TAG: Final = "<think"


class Frames:
    """Adds up the frames of one answer; a whole answer is a single frame.

    Args:
        reader: Reads the calls.
        manifest: The tools that were offered.
    """

    def __init__(self, reader: CallReader, *, manifest: WireToolManifest | None = None) -> None:
        self._reader = reader
        self._manifest = manifest
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[Proposed] = []
        self._last: Mapping[str, Any] = {}
        self.is_done = False
        """Whether the last frame has come."""

    def feed(self, frame: Mapping[str, Any]) -> tuple[str, str]:
        """Take one frame; gives the text and the thinking it adds."""
        if self.is_done:
            return "", ""
        self._last = frame
        self.is_done = frame.get("done") is True
        message = obj(frame.get("message")) or {}
        text, thinking = _text(message.get("content")), _text(message.get("thinking"))
        if text:
            self._text.append(text)
        if thinking:
            self._thinking.append(thinking)
        calls = message.get("tool_calls")
        for call in cast("list[object]", calls) if isinstance(calls, list) else ():
            found = obj(call) or {}
            function = obj(found.get("function")) or {}
            self._calls.append(
                Proposed(
                    _text(found.get("id")), _text(function.get("name")), function.get("arguments"), len(self._calls)
                )
            )
        return text, thinking

    def finish(self, *, is_whole: bool = False) -> LLMResponse:
        """The response of all frames.

        Args:
            is_whole: Whether the answer came as one body, which needs no word that it is the last.

        Raises:
            StreamTruncatedError: The last frame never came; carries what had arrived.
            ProviderStreamError: It says that it calls tools and calls none (ADP-11), or a call names no tool.
            MalformedToolArgsError: Arguments can't be read, and the reader is told to raise.
        """
        content, thinking = whole_text("".join(self._text)), whole_text("".join(self._thinking))
        whole = self.is_done or (is_whole and self._last.get("done") is not False)
        if not whole:
            raise StreamTruncatedError(PROVIDER, text=content, calls=self._calls)
        said = whole_text(_text(self._last.get("done_reason")))
        stop = {"length": "max_tokens", "": "stop", "tool_calls": "tool_use"}.get(said, said)
        if self._calls and stop == "stop":
            stop = "tool_use"
        if stop == "tool_use" and not self._calls:
            raise ProviderStreamError(
                "The reply stops in order to call tools and calls none.", provider=PROVIDER, phase="decode"
            )
        usage = Usage(input=_count(self._last.get("prompt_eval_count")), output=_count(self._last.get("eval_count")))
        raw = None
        if thinking:
            raw = {"kind": "field", "thinking": thinking}
        elif _OPEN_TAG in content.lower():
            raw = {"kind": "inline", "content": content}
        return LLMResponse(
            content,
            tool_calls=self._reader.read(self._calls),
            usage=usage if usage.known else None,
            stop_reason=stop,
            raw_thinking=raw,
            wire_manifest=self._manifest,
        )


def obj(raw: object) -> Mapping[str, Any] | None:
    """The value if it is an object."""
    return cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else None


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


def _count(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None
