"""What an adapter may add to a request, as a limit of time and as a ratio of what was not sent before.

A body takes about a tenth of the limit, and the best of many rounds counts, so that a busy machine does not fail it.
"""

from __future__ import annotations

import pytest

from benchmarks import adapters

LIMIT = 0.0003  # seconds


def test_a_request_is_the_one_before_and_two_messages_more() -> None:
    before, after = adapters.conversation()

    assert (len(before.messages), len(after.messages)) == (198, 200)
    assert [message.role for message in after.messages[198:]] == ["assistant", "tool"]
    assert list(after.messages[:198]) == list(before.messages)


@pytest.mark.parametrize("adapter", adapters.ADAPTERS)
def test_an_adapter_adds_at_most_300_microseconds_to_a_request_of_200_messages(adapter: str) -> None:
    assert adapters.seconds_a_request(adapter) <= LIMIT


@pytest.mark.parametrize("adapter", adapters.ADAPTERS)
def test_what_was_sent_before_is_not_translated_again(adapter: str) -> None:
    sent = adapters.seconds_a_request(adapter)
    fresh = adapters.seconds_a_request(adapter, was_sent=False)

    assert sent <= 0.5 * fresh
