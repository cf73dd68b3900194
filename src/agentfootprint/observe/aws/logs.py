"""Events as lines of a CloudWatch log stream, one JSON object each.

Invariants: the log group is never made, a missing stream is made once; a batch is in the order of time, which the
service demands, whatever the clocks of the events do; what was not taken is counted and told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, encode_event
from agentfootprint.observe.aws.calling import made_client, sent
from agentfootprint.observe.export.batching import Batches, SendFailed
from agentfootprint.trace import thaw

__all__ = ["AgentCoreExporter", "CloudWatchExporter"]

_BATCH: Final = 100
_BATCH_BYTES: Final = 10_240
_INTERVAL: Final = 1.0
_OVERHEAD: Final = 26
"""Bytes that the service adds to each event."""
_LONGEST: Final = 256 * 1024 - _OVERHEAD
"""Bytes of one event; more is refused by every region."""
_DAY_MS: Final = 24 * 3600 * 1000
"""A batch must not span more."""
_MISSING: Final = "ResourceNotFoundException"
_THERE: Final = "ResourceAlreadyExistsException"


class CloudWatchExporter:
    """Sends every event to Amazon CloudWatch Logs, as a line with the keys `type`, `payload`, `meta`.

    Needs the extra `aws`. Events are sent in a thread, 100 or 10,240 bytes at once, at most a second late. A payload
    holds what people and models said; redact it where it is recorded, or choose a tier that leaves it out.

    Args:
        log_group: The group; it must be there.
        log_stream: The stream; it is made if it is missing.
        region: Where; `None`: as the surrounding configuration says.
        client: A `boto3` client of `logs` to use instead.

    Raises:
        ConfigError: A name is missing.
    """

    name: str = "cloudwatch"

    def __init__(
        self,
        log_group: str,
        *,
        log_stream: str = "agentfootprint",
        region: str | None = None,
        client: Any = None,  # noqa: ANN401  boto3 makes its clients at run time
    ) -> None:
        for option, given in (("log_group", log_group), ("log_stream", log_stream)):
            if not isinstance(given, str) or not given:  # pyright: ignore[reportUnnecessaryIsInstance]  configuration gives anything
                raise ConfigError(option, f"The {option} has no name.", fix="Give the name that it has in CloudWatch.")
        self.log_group = log_group
        self.log_stream = log_stream
        self._region = region
        self._client = client
        self._made_stream = False
        self._batches: Batches[Event[Any]] = Batches(
            self._send, target=f"the log stream {log_stream!r} of {log_group!r}", batch=_BATCH, interval=_INTERVAL
        )

    @property
    def dropped(self) -> int:
        """Events that never reached the stream."""
        return self._batches.lost

    def validate(self) -> None:
        """See that boto3 is there.

        Raises:
            MissingExtraError: It is not; names the extra.
        """
        self._ready()

    def export(self, event: Event[Any]) -> None:
        """Have an event sent.

        Raises:
            ExportFailedError: An earlier batch failed; says how many events are lost so far. This one is kept.
        """
        self._batches.put(event)

    async def flush(self) -> None:
        """Send what waits.

        Raises:
            ExportFailedError: Something was not taken; says how many events are lost so far.
        """
        await self._batches.flush()

    async def stop(self) -> None:
        """Send no more without being asked; what waits stays for a `flush` (SNK-8)."""
        self._batches.stop()

    def _ready(self) -> Any:  # noqa: ANN401
        if self._client is None:
            self._client = made_client("logs", needed_by=type(self).__name__, region=self._region)
        return self._client

    def _send(self, events: list[Event[Any]]) -> None:
        lines = sorted(map(_line, events), key=_time_of)
        failed: SendFailed | None = None
        lost = 0
        while lines:
            count = _fitting(lines)
            batch, lines = lines[:count], lines[count:]
            try:
                lost += self._put(batch)
            except SendFailed as error:
                if error.again and len(batch) + len(lines) == len(events):
                    raise
                # part of it is there already, and trying all again would write that twice
                failed, lost = error, lost + len(batch)
        if failed is not None:
            raise SendFailed(failed.problem, lost=lost) from failed
        if lost:
            raise SendFailed("events too old or too new were refused", lost=lost)

    def _put(self, lines: list[dict[str, Any]]) -> int:
        """Send a request; how many of its lines the service did not take."""
        client, where = self._ready(), {"logGroupName": self.log_group, "logStreamName": self.log_stream}
        try:
            answer = sent(lambda: client.put_log_events(**where, logEvents=lines), len(lines))
        except SendFailed as failed:
            if failed.problem != _MISSING or self._made_stream:
                raise
            try:
                sent(lambda: client.create_log_stream(**where), len(lines))
            except SendFailed as refused:
                if refused.problem != _THERE:
                    raise
            self._made_stream = True
            answer = sent(lambda: client.put_log_events(**where, logEvents=lines), len(lines))
        return _refused(answer.get("rejectedLogEventsInfo"), len(lines))


class AgentCoreExporter(CloudWatchExporter):
    """`CloudWatchExporter` under the name that Amazon Bedrock AgentCore knows it by."""

    name = "agentcore"


def _line(event: Event[Any]) -> dict[str, Any]:
    text = encode_event(event).decode("utf-8", "replace")
    size = len(text.encode())
    if size > _LONGEST:
        told = {"type": event.type, "payload": f"[{size} bytes, too large for one event]", "meta": thaw(event.meta)}
        text = json.dumps(told, separators=(",", ":"))
    return {"timestamp": max(0, event.meta.wall_clock_ms), "message": text}


def _time_of(line: Mapping[str, Any]) -> int:
    return line["timestamp"]


def _fitting(lines: Sequence[Mapping[str, Any]]) -> int:
    """How many lines, from the first, one request may hold."""
    size, first = 0, _time_of(lines[0])
    for count, line in enumerate(lines):
        size += len(line["message"].encode()) + _OVERHEAD
        if count and (size > _BATCH_BYTES or _time_of(line) - first >= _DAY_MS):
            return count
    return len(lines)


def _refused(info: object, count: int) -> int:
    """How many lines of a request were not taken, as its answer says."""
    if not isinstance(info, Mapping):
        return 0
    told = cast("Mapping[str, Any]", info)
    ends = [told[key] for key in ("tooOldLogEventEndIndex", "expiredLogEventEndIndex") if told.get(key) is not None]
    old = max(1, *ends) if ends else 0  # an end of 0 would say that none is too old, and then nothing is said
    return old + count - told.get("tooNewLogEventStartIndex", count)
