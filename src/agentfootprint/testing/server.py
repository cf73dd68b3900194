"""Where does a fake vendor listen, and how does it break what it was told to break?

Invariants: loopback only, standard library only; every request is kept and put to the wire's strict check before the
script is asked; a script that is used up, or a request that the vendor refuses, is answered by an error and remembered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

from agentfootprint.testing.script import Answer, Failure, Manner, Received, Refusal, Reply, Script, Wire

__all__ = ["FakeVendor"]

_JSON: Final = "application/json"
_MOST_HEADERS: Final = 64 * 1024


class _CutError(Exception):
    """The answer ends here, and the connection with it."""


class FakeVendor:
    """A vendor on the loopback, strict about what it gets and obedient in how it misbehaves.

    Args:
        wire: The vendor's words.
        script: What it says to one request after the other; or a function of the request.

    Example:
        >>> import asyncio
        >>> from agentfootprint.testing import AnthropicWire, FakeVendor, Reply
        >>> async def main() -> str:
        ...     async with FakeVendor(AnthropicWire(), [Reply("Hello.")]) as vendor:
        ...         return vendor.base_url
        >>> asyncio.run(main()).startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, wire: Wire, script: Script = ()) -> None:
        self.wire = wire
        self.requests: list[Received] = []
        """Everything that came in, in order."""
        self.refused: list[tuple[int, Refusal]] = []
        """What was refused and why, by the number of the request."""
        self.abandoned: list[int] = []
        """Numbers of the requests whose client left before the answer was whole."""
        self.connections = 0
        """How many connections are open."""
        self._script = script
        self._used = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    @property
    def base_url(self) -> str:
        """What the vendor's SDK takes as its base URL."""
        if self._server is None:
            message = "The vendor listens inside `async with` only."
            raise RuntimeError(message)
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}{self.wire.base_path}"

    @property
    def bodies(self) -> list[Any]:
        """The JSON bodies of the requests."""
        return [request.body for request in self.requests]

    def then(self, *answers: Answer) -> None:
        """Say these next; for a script that is a list."""
        if callable(self._script):
            message = "The script is a function."
            raise TypeError(message)
        self._script = [*self._script, *answers]

    async def until(self, what: Callable[[], object]) -> None:
        """Wait until `what()` is true, looking again whenever a connection does something."""
        while not what():
            self._changed.clear()
            await self._changed.wait()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Protocol(self), "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: asyncio.Event) -> None:
        """Answer the requests of one connection until its client leaves."""
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self.connections += 1
        try:
            while (request := await self._read(reader)) is not None:
                await self._answer(request, writer, left)
        except (_CutError, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # a cancelled handler belongs to a vendor that is closing
        finally:
            self.connections -= 1
            self._changed.set()
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader) -> Received | None:
        """The next request of a connection, or `None` at its end."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _version = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        if headers.get("transfer-encoding", "").lower() == "chunked":
            raw = await _chunked(reader)
        else:
            raw = await reader.readexactly(int(headers.get("content-length", "0")))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        request = Received(len(self.requests) + 1, method, path, headers, raw, body)
        self.requests.append(request)
        self._changed.set()
        return request

    def _say(self, request: Received) -> Answer | Mapping[str, Any]:
        refusal = self.wire.check(request)
        if refusal is not None:
            self.refused.append((request.number, refusal))
            return refusal.failure
        known = self.wire.aside(request)
        if known is not None:
            return known
        if callable(self._script):
            return self._script(request)
        self._used += 1
        if self._used > len(self._script):
            refusal = Refusal(f"the script has {len(self._script)} answers and more was asked", status=400)
            self.refused.append((request.number, refusal))
            return refusal.failure
        return self._script[self._used - 1]

    async def _answer(self, request: Received, writer: asyncio.StreamWriter, left: asyncio.Event) -> None:
        answer = self._say(request)
        leaving = asyncio.create_task(left.wait())
        sending = asyncio.create_task(self._send(answer, request, writer))
        try:
            await asyncio.wait((leaving, sending), return_when=asyncio.FIRST_COMPLETED)
            if not sending.done():
                self.abandoned.append(request.number)
                raise _CutError
            await sending
        except ConnectionError:
            self.abandoned.append(request.number)
            raise
        finally:
            for task in (leaving, sending):
                task.cancel()
            await asyncio.gather(leaving, sending, return_exceptions=True)
            self._changed.set()

    async def _send(self, answer: Answer | Mapping[str, Any], request: Received, writer: asyncio.StreamWriter) -> None:
        if isinstance(answer, Failure):
            await asyncio.sleep(answer.delay)
            if answer.drop:
                writer.transport.abort()
                raise _CutError
            body = self.wire.failure(answer) if answer.body is None else answer.body
            kind = _JSON if answer.body is None else "text/html"
            await _Line(writer, Manner(), request).whole(answer.status, kind, body, answer.headers)
            return
        if not isinstance(answer, Reply):
            await _Line(writer, Manner(), request).whole(200, _JSON, json.dumps(answer).encode(), {})
            return
        manner = answer.manner
        await asyncio.sleep(manner.delay)
        line = _Line(writer, manner, request)
        if self.wire.streams(request) is manner.other_form:
            await line.whole(200, _JSON, self.wire.whole(answer, request), manner.headers)
            return
        frames = self.wire.frames(answer, request)
        if manner.failure_frames is not None:
            frames = frames[: manner.failure_frames]
            frames.append(self.wire.failure_frame(manner.failure or Failure(529)))
        if manner.noise:
            frames = [part for frame in frames for part in (self.wire.noise(), frame)]
        if manner.crlf:
            frames = [frame.replace(b"\n", b"\r\n") for frame in frames]
        await line.stream(self.wire.stream_type, frames)


class _Protocol(asyncio.StreamReaderProtocol):
    """A connection that tells when its client has closed its side, also while nobody reads."""

    def __init__(self, vendor: FakeVendor) -> None:
        reader = asyncio.StreamReader(limit=_MOST_HEADERS)
        self.left = asyncio.Event()
        super().__init__(reader, lambda reader, writer: vendor.serve(reader, writer, self.left))

    def eof_received(self) -> bool:
        self.left.set()
        super().eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.left.set()
        super().connection_lost(exc)


class _Line:
    """One answer on its way out, broken as the manner says."""

    def __init__(self, writer: asyncio.StreamWriter, manner: Manner, request: Received) -> None:
        self._writer = writer
        self._manner = manner
        self._id = f"req_{request.number}"

    async def whole(self, status: int, kind: str, body: bytes, headers: Mapping[str, str]) -> None:
        """A body in one piece, its length stated before it."""
        manner = self._manner
        cut = None if manner.cut_bytes is None else body[: manner.cut_bytes]
        sent = body if cut is None else cut
        stated = len(sent) if manner.ending == "clean" else len(body)
        self._head(status, {"content-type": kind, "content-length": str(stated), **headers})
        for piece in _pieces(sent, manner.piece):
            await self._write(piece)
        await self._writer.drain()
        if cut is not None and manner.ending != "clean":
            self._break()

    async def stream(self, kind: str, frames: list[bytes]) -> None:
        """The events of a stream, one chunk of the transfer encoding for each piece."""
        manner = self._manner
        cut = manner.cut_frames is not None or manner.cut_bytes is not None
        frames = frames if manner.cut_frames is None else frames[: manner.cut_frames]
        if manner.cut_bytes is not None:
            frames = [b"".join(frames)[: manner.cut_bytes]]
        self._head(200, {"content-type": kind, "transfer-encoding": "chunked", **manner.headers})
        await self._writer.drain()
        for index, frame in enumerate(frames):
            if index == manner.stall_frames:
                break
            for piece in _pieces(frame, manner.piece):
                await self._write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if manner.stall_frames is not None:
            await asyncio.Event().wait()  # until the client leaves
        if cut and manner.ending != "clean":
            self._break()
        await self._write(b"0\r\n\r\n")

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        known = {one.value: one.phrase for one in HTTPStatus}
        named = {"request-id": self._id, "x-request-id": self._id, **headers}
        lines = [f"HTTP/1.1 {status} {known.get(status, 'Unknown')}", *(f"{k}: {v}" for k, v in named.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def _write(self, piece: bytes) -> None:
        self._writer.write(piece)
        await self._writer.drain()
        await asyncio.sleep(0)  # let the client read it apart from the next

    def _break(self) -> None:
        if self._manner.ending == "reset":
            raw = self._writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.close()
        raise _CutError


def _pieces(body: bytes, most: int | None) -> Iterable[bytes]:
    if most is None:
        return (body,) if body else ()
    return (body[at : at + most] for at in range(0, len(body), most))


async def _chunked(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readuntil(b"\r\n")
    return bytes(body)
