"""Tests of agentfootprint.llm.usage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.llm import UnknownUsageError, Usage

COUNT = st.none() | st.integers(0, 10**6)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Numbers as vendors give them: a part that is contained is no larger than the whole."""
    cache, thinking = draw(st.booleans()), draw(st.booleans())
    read, write, thought = draw(COUNT), draw(COUNT), draw(COUNT)
    least_in = (read or 0) + (write or 0) if cache else 0
    least_out = thought or 0 if thinking else 0
    return Usage(
        input=draw(st.integers(least_in, 4 * 10**6)),
        output=draw(st.integers(least_out, 4 * 10**6)),
        cache_read=read,
        cache_write=write,
        thinking=thought,
    ).containing(cache=cache, thinking=thinking)


def test_each_part_is_counted_once() -> None:
    parts = Usage(input=10, output=5, cache_read=100, cache_write=1000, thinking=50)

    assert parts.totals() == (1110, 55)
    assert parts.containing(cache=True).totals() == (10, 55)
    assert parts.containing(thinking=True).totals() == (1110, 5)
    assert parts.containing(cache=True).input_includes_cache
    assert not parts.containing(cache=True).output_includes_thinking


def test_unknown_is_no_number() -> None:
    unknown = Usage(known=False)

    with pytest.raises(UnknownUsageError, match=r"usage\.known"):
        unknown.totals()

    assert (unknown.input, unknown.output) == (None, None)
    assert unknown == Usage()
    assert unknown.to_wire() == {"input": 0, "output": 0, "usageReported": False}


def test_a_reported_zero_is_kept_and_an_unreported_count_is_absent() -> None:
    assert Usage(input=0, output=0, cache_read=0).to_wire() == {"input": 0, "output": 0, "cacheRead": 0}
    assert Usage(input=0, output=0).totals() == (0, 0)


def test_what_the_numbers_contain_is_said_on_the_wire() -> None:
    wire = Usage(input=9, output=3, cache_read=4, thinking=1).containing(cache=True, thinking=True).to_wire()

    assert wire == {
        "input": 9,
        "output": 3,
        "cacheRead": 4,
        "thinking": 1,
        "inputIncludesCache": True,
        "outputIncludesThinking": True,
    }


@given(usages())
def test_usage_reads_back_as_it_was_written(usage: Usage) -> None:
    assert Usage.from_wire(usage.to_wire()) == usage


@given(usages(), usages())
def test_the_totals_of_a_sum_are_the_sums_of_the_totals(left: Usage, right: Usage) -> None:
    assert (left + right).totals() == tuple(a + b for a, b in zip(left.totals(), right.totals(), strict=True))


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    total = Usage(input=5, output=1) + Usage(known=False)

    assert not total.known
    assert Usage.from_wire(total.to_wire()) == total


def test_a_count_that_nobody_reported_stays_absent_in_a_sum() -> None:
    total = Usage(input=1, output=1) + Usage(input=1, output=1, cache_read=2)

    assert (total.cache_read, total.cache_write) == (2, None)
