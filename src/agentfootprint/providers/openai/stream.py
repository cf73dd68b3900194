"""What does a stream of chat completion chunks add up to?

Invariants: pure; the fragments of two calls are never joined (DEC-4); nothing is an answer before the vendor said why
it stopped (DEC-15); calls come in the order of their index (ADP-13).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from agentfootprint.llm import LLMResponse, StreamTruncatedError, Usage, WireToolManifest
from agentfootprint.providers.arguments import CallReader, Proposed, complete_object
from agentfootprint.providers.openai.response import finish, obj, objects, text_of, usage_of

__all__ = ["Assembler"]


@dataclasses.dataclass(slots=True)
class _Call:
    """A call that is arriving."""

    index: int
    id: str
    name: str
    raw: str | Mapping[str, Any] = ""
    is_mixed: bool = False
    """Whether its arguments came both as text and as an object, which is neither."""

    def take(self, arguments: object) -> None:
        whole = obj(arguments)
        if whole is not None:
            self.is_mixed = self.is_mixed or self.raw != ""
            self.raw = whole
        elif isinstance(arguments, str) and arguments:
            if isinstance(self.raw, str):
                self.raw += arguments
            else:
                self.is_mixed = True
        elif arguments is not None and not isinstance(arguments, str):
            self.is_mixed = True  # a list or a number, where an object belongs

    def proposed(self) -> Proposed:
        return Proposed(self.id, self.name, "{" if self.is_mixed else self.raw, self.index)


class Assembler:
    """Adds up the chunks of one stream.

    Args:
        provider: Name of the provider, for errors.
        reader: Reads the calls.
        manifest: The tools that were offered.
        request_id: The vendor's id of the call, for a stream without one.
        may_lack_end: Take the end of the stream for its end signal, for servers that send none (ADP-9).
    """

    def __init__(
        self,
        reader: CallReader,
        *,
        provider: str = "openai",
        manifest: WireToolManifest | None = None,
        request_id: str | None = None,
        may_lack_end: bool = False,
    ) -> None:
        self._provider = provider
        self._reader = reader
        self._manifest = manifest
        self._may_lack_end = may_lack_end
        self._ref = request_id
        self._has_id = False
        self._said = ""
        self._usage: Usage | None = None
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._thinking: list[str] = []
        self._calls: list[_Call] = []

    def feed(self, chunk: Mapping[str, Any]) -> tuple[str, str]:
        """Take one chunk.

        Returns:
            The text and the thinking it adds; a refusal is text (OAI-6).
        """
        usage = usage_of(chunk.get("usage"))  # before the choices: the last chunk has none (ADP-14)
        if usage is not None:
            self._usage = usage
        ref = text_of(chunk.get("id"))
        if ref and not self._has_id:
            self._ref, self._has_id = ref, True
        choice = next(iter(objects(chunk.get("choices"))), None)
        if choice is None or choice.get("index", 0) not in (0, None):
            return "", ""
        self._said = text_of(choice.get("finish_reason")) or self._said
        delta = obj(choice.get("delta")) or obj(choice.get("message")) or {}
        text, refusal = text_of(delta.get("content")), text_of(delta.get("refusal"))
        thinking = text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning"))
        if text:
            self._text.append(text)
        if refusal:
            self._text.append(refusal)
            self._refusal.append(refusal)
        if thinking:
            self._thinking.append(thinking)
        self._take(objects(delta.get("tool_calls")))
        return text + refusal, thinking

    def finish(self) -> LLMResponse:
        """The response of the whole stream.

        Raises:
            StreamTruncatedError: The vendor never said why it stopped (ADP-9); carries what had arrived.
            ProviderStreamError: It says that it calls tools and calls none (ADP-11).
            MalformedToolArgsError: Arguments can't be read, and the reader is told to raise.
        """
        calls = [call.proposed() for call in sorted(self._calls, key=lambda call: call.index)]
        if not self._said and not self._may_lack_end:
            raise StreamTruncatedError(self._provider, text="".join(self._text), calls=calls)
        return finish(
            provider=self._provider,
            content="".join(self._text),
            refusal="",
            thinking="".join(self._thinking),
            calls=calls,
            reader=self._reader,
            said="refusal" if self._refusal else self._said,
            usage=self._usage,
            ref=self._ref,
            manifest=self._manifest,
        )

    def _take(self, fragments: list[Mapping[str, Any]]) -> None:
        for fragment in fragments:
            function = obj(fragment.get("function")) or {}
            call_id, name = text_of(fragment.get("id")), text_of(function.get("name"))
            arguments = function.get("arguments")
            index = fragment.get("index")
            at = index if isinstance(index, int) and not isinstance(index, bool) else None
            call = self._call_of(at, call_id, name, arguments, alone=len(fragments) == 1)
            if call is None:
                call = _Call(len(self._calls) if at is None else at, call_id, name)
                self._calls.append(call)
            call.id, call.name = call_id or call.id, name or call.name
            call.take(arguments)

    def _call_of(self, at: int | None, call_id: str, name: str, arguments: object, *, alone: bool) -> _Call | None:
        """The call that a fragment goes on with, or `None` when it begins one (DEC-4, OAI-8, OAI-11)."""
        mine = [call for call in self._calls if at is None or call.index == at]
        if call_id:
            known = [call for call in mine if call.id == call_id]
            mine = known or [call for call in mine[-1:] if not call.id and at is not None]
        elif at is None and not alone:
            return None  # whole calls side by side, without index and id
        if not mine:
            return None
        last = mine[-1]
        begun = last.raw != "" or last.is_mixed
        says_more = arguments not in (None, "", {})
        if name and begun and (name != last.name or (says_more and complete_object(last.raw))):
            return None  # another call under the same index or id: what is whole takes nothing more
        return last
