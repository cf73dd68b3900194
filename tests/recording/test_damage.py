"""Tests of agentfootprint.recording.damage."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.recording import NotARecordingError, Recording
from tests.recording.runs import agent_recording, lines_of

Mutant = tuple[str, list[Any]]
WRONG: list[Any] = [
    None,
    True,
    -1,
    10**6,
    1.5,
    "zz",
    [],
    {},
    [1],
    {"a": 1},
    {"$at": [3]},
    {"$cat": 3},
    {"$fn": "a", "of": 1},
]
"""What may stand somewhere in place of what belongs there."""


def read_all(recording: Recording) -> None:
    """Ask a recording everything that can be asked."""
    for event in recording.events:
        assert event.type
        assert event.meta is not None
        repr(event.payload)
    for key in recording.snapshot:
        repr(recording.snapshot[key])
    for bundle in recording.bundles:
        step = bundle.runtime_stage_id
        repr((recording.reads_of(step), recording.writes_of(step)))
        for entry in bundle.trace:
            recording.value_at(entry.path)
            recording.writer_of(entry.path)
    repr((recording.answer, recording.user_message, recording.run_id, recording.structure, recording.header))
    repr((recording.flags, recording.ended, recording.native, recording))
    for call in recording.calls:
        repr([getattr(call, name) for name in dir(call) if not name.startswith("_")])
        repr(list(call.messages))
    for use in recording.tool_uses:
        repr([getattr(use, name) for name in dir(use) if not name.startswith("_")])
    for evaluation in recording.evaluations:
        repr([getattr(evaluation, name) for name in dir(evaluation) if not name.startswith("_")])
    if recording.native:
        repr(recording.native_rows())
    recording.to_wire()


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places in a JSON value, down to five deep; of long lists the first few."""
    yield at
    if len(at) < 5:
        for key, item in _inside(value):
            yield from places(item, (*at, key))


def _inside(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).items()
    return enumerate(cast("list[Any]", value)[:7]) if isinstance(value, list) else ()


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    made = copy.copy(value)
    made[at[0]] = replaced(value[at[0]], at[1:], new)
    return made


def native_mutants(lines: list[Any]) -> Iterator[Mutant]:
    """Every line dropped, doubled, cut; every place of every line with something else in it, one kind a place."""
    turn = 0
    for number, line in enumerate(lines):
        before, after = lines[:number], lines[number + 1 :]
        yield f"drop {number}", [*before, *after]
        yield f"double {number}", [*before, line, line, *after]
        if isinstance(line, list):
            row = cast("list[Any]", line)
            yield from ((f"cut {number} to {n}", [*before, row[:n], *after]) for n in range(len(row)))
            yield f"longer {number}", [*before, [*row, 1], *after]
        else:
            yield from ((f"without {key}", [{k: v for k, v in line.items() if k != key}, *after]) for key in line)
        for at in places(line):
            turn += 1
            wrong = [WRONG[(turn + each) % len(WRONG)] for each in (0, 5, 9)] if number else WRONG
            yield from ((f"{number} {at} {new!r}", [*before, replaced(line, at, new), *after]) for new in wrong)


def wire_mutants(wire: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every place near the top with something else in it."""
    for at in places(wire):
        yield from ((f"{at} {new!r}", replaced(wire, at, new)) for new in WRONG)


def outcomes(mutants: Iterator[tuple[str, Any]], path: Path, dump: Callable[[Any], bytes]) -> dict[str, str]:
    """What went wrong in another way than it may, by mutant."""
    wrong: dict[str, str] = {}
    for name, mutant in mutants:
        path.write_bytes(dump(mutant))
        try:
            read_all(Recording.load(path))
        except AgentFootprintError:
            pass
        except Exception as error:  # noqa: BLE001  what is looked for
            wrong[name] = f"{type(error).__name__}: {error}"
    return wrong


def as_lines(lines: list[Any]) -> bytes:
    header = lines[0]
    if isinstance(header, dict) and isinstance(cast("dict[str, Any]", header).get("rows"), int):
        lines = [{**header, "rows": len(lines)}, *lines[1:]]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def test_a_native_file_that_was_changed_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    lines = lines_of(agent_recording(2), tmp_path / "run.json")
    mutants = itertools.islice(native_mutants(lines), 3, None, 23)  # all of them take half a minute

    assert outcomes(mutants, tmp_path / "changed.json", as_lines) == {}


def test_a_native_file_that_lost_doubled_or_shortened_a_line_is_read_or_refused(tmp_path: Path) -> None:
    lines = lines_of(agent_recording(2), tmp_path / "run.json")
    whole = (mutant for mutant in native_mutants(lines) if mutant[0].startswith(("drop", "double", "cut", "without")))

    assert outcomes(itertools.islice(whole, 1, None, 7), tmp_path / "changed.json", as_lines) == {}


def test_a_header_with_anything_in_it_is_read_or_refused(tmp_path: Path) -> None:
    lines = lines_of(agent_recording(2), tmp_path / "run.json")
    header = (mutant for mutant in native_mutants(lines) if mutant[0].startswith(("0 ", "without")))

    assert outcomes(itertools.islice(header, 0, None, 5), tmp_path / "changed.json", as_lines) == {}


def test_a_wire_file_that_was_changed_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    mutants = itertools.islice(wire_mutants(agent_recording(2).to_wire()), 5, None, 61)

    assert outcomes(mutants, tmp_path / "changed.json", lambda wire: json.dumps(wire).encode()) == {}


@pytest.mark.parametrize("about", [None, [], 7, "zz"])
def test_a_header_whose_about_is_no_object_is_refused_naming_it(about: Any, tmp_path: Path) -> None:
    header, *lines = lines_of(agent_recording(1), tmp_path / "run.json")
    path = tmp_path / "changed.json"
    path.write_bytes(as_lines([{**header, "about": about}, *lines]))

    with pytest.raises(NotARecordingError, match=r"changed\.json is not a recording: its header .*about"):
        Recording.load(path)


def test_a_row_that_was_cut_is_named_by_the_reader_that_meets_it(tmp_path: Path) -> None:
    lines = lines_of(agent_recording(1), tmp_path / "run.json")
    lines[4] = lines[4][:2]
    path = tmp_path / "changed.json"
    path.write_bytes(as_lines(lines))
    recording = Recording.load(path)

    with pytest.raises(NotARecordingError, match=r"Line 5 is not what a recording has there"):
        list(recording.events)
    with pytest.raises(NotARecordingError, match=r"Line 5 "):
        recording.to_wire()


def test_a_key_that_a_snapshot_does_not_have_is_no_damage(tmp_path: Path) -> None:
    recording = Recording.load(agent_recording(1).save(tmp_path / "run.json"))

    with pytest.raises(KeyError):
        recording.snapshot["nothing"]
    with pytest.raises(IndexError):
        recording.bundles[10_000]
