"""Tests of agentfootprint.flow.out.contract."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint.flow import (
    Chart,
    Executor,
    Flow,
    FlowRun,
    Handle,
    InputValidationError,
    OutputValidationError,
    define_contract,
)
from tests.flow.charts import Listener, raw


class Order(BaseModel):
    item: str
    count: int


class Bill(BaseModel):
    total: int


def price(h: Handle) -> int:
    h["total"] = h.args["count"] * 5
    return h["total"]


def billed(state: Any) -> dict[str, Any]:
    return {"total": state["total"], "more": 1}


def flow(**sides: Any) -> Flow:
    chart = Chart.of("Shop", raw("price", price))
    chart.contract(input=Order, **sides)
    return chart.build()


def test_one_issue_is_the_message_several_are_counted() -> None:
    with pytest.raises(InputValidationError, match=r"^Input validation failed: count: Field required Give") as one:
        flow().run_sync({"item": "pen"})
    with pytest.raises(
        InputValidationError, match=r"^Input validation failed: 2 issues — item: Field required; count: Field required "
    ) as two:
        flow().run_sync({"other": 1})

    assert [issue.path for issue in one.value.issues] == [("count",)]
    assert len(two.value.issues) == 2


def test_a_run_without_input_is_looked_at_too() -> None:
    with pytest.raises(InputValidationError, match="2 issues"):
        flow().run_sync()


def test_a_refused_input_tells_no_recorder_and_leaves_the_last_run_as_it_was() -> None:
    listener = Listener()
    executor = Executor(flow(), recorders=[listener])
    executor.run_sync({"item": "pen", "count": 2})
    seen = list(listener.seen)

    with pytest.raises(InputValidationError):
        executor.run_sync({})

    assert listener.seen == seen
    assert executor.snapshot().shared_state["total"] == 10


def test_the_error_survives_pickling_with_its_issues() -> None:
    with pytest.raises(InputValidationError) as refused:
        flow().run_sync({"item": "pen"})

    again = pickle.loads(pickle.dumps(refused.value))

    assert (str(again), again.issues) == (str(refused.value), refused.value.issues)


def test_the_output_is_what_the_mapper_makes_of_the_final_state() -> None:
    result = flow(mapper=billed).run_sync({"item": "pen", "count": 2})

    assert (result.value, result.output) == (10, {"total": 10, "more": 1})


def test_without_a_mapper_the_output_is_the_value() -> None:
    assert flow().run_sync({"item": "pen", "count": 2}).output == 10


def test_the_output_is_looked_at_only_when_that_is_asked_for() -> None:
    given = {"item": "pen", "count": 2}

    assert flow(output=Bill).run_sync(given).output == 10
    with pytest.raises(
        OutputValidationError, match=r"Output validation failed: .* contract of chart 'Shop'"
    ) as refused:
        flow(output=Bill, validate_output=True).run_sync(given)
    assert refused.value.footprint.shared_state["total"] == 10  # type: ignore[attr-defined]  set on every error of a run


def test_an_output_that_fits_is_what_the_schema_makes_of_it() -> None:
    kept = flow(output=Bill, validate_output=True, mapper=billed)

    assert kept.run_sync({"item": "pen", "count": 2}).output == {"total": 10}


def test_a_run_that_broke_off_has_no_output() -> None:
    chart = Chart.of("Stop", raw("s", lambda h: h.break_("enough")))
    chart.contract(output=Bill, validate_output=True)

    assert chart.build().run_sync().output is None


async def test_a_bare_run_and_a_mount_do_not_look_at_it() -> None:
    run = FlowRun(flow())

    outcome = await run.start({"count": 3})

    assert outcome.value == 15


def test_a_contract_of_ones_own_looks_at_the_output_too() -> None:
    result = flow().run_sync({"item": "tea", "count": 2})
    strict = define_contract(flow(), output={"type": "object", "required": ["total"]}, validate_output=True)
    mapped = define_contract(flow(), mapper=lambda state: {"keys": sorted(state)})

    assert mapped.output_of(result.value, result.state) == {"keys": sorted(result.state)}
    with pytest.raises(OutputValidationError):
        strict.output_of(result.value, result.state)
