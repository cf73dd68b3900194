"""Tests of agentfootprint.trace.runlog.reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfootprint.flow import Chart, Handle, Stage
from agentfootprint.trace import FrozenList, open_run_log
from tests.flow.lambdas import one
from tests.trace.logs import values

relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
RESERVED = st.dictionaries(st.sampled_from(("$at", "$cat", "$fn", "$lit", "of")), values, max_size=2)


def kept(path: Path, *written: Any) -> Any:
    """What a log says that stages wrote, one after the other, into `x`."""
    path.unlink(missing_ok=True)

    def stage(number: int) -> Stage:
        def work(h: Handle) -> None:
            h["x"] = written[number]
            h["again"] = h["x"]

        return Stage(work, id=f"w{number}", raw=True)

    flow = Chart.of("Write", *(stage(number) for number in range(len(written)))).build()
    result = flow.run_sync(run_log=path)
    opened = open_run_log(path)
    assert opened.state == result.state
    return opened


@relaxed
@given(st.lists(values | RESERVED, min_size=1, max_size=4))
def test_values_come_back_as_they_were(tmp_path: Path, written: list[Any]) -> None:
    opened = kept(tmp_path / "run.log", *written)

    for place, value in enumerate(written):
        assert opened.value_at("x", f"w{place}#{place}") == value or value is None


@pytest.mark.parametrize("value", [True, 1, 1.0, None, "", {}, [], {"$at": [1, 0]}])
def test_kinds_are_not_mixed_up(tmp_path: Path, value: Any) -> None:
    opened = kept(tmp_path / "run.log", {"deep": [value]})

    found = opened.state["x"]["deep"][0]
    assert type(found) is type(value) or (found == value and type(value) in (dict, list))


def test_a_list_that_grew_shares_what_it_grew_from(tmp_path: Path) -> None:
    path = tmp_path / "run.log"

    def begin(h: Handle) -> None:
        h["all"] = [{"n": -1}]

    parts = [Stage(one(lambda h: h.append("all", [{"n": 1}])), id=f"g{n}", raw=True) for n in range(20)]
    Chart.of("Grow", Stage(begin, id="begin", raw=True), *parts).build().run_sync(run_log=path)
    journal = open_run_log(path).journal

    lists = [step.writes["all"] for step in journal.executions().values()]

    assert all(type(each) is FrozenList for each in lists)
    assert len({id(each.buf) for each in lists}) == 1
