"""Runs as traces of AWS X-Ray, one a turn; without content unless it is asked for."""

from __future__ import annotations

import json
import threading
from typing import Any, Final

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.observe.aws.calling import made_client, sent
from agentfootprint.observe.aws.segments import Document, Segments
from agentfootprint.observe.export.batching import Batches, SendFailed
from agentfootprint.observe.export.port import check_rate, is_sampled

__all__ = ["XRayExporter"]

_BATCH: Final = 25
_INTERVAL: Final = 1.0
_LONGEST: Final = 64_000
"""Bytes of one document."""
_SALT: Final = b"xray"


class XRayExporter:
    """One trace a turn: the agent, its iterations, model calls and tools. Needs the extra `aws`.

    A turn's segments are sent when it has ended, 25 at once, in a thread. No prompt, argument, result or error message
    is in them.

    Args:
        service_name: Names the root segment.
        sample_rate: The share of turns that become traces, from 0 to 1.
        include_content: Whether a model call's segment holds the reply; else its usage, stop reason and duration.
        region: Where; `None`: as the surrounding configuration says.
        client: A `boto3` client of `xray` to use instead.

    Raises:
        ConfigError: An option can't work.
    """

    def __init__(
        self,
        service_name: str,
        *,
        sample_rate: float = 1.0,
        include_content: bool = False,
        region: str | None = None,
        client: Any = None,  # noqa: ANN401  boto3 makes its clients at run time
    ) -> None:
        if not isinstance(service_name, str) or not service_name:  # pyright: ignore[reportUnnecessaryIsInstance]  configuration gives anything
            raise ConfigError(
                "service_name", "The service has no name.", fix="Give the name traces are to be found by."
            )
        check_rate("sample_rate", sample_rate)
        self.name = "xray"
        self.service_name = service_name
        self.sample_rate = sample_rate
        self.include_content = include_content
        self._region = region
        self._client = client
        self._segments = Segments(service_name, include_content=include_content)
        self._lock = threading.Lock()
        self._batches: Batches[Document] = Batches(self._send, target="X-Ray", batch=_BATCH, interval=_INTERVAL)

    @property
    def dropped(self) -> int:
        """Segments that were never taken."""
        return self._batches.lost

    def validate(self) -> None:
        """See that boto3 is there.

        Raises:
            MissingExtraError: It is not; names the extra.
        """
        self._ready()

    def export(self, event: Event[Any]) -> None:
        """Take an event of a run into account; one outside any run is passed over.

        Raises:
            ExportFailedError: An earlier batch failed; says how many segments are lost so far.
        """
        meta = event.meta
        if not meta.in_run or not is_sampled(self.sample_rate, meta.run_id, salt=_SALT):
            return
        with self._lock:
            ended = self._segments.hear(event)
        if ended:
            self._batches.put(*ended)

    async def flush(self) -> None:
        """Send the segments of turns that have ended.

        Raises:
            ExportFailedError: Something was not taken; says how many segments are lost so far.
        """
        await self._batches.flush()

    async def stop(self) -> None:
        """End the turns that are open as unfinished, and send no more without being asked (SNK-8)."""
        self._batches.stop()
        with self._lock:
            ended = self._segments.close_all()
        if ended:
            self._batches.put(*ended)
            await self._batches.flush()

    def _ready(self) -> Any:  # noqa: ANN401
        if self._client is None:
            self._client = made_client("xray", needed_by="XRayExporter", region=self._region)
        return self._client

    def _send(self, documents: list[Document]) -> None:
        client, texts = self._ready(), [_text(document) for document in documents]
        answer = sent(lambda: client.put_trace_segments(TraceSegmentDocuments=texts), len(texts))
        refused: list[Any] = answer.get("UnprocessedTraceSegments") or []
        if refused:
            codes = sorted({str(each.get("ErrorCode") or "refused") for each in refused})
            raise SendFailed(", ".join(codes), lost=len(refused))


def _text(document: Document) -> str:
    text = json.dumps(document, separators=(",", ":"))
    if len(text) <= _LONGEST or "metadata" not in document:
        return text
    return json.dumps({**document, "metadata": {"default": {"event": f"[{len(text)} bytes]"}}}, separators=(",", ":"))
