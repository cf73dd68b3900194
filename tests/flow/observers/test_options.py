"""Tests of agentfootprint.flow.observers.options."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.flow import ObserverQueue


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("capture", "copy"),
        ("overflow", "drop-newest"),
        ("max_queue", 0),
        ("max_queue", True),
        ("max_queue", 1.5),
        ("sample_every", -1),
        ("flush_budget", 0),
        ("flush_budget", float("nan")),
    ],
)
def test_an_option_that_can_not_work_is_named(option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"'{option}' of deferred observers") as caught:
        ObserverQueue(**{option: value})

    assert caught.value.option == f"observers.{option}"


def test_the_defaults_lose_the_oldest_of_ten_thousand() -> None:
    queue = ObserverQueue()

    assert (queue.capture, queue.max_queue, queue.overflow) == ("clone", 10_000, "drop-oldest")
    assert (queue.sample_every, queue.flush_budget) == (10, 0.002)
