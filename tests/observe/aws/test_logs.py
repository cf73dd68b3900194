"""Tests of agentfootprint.observe.aws.logs."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

import pytest

from agentfootprint.errors import AgentFootprintError, ConfigError, MissingExtraError
from agentfootprint.events import decode_event
from agentfootprint.observe import ExportOptions, attach_exporter
from agentfootprint.observe.aws import AgentCoreExporter, CloudWatchExporter
from tests.observe.aws.conftest import Cloud
from tests.observe.aws.refusing import Client, gone, refusal
from tests.observe.made import desk, event


def happened(at: int, **payload: Any) -> Any:
    return event("shop.basket.filled", payload or {"n": at}, wallClockMs=at)


async def test_every_event_of_a_run_becomes_a_line_of_the_stream(cloud: Cloud) -> None:
    cloud.client("logs").create_log_group(logGroupName="desk")
    agent, heard = desk(), list[Any]()
    agent.on("*", heard.append)
    agent.attach(CloudWatchExporter("desk", client=cloud.client("logs")), options=ExportOptions(tier="firehose"))

    await agent.run("Weather in Paris?")
    await agent.aclose()

    assert [decode_event(line) for line in cloud.lines("desk")] == heard


async def test_a_missing_stream_is_made_once_and_one_that_is_there_is_taken(cloud: Cloud) -> None:
    cloud.client("logs").create_log_group(logGroupName="shared")
    first = CloudWatchExporter("shared", log_stream="one", client=cloud.client("logs"))
    second = AgentCoreExporter("shared", log_stream="one", client=cloud.client("logs"))

    for exporter in (first, second):
        exporter.export(happened(time.time_ns() // 1_000_000))
        await exporter.flush()

    assert len(cloud.lines("shared", "one")) == 2
    assert (first.name, second.name) == ("cloudwatch", "agentcore")


async def test_a_stream_that_somebody_else_made_meanwhile_is_taken() -> None:
    client = Client(refusal("ResourceNotFoundException"), refusal("ResourceAlreadyExistsException"))
    exporter = CloudWatchExporter("g", client=client)

    exporter.export(happened(5))
    await exporter.flush()

    assert [name for name, _ in client.calls] == ["put_log_events", "create_log_stream", "put_log_events"]


async def test_a_missing_group_is_not_made_and_the_failure_says_what_is_lost_where(cloud: Cloud) -> None:
    exporter = CloudWatchExporter("nowhere", log_stream="s", client=cloud.client("logs"))
    for at in range(3):
        exporter.export(happened(at))

    with pytest.raises(AgentFootprintError, match=r"'s' of 'nowhere': ResourceNotFoundException; 3 are lost") as failed:
        await exporter.flush()

    assert (failed.value.code, exporter.dropped) == ("ERR_EXPORT_FAILED", 3)
    assert cloud.client("logs").describe_log_groups(logGroupNamePrefix="nowhere")["logGroups"] == []


async def test_a_failure_is_told_to_the_run_s_owner_and_never_to_the_run(caplog: pytest.LogCaptureFixture) -> None:
    """Trap 5, SNK-3."""
    agent = desk()
    subscription = agent.attach(CloudWatchExporter("g", client=Client(*[refusal("AccessDeniedException")] * 50)))

    with caplog.at_level(logging.ERROR, "agentfootprint.observe"):
        result = await agent.run("Weather in Paris?")
        await agent.aclose()

    assert result.output == "Sunny."
    assert "AccessDeniedException" in caplog.text
    assert "cloudwatch" in caplog.text
    assert getattr(subscription, "failures", 0) >= 1


async def test_what_may_pass_is_kept_for_the_next_flush_and_lost_by_nobody() -> None:
    """SNK-8: a pass that made no progress ends the flush."""
    client = Client(refusal("ThrottlingException"), gone(), refusal("InternalError", status=503))
    exporter = CloudWatchExporter("g", client=client)
    exporter._batches.stop()  # pyright: ignore[reportPrivateUsage]  so that its thread takes no answer
    exporter.export(happened(7))

    for _ in range(3):
        with pytest.raises(AgentFootprintError, match="nothing is lost"):
            await exporter.flush()
    await exporter.flush()

    assert (len(client.calls), exporter.dropped) == (4, 0)


async def test_a_flush_goes_on_behind_a_batch_that_was_refused_and_after_stop() -> None:
    """Trap 13, SNK-8."""
    client = Client(refusal("InvalidParameterException"))
    exporter = CloudWatchExporter("g", client=client)
    await exporter.stop()
    for at in range(250):
        exporter.export(happened(at))

    with pytest.raises(AgentFootprintError, match="InvalidParameterException"):
        await exporter.flush()
    await exporter.flush()

    sent = [len(events) for events in client.given("put_log_events", "logEvents")]
    assert sum(sent[1:]) + exporter.dropped == 250
    assert max(sent) <= 100


async def test_batches_are_cut_by_bytes_and_by_days_and_are_in_the_order_of_time() -> None:
    client, day = Client(), 24 * 3600 * 1000
    exporter = CloudWatchExporter("g", client=client)
    await exporter.stop()

    for at in (5, 3, day + 9, 4):  # a clock that goes backwards
        exporter.export(happened(at))
    for _ in range(3):
        exporter.export(happened(day + 10, text="x" * 6_000))
    await exporter.flush()

    batches = [[line["timestamp"] for line in batch] for batch in client.given("put_log_events", "logEvents")]
    assert batches == [[3, 4, 5], [day + 9, day + 10], [day + 10], [day + 10]]


async def test_an_event_that_no_request_can_hold_says_so_instead() -> None:
    client = Client()
    exporter = CloudWatchExporter("g", client=client)

    exporter.export(happened(1, text="x" * 300_000))
    await exporter.flush()

    (batch,) = client.given("put_log_events", "logEvents")
    line = json.loads(batch[0]["message"])
    assert line["type"] == "agentfootprint.shop.basket.filled"
    assert "too large" in line["payload"]
    assert line["meta"]["runId"] == "run-1-1"


async def test_events_that_the_service_finds_too_old_are_counted() -> None:
    client = Client({"rejectedLogEventsInfo": {"tooOldLogEventEndIndex": 1, "tooNewLogEventStartIndex": 2}})
    exporter = CloudWatchExporter("g", client=client)
    await exporter.stop()
    for at in (1, 2, 3):
        exporter.export(happened(at))

    with pytest.raises(AgentFootprintError, match="2 are lost"):
        await exporter.flush()


async def test_a_service_that_takes_no_old_events_is_believed(cloud: Cloud) -> None:
    cloud.client("logs").create_log_group(logGroupName="young")
    exporter = CloudWatchExporter("young", client=cloud.client("logs"))
    exporter.export(happened(1_000))

    with pytest.raises(AgentFootprintError, match="too old"):
        await exporter.flush()

    assert (exporter.dropped, cloud.lines("young")) == (1, [])


async def test_what_waits_is_bounded_while_nobody_answers() -> None:
    exporter = CloudWatchExporter("g", client=Client())
    await exporter.stop()

    for at in range(10_000):
        exporter.export(happened(at))
    with pytest.raises(AgentFootprintError, match="1 are lost"):
        exporter.export(happened(10_000))

    assert exporter.dropped == 1


def test_a_failure_holds_nothing_that_was_sent() -> None:
    """A service's own sentence may quote it; the log shows the code."""
    exporter = CloudWatchExporter("g", client=Client(refusal("AccessDeniedException")))
    exporter.export(happened(1))
    exporter._batches.send_all()  # pyright: ignore[reportPrivateUsage]  as its thread does

    with pytest.raises(AgentFootprintError) as failed:
        exporter.export(happened(2))

    assert "marker" not in str(failed.value)


@pytest.mark.parametrize("options", [{"log_group": ""}, {"log_group": "g", "log_stream": ""}])
def test_names_are_needed(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        CloudWatchExporter(**options)


def test_without_the_extra_attaching_fails_and_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)

    with pytest.raises(MissingExtraError, match=r"agentfootprint\[aws\]"):
        attach_exporter(desk().on, CloudWatchExporter("g"))
