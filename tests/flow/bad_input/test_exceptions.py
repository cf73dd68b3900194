"""Exceptions that raise when anybody looks at them: they pass as they are, and the record stays whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint.flow import Chart, Decider, Executor, Fork, Part, Recorder, Selector, Subflow, SubflowMappingError
from agentfootprint.trace import thaw
from tests.flow.bad_input.pieces import Broken, nothing, stage
from tests.flow.charts import Listener


class ReprError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("str")


class ArgsError(Exception):
    @property
    def args(self) -> Any:  # type: ignore[override]
        raise RuntimeError("args")


class ClassError(Exception):
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("class")


class NoteError(Exception):
    def add_note(self, note: str) -> None:
        raise RuntimeError("note")


class WriteError(Exception):
    def __setattr__(self, name: str, value: object) -> None:
        raise RuntimeError("write")


class ReadError(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("read")


class NamelessType(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("name")


class NamelessError(Exception, metaclass=NamelessType):
    pass


class OutsideError(BaseException):
    def __str__(self) -> str:
        raise RuntimeError("str")


def writes_k(s: Any) -> None:
    s.k = 1


HOSTILE: list[type[BaseException]] = [
    *(ReprError, ArgsError, ClassError, NoteError, WriteError, ReadError, NamelessError, OutsideError)
]


def hostile_chart(place: str, bites: Callable[..., Any]) -> list[Part]:
    async def slow(s: Any) -> None:
        await asyncio.sleep(0)

    bad, good, other = stage(bites, "bad"), stage(nothing, "good"), stage(slow, "other")
    places: dict[str, list[Part]] = {
        "stage": [bad],
        "raw": [stage(bites, "bad", raw=True)],
        "decider": [Decider(bites, [good, other], id="bad")],
        "selector": [Selector(bites, [good, other], id="bad")],
        "fork": [good, Fork([bad, other]), stage(nothing, "after")],
        "strict fork": [good, Fork([bad, other], fail_fast=True)],
        "mount": [Subflow(Chart.of("Inner", bad), id="m")],
        "map": [Subflow(Chart.of("Inner", good), id="m", input=bites)],
    }
    return places[place]


PLACES = ("stage", "raw", "decider", "selector", "fork", "strict fork", "mount", "map")


@pytest.mark.parametrize("kind", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("place", PLACES)
async def test_an_exception_that_bites_whoever_looks_at_it_is_raised_as_it_is_and_on_record(
    place: str, kind: type[BaseException]
) -> None:
    def bites(s: Any) -> Any:
        if place != "map":
            s["before"] = 1
        raise kind("on purpose")

    listener = Listener()
    executor = Executor(Chart.of("Hostile", *hostile_chart(place, bites)).build(), recorders=[Broken(), listener])
    raised: type[BaseException] | None = None
    try:
        await executor.run()
    except BaseException as error:  # noqa: BLE001  what it is, is the question
        raised = type(error)

    expected = {"fork": None, "map": SubflowMappingError}.get(place, kind)
    assert raised is (kind if kind is OutsideError else expected)
    json.dumps(executor.snapshot().to_wire())
    assert executor.narrative_entries() is not None
    assert ("on_run_failed" in listener.hooks()) is (raised is not None)
    began = executor.snapshot().to_wire()["executionTree"]
    assert began is not None


@pytest.mark.parametrize("kind", HOSTILE[:-1], ids=range(len(HOSTILE) - 1))
async def test_a_recorder_may_raise_an_exception_that_bites(kind: type[BaseException]) -> None:
    class Bites(Recorder):
        def on_write(self, event: object) -> None:
            raise kind("on purpose")

        on_stage_executed = on_commit = on_write

    result = await Executor(Chart.of("Bites", stage(writes_k)).build(), recorders=[Bites(), Listener()]).run()

    assert thaw(result.state) == {"k": 1}
