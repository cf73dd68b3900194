"""What may a fake vendor be told to say, and in what manner?

Invariants: a script speaks of meaning (a text, calls, a failure) and of bytes (where they break), never of one vendor's
wire; a wire turns the meaning into the vendor's words, and the server alone breaks the bytes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ["Answer", "Call", "Failure", "Manner", "Received", "Refusal", "Reply", "Script", "Wire"]


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the vendor proposes.

    Args:
        name: Name of the tool.
        args: The arguments; a text is sent as it is, which is how malformed arguments are made.
        id: The call's id; `None` lets the wire make one, an empty text leaves it out or empty, as the wire can.
        pieces: In how many fragments a stream sends the arguments, each at least one character.
    """

    name: str
    args: Mapping[str, Any] | str = dataclasses.field(default_factory=dict[str, Any])
    id: str | None = None
    pieces: int = 2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How an answer goes over the line.

    A frame is one event of a stream, or the whole body of an answer in one piece.

    Args:
        delay: Seconds before the status line.
        piece: Most bytes of one write, so 1 splits every character; `None` writes each frame whole.
        cut_bytes: The body ends after so many bytes; a negative number counts from its end.
        cut_frames: A stream ends after so many frames.
        ending: What a cut looks like: `clean` ends the body as if it were whole, `dropped` closes the connection
            without the end that was promised, `reset` resets it.
        stall_frames: A stream falls silent after so many frames, until the client leaves.
        failure_frames: A stream sends `failure` after so many frames, and ends.
        failure: What the stream sends there.
        crlf: Lines of a stream end with CRLF.
        noise: Comments, and what else the wire lets pass as no event, stand between the frames.
        other_form: A stream is asked for and a whole body comes, or the other way round.
        headers: Further headers of the answer.
    """

    delay: float = 0.0
    piece: int | None = None
    cut_bytes: int | None = None
    cut_frames: int | None = None
    ending: Literal["clean", "dropped", "reset"] = "clean"
    stall_frames: int | None = None
    failure_frames: int | None = None
    failure: Failure | None = None
    crlf: bool = False
    noise: bool = False
    other_form: bool = False
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """The vendor fails instead of answering.

    Args:
        status: HTTP status; in a stream, what the wire makes its error of.
        kind: The vendor's error type; `None` takes the one that belongs to the status.
        message: The vendor's sentence.
        headers: Such as `{"retry-after": "7"}`.
        body: Sent instead of the vendor's error object, say the HTML page of a proxy.
        delay: Seconds before the status line.
        drop: Close the connection without a word.
    """

    status: int = 500
    kind: str | None = None
    message: str = "something went wrong"
    _: dataclasses.KW_ONLY
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    body: bytes | None = None
    delay: float = 0.0
    drop: bool = False


_WELL: Manner = Manner()


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """What the model says.

    Args:
        text: The text; a sequence is streamed in these pieces, a text in pieces of the wire's choice.
        calls: The calls it proposes, in order.
        thinking: What it thought.
        signature: The vendor's signature of the thinking.
        redacted: A redacted thought's payload.
        stop: The vendor's own stop word; `None` takes the one that fits.
        usage: The vendor's own usage object; `None` takes plausible numbers, an empty one leaves usage out.
        id: The vendor's id of the reply; `None` lets the wire number it.
        interleave: A stream mixes the fragments of parallel calls.
        refusal: A refusal in the vendor's words, where its wire has a place for one.
        extra: What only one wire knows, merged into its answer as that wire says.
        manner: How it goes over the line.
    """

    text: str | Sequence[str] = ""
    _: dataclasses.KW_ONLY
    calls: Sequence[Call] = ()
    thinking: str = ""
    signature: str = ""
    redacted: str = ""
    stop: str | None = None
    usage: Mapping[str, Any] | None = None
    id: str | None = None
    interleave: bool = False
    refusal: str = ""
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    manner: Manner = _WELL

    @property
    def whole_text(self) -> str:
        """The text in one piece."""
        return self.text if isinstance(self.text, str) else "".join(self.text)

    @property
    def text_pieces(self) -> list[str]:
        """The text as a stream sends it: the pieces given, or pieces of five characters."""
        if not isinstance(self.text, str):
            return list(self.text)
        return [self.text[at : at + 5] for at in range(0, len(self.text), 5)]


@dataclasses.dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in."""

    number: int
    """Which request of this vendor it is, from 1."""
    method: str
    path: str
    """Path and query."""
    headers: Mapping[str, str]
    """By name in lower case."""
    raw: bytes
    body: Any
    """The body as JSON; `None` when it is none."""


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Why the vendor does not accept a request."""

    message: str
    status: int = 400
    kind: str | None = None

    @property
    def failure(self) -> Failure:
        """The refusal as an answer."""
        return Failure(self.status, self.kind, self.message)


Answer: TypeAlias = Reply | Failure
Script: TypeAlias = Sequence[Answer] | Callable[[Received], Answer]


class Wire(Protocol):
    """One vendor's words: pure functions of what came and what shall be said."""

    @property
    def base_path(self) -> str:
        """What stands behind the address in the base URL that the vendor's SDK wants, say `/v1`; may be empty."""
        ...

    @property
    def stream_type(self) -> str:
        """The content type of a stream."""
        ...

    def check(self, request: Received) -> Refusal | None:
        """What the vendor refuses, and with what status: path, key, unknown fields, roles, pairing of calls."""
        ...

    def aside(self, request: Received) -> Mapping[str, Any] | None:
        """The answer to a request that asks no model (a list of models, say), as JSON; `None` for all others.

        Asked after `check`; no item of the script is used up by it.
        """
        ...

    def streams(self, request: Received) -> bool:
        """Whether the request asks for a stream."""
        ...

    def whole(self, reply: Reply, request: Received) -> bytes:
        """The reply in one body."""
        ...

    def frames(self, reply: Reply, request: Received) -> list[bytes]:
        """The reply as the events of a stream, each with what ends it; the last ones are the vendor's end signal."""
        ...

    def noise(self) -> bytes:
        """Something between two frames that means nothing: a comment, a ping; may be empty."""
        ...

    def failure(self, failure: Failure) -> bytes:
        """The body of an HTTP error."""
        ...

    def failure_frame(self, failure: Failure) -> bytes:
        """The event of an error inside a stream."""
        ...
