"""Tests of agentfootprint.observe.export.files."""

from __future__ import annotations

import gc
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint import Agent, Mock
from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, UnknownEvent, decode_event
from agentfootprint.observe import EventFileError, FileExporter, attach_exporter
from tests.observe.export.hearing import Heard, another

SLOW = 3_600.0


def sized(number: int, chars: int = 200) -> Event[Any]:
    return UnknownEvent("shop.filled", {"number": number, "text": "x" * chars}, {"runId": "run-1-1"})


def events_of(path: Path) -> list[Event[Any]]:
    return [decode_event(line) for line in path.read_bytes().splitlines()]


def numbers_of(paths: Iterable[Path]) -> list[int]:
    return [event.payload["number"] for path in paths for event in events_of(path)]


async def test_every_event_of_a_run_is_a_line_that_reads_back_the_same(tmp_path: Path) -> None:
    agent, heard = Agent(Mock(["Hello."])), Heard()
    path = tmp_path / "deep" / "er" / "events.ndjson"
    attach_exporter(agent.on, heard)
    subscription = attach_exporter(agent.on, FileExporter(path, flush_interval=SLOW))

    await agent.run("Hi")
    await subscription.stop()

    assert [event.type for event in events_of(path)] == [event.type for event in heard.events]
    assert next(list(json.loads(line)) for line in path.read_text().splitlines()) == ["type", "payload", "meta"]


