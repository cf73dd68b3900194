"""How does what a model thought, in a vendor's own shape, become blocks that can be kept?

Invariants: `normalize` of nothing, or of garbage, gives no blocks and never raises (THK-2); signatures are kept byte
for byte; no two handlers claim one provider name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from agentfootprint.llm.messages import ThinkingBlock

__all__ = ["THINKING_HANDLERS", "ThinkingHandler", "find_thinking_handler"]


class ThinkingHandler(Protocol):
    """Turns the raw thinking of a family of providers into blocks."""

    @property
    def id(self) -> str:
        """Names the handler, and its stage in a run."""
        ...

    @property
    def provider_names(self) -> Sequence[str]:
        """The providers whose thinking it reads."""
        ...

    def normalize(self, raw: object) -> list[ThinkingBlock]:
        """Blocks in the vendor's order; an error message must not hold what was thought (THK-5)."""
        ...


def _items(raw: object) -> Sequence[object]:
    """The items of a list; nothing when it is no list."""
    return cast("Sequence[object]", raw) if isinstance(raw, Sequence) and not isinstance(raw, (str, bytes)) else ()


def _objects(raw: object) -> Iterable[Mapping[str, Any]]:
    """The objects of a list; nothing when it is no list."""
    return (cast("Mapping[str, Any]", item) for item in _items(raw) if isinstance(item, Mapping))


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else ""


class _Anthropic:
    id: str = "anthropic"
    provider_names: Sequence[str] = ("anthropic", "browser-anthropic")

    def normalize(self, raw: object) -> list[ThinkingBlock]:
        blocks: list[ThinkingBlock] = []
        for item in _objects(raw):
            if item.get("type") == "thinking":
                blocks.append(ThinkingBlock("thinking", _text(item.get("thinking")), signature=item.get("signature")))
            elif item.get("type") == "redacted_thinking":
                payload = item.get("data", item.get("signature"))  # `data` on the real wire (ANT-3)
                blocks.append(ThinkingBlock("redacted_thinking", "", signature=payload))
        return blocks


class _OpenAI:
    id: str = "openai"
    provider_names: Sequence[str] = ("openai",)

    def normalize(self, raw: object) -> list[ThinkingBlock]:
        texts = [raw] if isinstance(raw, str) else [_text(item.get("text")) for item in _objects(raw)]
        return [ThinkingBlock("thinking", text, summary=True) for text in texts if text]


class _Ollama:
    id: str = "ollama"
    provider_names: Sequence[str] = ("ollama",)

    def normalize(self, raw: object) -> list[ThinkingBlock]:
        source = cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {"kind": "field", "thinking": raw}
        if source.get("kind") == "inline":
            texts = _tagged(_text(source.get("content")))
        elif source.get("kind") == "field":
            field = _text(source.get("thinking"))
            texts = _tagged(field) or [field.strip()]
        else:
            texts = []
        return [ThinkingBlock("thinking", text) for text in texts if text]


class _Mock:
    id: str = "mock"
    provider_names: Sequence[str] = ("mock",)

    def normalize(self, raw: object) -> list[ThinkingBlock]:
        if not isinstance(raw, Mapping):
            return []
        source = cast("Mapping[str, Any]", raw)
        if source.get("kind") == "anthropic":
            return _ANTHROPIC.normalize(source.get("blocks"))
        if source.get("kind") == "openai":
            return _OPENAI.normalize([{"text": step} for step in _items(source.get("summarySteps"))])
        return []


def _tagged(text: str) -> list[str]:
    """What stands between `<think>` and `</think>`; a run that is never closed goes to the end. Linear in the text."""
    folded = text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)
    runs: list[str] = []
    at = folded.find("<think>")
    while at >= 0:
        start = at + len("<think>")
        end = folded.find("</think>", start)
        runs.append(text[start : end if end >= 0 else len(text)].strip())
        at = folded.find("<think>", end) if end >= 0 else -1
    return [run for run in runs if run]


_ANTHROPIC: Final = _Anthropic()
_OPENAI: Final = _OpenAI()

THINKING_HANDLERS: Final[tuple[ThinkingHandler, ...]] = (_ANTHROPIC, _Mock(), _Ollama(), _OPENAI)
"""All handlers that the library ships, by id."""


def find_thinking_handler(provider: str) -> ThinkingHandler | None:
    """The handler that reads a provider's thinking, or `None`.

    Args:
        provider: The provider's name without what decorators add to it.
    """
    return next((handler for handler in THINKING_HANDLERS if provider in handler.provider_names), None)
