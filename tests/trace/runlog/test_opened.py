"""Tests of agentfootprint.trace.runlog.opened."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Chart, Stage, Subflow
from agentfootprint.trace import DamagedRunLogError, RunLogError, open_run_log
from tests.flow.lambdas import one

relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def logged(path: Path) -> bytes:
    """The log of a run with a mount and a growing list."""
    inner = Chart.of("Inner", Stage(one(lambda s: s.__setitem__("r", [s["x"]])), id="work"))
    flow = Chart.of(
        "Test",
        Stage(one(lambda s: s.__setitem__("x", 1)), id="start"),
        Subflow(inner, id="sf", input=("x",), output={"all": "r"}),
        Stage(one(lambda s: s.__setitem__("all", [*s["all"], {"$at": [0, 0]}])), id="more"),
        Stage(one(lambda s: s.__setitem__("copy", s["all"])), id="copy"),
    ).build()
    asyncio.run(flow.run(run_log=path))
    return path.read_bytes()


def test_an_opened_log_answers_like_the_run(tmp_path: Path) -> None:
    logged(tmp_path / "run.log")

    opened = open_run_log(tmp_path / "run.log")

    assert opened.ended == "done"
    assert opened.open_steps == ()
    assert opened.value_at("all", "more#3") == [1, {"$at": [0, 0]}]
    assert opened.snapshot()["sharedState"]["copy"] == [1, {"$at": [0, 0]}]
    assert [moment.kind for moment in opened.timeline("all").moments] == ["write", "read", "write", "read"]
    births = opened.array_provenance("all").births
    assert births is not None
    assert [birth.runtime_stage_id for birth in births] == ["sf#1", "more#3"]
    assert opened.forward("x").root is not None
    tree = opened.tree()
    assert tree is not None
    assert tree["id"] == "start"


def test_a_log_cut_off_at_any_byte_holds_a_beginning_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    data = logged(path)
    rows = len(open_run_log(path).journal.rows)
    header = data.index(b"\n") + 1
    seen = set[int]()

    for size in range(header, len(data)):
        path.write_bytes(data[:size])
        opened = open_run_log(path)
        seen.add(len(opened.journal.rows))
        assert opened.is_torn is not data[:size].endswith(b"\n")
        assert str(opened.why("x"))

    assert max(seen) == rows
    assert min(seen) == 0


def test_a_log_cut_off_in_its_header_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(logged(path)[:60])

    with pytest.raises(RunLogError, match="cut off in its header"):
        open_run_log(path)


@pytest.mark.parametrize("number", [2, 4, 7])
def test_damage_in_a_line_is_refused_with_its_number(tmp_path: Path, number: int) -> None:
    path = tmp_path / "run.log"
    found = logged(path).split(b"\n")
    found[number - 1] = found[number - 1][:-3]
    path.write_bytes(b"\n".join(found))

    with pytest.raises(DamagedRunLogError, match=f"line {number} ") as refused:
        open_run_log(path)

    assert refused.value.line == number
    assert refused.value.where == str(path)


LINES = st.lists(
    st.none() | st.integers(-2, 9) | st.sampled_from(("s", "x", "c", "m", "e", "$at")) | st.lists(st.integers(-1, 3)),
    max_size=9,
)


@relaxed
@given(st.integers(2, 7), LINES | st.dictionaries(st.just("$at"), st.integers()) | st.integers())
def test_a_line_that_is_something_else_is_damage_or_a_later_kind_and_nothing_worse(
    tmp_path: Path, number: int, line: Any
) -> None:
    path = tmp_path / "run.log"
    path.unlink(missing_ok=True)
    found = logged(path).split(b"\n")
    found[number - 1] = json.dumps(line).encode()
    path.write_bytes(b"\n".join(found))

    try:
        opened = open_run_log(path)
        assert str(opened.why("x"))
    except RunLogError:
        pass


def test_a_line_of_a_later_kind_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    found = logged(path).split(b"\n")
    path.write_bytes(b"\n".join([*found[:-2], b'["later",1,2]', *found[-2:]]))

    assert open_run_log(path).ended == "done"


@pytest.mark.parametrize("data", [b"", b"hello\n", b"[1]\n"])
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(data)

    with pytest.raises(RunLogError, match="no run log"):
        open_run_log(path)


def test_a_format_that_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(logged(path).replace(b"agentfootprint.flowlog/1", b"agentfootprint.flowlog/9"))

    with pytest.raises(RunLogError, match="flowlog/9"):
        open_run_log(path)


def test_a_run_that_is_not_in_the_file_is_refused(tmp_path: Path) -> None:
    logged(tmp_path / "run.log")

    with pytest.raises(RunLogError, match="has 1 runs"):
        open_run_log(tmp_path / "run.log", run=3)


def test_a_file_that_is_missing_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_run_log(tmp_path / "none.log")


def test_a_growing_log_can_be_followed(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    data = logged(path)
    header = data.index(b"\n") + 1
    path.write_bytes(data[: header + 20])
    opened = open_run_log(path)
    rows = 0

    for size in range(header, len(data) + 1, 7):
        path.write_bytes(data[:size])
        rows += opened.refresh()
    path.write_bytes(data)
    rows += opened.refresh()

    assert rows == len(open_run_log(path).journal.rows)
    assert opened.ended == "done"
    assert not opened.is_torn
    assert str(opened.why("copy")) == str(open_run_log(path).why("copy"))


def test_a_followed_log_ends_where_the_next_run_begins(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    logged(path)
    opened = open_run_log(path)
    before = opened.run_id

    logged(path)

    assert opened.refresh() == 0
    assert opened.run_id == before