def test_an_event_is_written_by_itself_after_the_interval(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    exporter = FileExporter(path, flush_interval=0.001)

    for event in another():
        exporter.export(event)
    for thread in threading.enumerate():
        if thread.name == "export-file":
            thread.join(30)

    assert len(events_of(path)) == 4


def test_a_hundred_events_do_not_wait(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    exporter = FileExporter(path, flush_interval=SLOW)

    for number in range(100):
        exporter.export(sized(number))
    for thread in threading.enumerate():
        if thread.name == "export-file":
            thread.join(30)

    assert numbers_of([path]) == list(range(100))


async def test_a_file_is_rotated_before_it_grows_too_large(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    exporter = FileExporter(path, max_bytes=2_000, flush_interval=SLOW)

    for number in range(10):
        exporter.export(sized(number))
    await exporter.flush()

    old = tmp_path / "events.ndjson.1"
    assert sorted(os.listdir(tmp_path)) == ["events.ndjson", "events.ndjson.1"]  # noqa: PTH208  a test may block
    assert numbers_of([old, path]) == list(range(10))
    assert max(old.stat().st_size, path.stat().st_size) <= 2_000


async def test_an_event_larger_than_the_file_may_be_is_kept_whole_and_alone(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    exporter = FileExporter(path, max_bytes=100, flush_interval=SLOW)

    exporter.export(sized(1))
    await exporter.flush()
    alone = not (tmp_path / "events.ndjson.1").exists()  # an empty file is not rotated
    exporter.export(sized(2))
    await exporter.flush()

    assert alone
    assert numbers_of([tmp_path / "events.ndjson.1", path]) == [1, 2]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sizes=st.lists(st.integers(0, 400), min_size=1, max_size=25), limit=st.integers(1, 3_000))
async def test_rotation_never_tears_reorders_or_doubles_a_line(tmp_path: Path, sizes: list[int], limit: int) -> None:
    folder = tmp_path / "rotating"
    path = folder / "events.ndjson"
    exporter = FileExporter(path, max_bytes=limit, flush_interval=SLOW)
    for each in folder.iterdir():
        each.write_bytes(b"")

    for number, chars in enumerate(sizes):
        exporter.export(sized(number, chars))
    await exporter.flush()

    kept = numbers_of(each for each in (folder / "events.ndjson.1", path) if each.exists())
    assert kept == list(range(len(sizes)))[-len(kept) :]
    assert path.stat().st_size <= limit or len(numbers_of([path])) == 1


@pytest.mark.parametrize(
    ("left", "kept"),
    [
        (b"", b""),
        (b'{"type":"a","payload":{},"meta":{}}\n', b'{"type":"a","payload":{},"meta":{}}\n'),
        (b'{"type":"a","payload":{},"meta":{}}', b'{"type":"a","payload":{},"meta":{}}\n'),
        (b'{"a":1}\n{"type":"b","payl', b'{"a":1}\n'),
        (b'{"type":"b","payl', b""),
        (b'{"a":1}\n' + b"x" * 200_000, b'{"a":1}\n'),
    ],
)
async def test_a_torn_last_line_is_cut_off_and_a_whole_one_kept(
    tmp_path: Path, left: bytes, kept: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "events.ndjson"
    path.write_bytes(left)

    with caplog.at_level(logging.WARNING, logger="agentfootprint.observe"):
        exporter = FileExporter(path, flush_interval=SLOW)
    exporter.export(sized(1, 0))
    await exporter.flush()

    data = path.read_bytes()
    assert data.startswith(kept)
    assert json.loads(data.removeprefix(kept))["payload"]["number"] == 1
    assert ("torn line" in caplog.text) == (len(kept) < len(left))


async def test_a_full_disk_loses_whole_events_says_how_many_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.ndjson"
    exporter = FileExporter(path, flush_interval=SLOW)
    exporter.export(sized(1))
    await exporter.flush()

    def full(handle: int, data: bytes) -> int:
        write(handle, bytes(data)[:10])  # half a line, and then no more
        raise OSError(28, "No space left on device")

    write = os.write
    monkeypatch.setattr(os, "write", full)
    exporter.export(sized(2))
    exporter.export(sized(3))
    with pytest.raises(EventFileError, match=r"No space left on device\. 2 events are lost") as caught:
        await exporter.flush()
    monkeypatch.undo()
    exporter.export(sized(4))
    await exporter.flush()

    assert caught.value.dropped == exporter.dropped == 2
    assert numbers_of([path]) == [1, 4]


async def test_a_failure_in_the_background_is_said_to_whoever_exports_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(Mock(["Hello.", "Again."]))
    path = tmp_path / "gone" / "events.ndjson"
    exporter = FileExporter(path, flush_interval=0.001)
    subscription = attach_exporter(agent.on, exporter)
    path.unlink()
    path.parent.rmdir()

    await agent.run("Hi")
    for thread in threading.enumerate():
        if thread.name == "export-file":
            thread.join(30)
    result = await agent.run("Hi")

    assert result.output == "Again."
    assert subscription.failures >= 1
    assert exporter.dropped >= 1
    assert "EventFileError" in caplog.text


async def test_after_a_stop_events_wait_for_a_flush(tmp_path: Path) -> None:
    """SNK-8."""
    path = tmp_path / "events.ndjson"
    exporter = FileExporter(path, flush_interval=0.001)

    await exporter.stop()
    exporter.export(sized(1))
    before = path.read_bytes()
    await exporter.flush()

    assert before == b""
    assert numbers_of([path]) == [1]


async def test_what_waits_is_bounded(tmp_path: Path) -> None:
    exporter = FileExporter(tmp_path / "events.ndjson", flush_interval=SLOW)
    await exporter.stop()

    for number in range(10_100):
        exporter.export(sized(number, 0))
    await exporter.flush()

    assert exporter.dropped == 100
    assert numbers_of([exporter.path]) == list(range(100, 10_100))


def test_what_waits_when_the_program_ends_is_written(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    program = f"""
from agentfootprint.events import UnknownEvent
from agentfootprint.observe import FileExporter
exporter = FileExporter({str(path)!r}, flush_interval=3600)
exporter.export(UnknownEvent("shop.filled", {{"number": 1}}, {{}}))
"""

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

    assert numbers_of([path]) == [1]


def test_an_exporter_that_nobody_holds_goes_away(tmp_path: Path) -> None:
    import weakref

    exporter = FileExporter(tmp_path / "events.ndjson")
    gone = weakref.ref(exporter)

    del exporter
    gc.collect()

    assert gone() is None


@pytest.mark.parametrize("path", ["", "  ", None, 3])
def test_without_a_path_there_is_no_exporter(path: Any) -> None:
    with pytest.raises(TypeError):
        FileExporter(path)


@pytest.mark.parametrize(
    ("option", "value"), [("max_bytes", 0), ("max_bytes", -1), ("flush_interval", 0), ("flush_interval", float("nan"))]
)
def test_an_option_that_can_not_work_is_refused(tmp_path: Path, option: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        FileExporter(tmp_path / "events.ndjson", **{option: value})

    assert caught.value.option == option


def test_a_path_that_can_not_be_opened_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(EventFileError, match=r"file/events\.ndjson.*can't be opened") as caught:
        FileExporter(tmp_path / "file" / "events.ndjson")
    with pytest.raises(EventFileError, match=r"can't be opened"):
        FileExporter(tmp_path)

    assert isinstance(caught.value, OSError)
    assert caught.value.path == tmp_path / "file" / "events.ndjson"
