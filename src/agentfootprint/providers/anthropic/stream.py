"""What do the events of one of Anthropic's streams add up to?

Invariants: pure; fragments belong to the block that is open at their index, and arguments are read from the fragments
alone (ADP-10); nothing is an answer before `message_stop` (DEC-15, DEC-70).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from agentfootprint.llm import LLMChunk, LLMResponse, ProviderStreamError, StreamTruncatedError, WireToolManifest
from agentfootprint.llm import whole_text as whole
from agentfootprint.providers.anthropic.request import PROVIDER
from agentfootprint.providers.anthropic.response import THINKING, Reader, usage_of
from agentfootprint.providers.arguments import Proposed

__all__ = ["Assembly"]

_HIGH_SURROGATES: Final = ("\ud800", "\udbff")


class _Block(msgspec.Struct):
    """One block on its way."""

    index: int
    kind: str
    opened: Mapping[str, Any]
    pieces: list[str]
    """Of thinking or of arguments, as the kind is."""
    signature: list[str]
    open: bool = True


class Assembly:
    """Puts one stream together.

    Args:
        reader: Reads what was put together.
        manifest: The tools of the body that was sent.
        request_id: The vendor's id of the call.
    """

    __slots__ = (
        *(
            "_at",
            "_blocks",
            "_carry",
            "_id",
            "_index",
            "_manifest",
            "_reader",
            "_request_id",
            "_said",
            "_stop",
            "_usage",
        ),
    )

    def __init__(self, reader: Reader, manifest: WireToolManifest, request_id: str | None = None) -> None:
        self._reader = reader
        self._manifest = manifest
        self._request_id = request_id
        self._blocks: list[_Block] = []
        self._at: dict[int, _Block] = {}
        self._usage: list[object] = []
        self._stop: object = None
        self._id = ""
        self._index = 0
        self._carry = ""
        self._said: list[str] = []

    def feed(self, name: str | None, data: str) -> Iterator[LLMChunk]:
        """The chunks that one event gives; the last of a stream is the terminal one, and nothing comes after it.

        Args:
            name: The event's name.
            data: Its JSON text.

        Raises:
            ProviderStreamError: The event can't be read, or contradicts what came before.
            MalformedToolArgsError: Arguments can't be read, and the reader's policy is `raise`.
        """
        event = self._parsed(data)
        kind = event.get("type", name)
        if kind == "content_block_delta":
            yield from self._delta(self._block(event), _object(event, "delta"))
        elif kind == "content_block_start":
            yield from self._start(event)
        elif kind == "content_block_stop":
            self._block(event).open = False
        elif kind == "message_start":
            message = _object(event, "message")
            self._id = _text(message.get("id"))
            self._usage.append(message.get("usage"))
        elif kind == "message_delta":
            self._stop = _object(event, "delta").get("stop_reason") or self._stop
            self._usage.append(event.get("usage"))
        elif kind == "message_stop":
            if self._carry:
                yield self._chunk(whole(self._carry))
            yield LLMChunk(token_index=self._index, content="", done=True, response=self._response())

    def truncated(self) -> StreamTruncatedError:
        """The error of a stream that has ended before its end signal, with what had arrived (DEC-15)."""
        calls = [
            {
                "id": _text(block.opened.get("id")),
                "name": _text(block.opened.get("name")),
                "args": "".join(block.pieces),
            }
            for block in self._blocks
            if block.kind == "tool_use"
        ]
        error = StreamTruncatedError(PROVIDER, text=self._text(), calls=calls)
        error.request_id = self._request_id
        return error

    def _parsed(self, data: str) -> Mapping[str, Any]:
        try:
            event: object = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, Mapping):
            raise self._contradiction("An event of the stream is no JSON object.") from None
        return cast("Mapping[str, Any]", event)

    def _start(self, event: Mapping[str, Any]) -> Iterator[LLMChunk]:
        opened = _object(event, "content_block")
        index: object = event.get("index")
        if not isinstance(index, int):
            raise self._contradiction("A block of the stream has no index.")
        block = _Block(index, _text(opened.get("type")), opened, [], [])
        self._blocks.append(block)
        self._at[index] = block
        if block.kind == "text":
            yield from self._say(_text(opened.get("text")))
        elif block.kind == "thinking":
            block.pieces.append(_text(opened.get("thinking")))
            block.signature.append(_text(opened.get("signature")))

    def _delta(self, block: _Block, delta: Mapping[str, Any]) -> Iterator[LLMChunk]:
        kind = delta.get("type")
        if kind == "text_delta" and block.kind == "text":
            yield from self._say(_text(delta.get("text")))
        elif kind == "input_json_delta" and block.kind == "tool_use":
            block.pieces.append(_text(delta.get("partial_json")))
        elif kind == "thinking_delta" and block.kind == "thinking":
            thought = _text(delta.get("thinking"))
            block.pieces.append(thought)
            if thought:
                yield self._chunk("", whole(thought))
        elif kind == "signature_delta" and block.kind == "thinking":
            block.signature.append(_text(delta.get("signature")))
        elif kind in ("text_delta", "thinking_delta", "signature_delta") and block.kind in (
            "text",
            "tool_use",
            *THINKING,
        ):
            raise self._contradiction(f"A block of the kind {block.kind!r} was sent a piece of another kind.")

    def _say(self, text: str) -> Iterator[LLMChunk]:
        """Pass a piece of text on; half of a surrogate pair at its end waits for the other half."""
        self._said.append(text)
        text = self._carry + text
        self._carry = ""
        if text and _HIGH_SURROGATES[0] <= text[-1] <= _HIGH_SURROGATES[1]:
            text, self._carry = text[:-1], text[-1]
        if text:
            yield self._chunk(whole(text))

    def _chunk(self, text: str, thought: str | None = None) -> LLMChunk:
        chunk = LLMChunk(token_index=self._index, content=text, thinking_delta=thought)
        self._index += 1
        return chunk

    def _block(self, event: Mapping[str, Any]) -> _Block:
        index = event.get("index")
        block = self._at.get(index) if isinstance(index, int) else None
        if block is None or not block.open:
            raise self._contradiction("The stream speaks of a block that is not open.")
        return block

    def _text(self) -> str:
        return whole("".join(self._said))

    def _response(self) -> LLMResponse:
        if any(block.open and block.kind == "tool_use" for block in self._blocks) and self._stop != "max_tokens":
            raise self._contradiction("The stream has ended within a call.")
        blocks = sorted(self._blocks, key=lambda block: block.index)  # stable: one index used twice keeps its order
        proposed = [
            Proposed(_text(block.opened.get("id")), _text(block.opened.get("name")), _arguments(block), block.index)
            for block in blocks
            if block.kind == "tool_use" and not block.open
        ]
        return self._reader.answer(
            text=self._text(),
            proposed=proposed,
            usage=usage_of(*self._usage),
            stop=self._stop,
            thoughts=[_thought(block) for block in blocks if block.kind in THINKING],
            message_id=self._id,
            manifest=self._manifest,
            request_id=self._request_id,
        )

    def _contradiction(self, problem: str) -> ProviderStreamError:
        return ProviderStreamError(problem, provider=PROVIDER, phase="stream", request_id=self._request_id)


def _arguments(block: _Block) -> object:
    """The fragments; what the block opened with, where a gateway puts the arguments there and sends none."""
    text = "".join(block.pieces)
    opened: object = block.opened.get("input")
    return opened if opened and not text and not isinstance(opened, str) else text


def _thought(block: _Block) -> dict[str, Any]:
    if block.kind == "redacted_thinking":
        return dict(block.opened)
    thought = {"type": "thinking", "thinking": "".join(block.pieces)}
    signature = "".join(block.signature)
    return {**thought, "signature": signature} if signature else thought


def _object(source: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = source.get(key)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
