"""Tests of agentfootprint.tools.teardown."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentfootprint.tools import Teardown, ToolTeardownTimeoutError


async def test_cleanups_start_newest_first_and_run_once() -> None:
    done: list[str] = []
    teardown = Teardown()

    async def close(name: str) -> None:
        done.append(name)

    teardown.register("t", "file", lambda: close("file"))
    teardown.register("t", "socket", lambda: close("socket"))
    problems = [await teardown.close(), await teardown.close()]

    assert sorted(done) == ["file", "socket"]
    assert problems == [(), ()]
    assert teardown.closed


async def test_async_cleanups_start_newest_first() -> None:
    started: list[int] = []
    teardown = Teardown()

    def cleanup(number: int) -> None:
        async def close() -> None:
            started.append(number)

        teardown.register("t", str(number), close)

    for number in range(3):
        cleanup(number)
    await teardown.close()

    assert started == [2, 1, 0]


async def test_registering_again_keeps_the_first() -> None:
    done: list[str] = []
    teardown = Teardown()

    teardown.register("t", "file", lambda: done.append("first"))
    teardown.register("t", "file", lambda: done.append("second"))
    teardown.register("u", "file", lambda: done.append("of another tool"))
    await teardown.close()

    assert sorted(done) == ["first", "of another tool"]


async def test_a_cleanup_that_fails_or_hangs_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    teardown = Teardown(timeout=0.01)

    async def hang() -> None:
        await asyncio.Event().wait()

    def fail() -> None:
        raise OSError("SECRET")

    teardown.register("a", "1", lambda: done.append("a"))
    teardown.register("b", "1", hang)
    teardown.register("c", "1", fail)
    problems = await teardown.close()

    assert done == ["a"]
    assert [type(problem) for problem in problems] == [OSError, ToolTeardownTimeoutError]
    assert "SECRET" not in caplog.text


async def test_a_plain_cleanup_does_not_block_the_loop() -> None:
    here, there = threading.get_ident(), list[int]()
    teardown = Teardown()

    teardown.register("t", "1", lambda: there.append(threading.get_ident()))
    await teardown.close()

    assert there != [here]
