"""Tests of agentfootprint.trace.questions.forward."""

from __future__ import annotations

from typing import Any

from agentfootprint.trace import (
    ForwardSlice,
    forward_slice_for_key,
    forward_slice_to_json,
    keys_read_from_map,
)
from tests.trace.logs import bundle


def linear(steps: int) -> Any:
    log = [bundle(i, f"s#{i}", (f"k{i}", "set", i)) for i in range(steps)]
    return log, keys_read_from_map({f"s#{i}": [f"k{i - 1}"] for i in range(1, steps)})


def codes(slice_: ForwardSlice) -> list[str]:
    return [note.code for note in slice_.notes]


def test_a_limit_on_lives_is_said_in_object_json_and_text() -> None:
    log, reads = linear(6)

    slice_ = forward_slice_for_key(log, "k0", reads, max_nodes=3)

    assert slice_.truncated is not None
    assert slice_.truncated.by_nodes
    assert forward_slice_to_json(slice_)["truncated"] == {"byDepth": False, "byNodes": True}
    assert "walk truncated (maxNodes reached)" in str(slice_)


def test_a_walk_of_any_depth_is_told() -> None:
    log, reads = linear(3_000)

    slice_ = forward_slice_for_key(log, "k0", reads, max_depth=5_000, max_nodes=5_000)

    assert len(forward_slice_to_json(slice_)["nodes"]) == 3_000
    assert len(str(slice_).splitlines()) > 6_000


def test_a_key_nobody_knows_says_which_keys_there_are() -> None:
    log, reads = linear(14)

    slice_ = forward_slice_for_key(log, "typo", reads)

    assert slice_.missing == "never-written"
    assert "Known keys: k0, k1, k10, k11, k12, k13, k2, k3, k4, k5 (+4 more)." in str(slice_)


def test_a_key_nobody_knows_may_exist_when_no_reads_were_recorded() -> None:
    log, _ = linear(2)

    slice_ = forward_slice_for_key(log, "typo", lambda _: ())

    assert slice_.missing is None
    assert slice_.root is not None
    assert slice_.root.writer is None
    assert codes(slice_) == ["unknown-key", "reads-not-recorded"]


def test_a_source_of_reads_that_raises_has_recorded_none() -> None:
    log, _ = linear(2)

    def broken(_: str) -> list[str]:
        raise RuntimeError("mine")

    assert codes(forward_slice_for_key(log, "k0", broken)) == ["reads-not-recorded"]


def test_a_step_with_several_bundles_fed_what_any_of_them_wrote() -> None:
    log = [
        bundle(0, "a#0", ("k", "set", 1)),
        bundle(1, "m#1", ("out", "set", 1)),
        bundle(2, "m#1"),
    ]

    slice_ = forward_slice_for_key(log, "k", keys_read_from_map({"m#1": ["k"]}))

    assert [node["key"] for node in forward_slice_to_json(slice_)["nodes"]] == ["k", "out"]


def test_only_five_reads_of_a_life_are_listed() -> None:
    log = [bundle(0, "a#0", ("k", "set", 1)), *(bundle(i, f"r#{i}") for i in range(1, 9))]

    text = str(forward_slice_for_key(log, "k", keys_read_from_map({f"r#{i}": ["k"] for i in range(1, 9)})))

    assert text.count("read by R") == 5
    assert "(+3 more reads)" in text
