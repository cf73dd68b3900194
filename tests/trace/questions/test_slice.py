"""Tests of agentfootprint.trace.questions.slice."""

from __future__ import annotations

import json

from agentfootprint.trace import (
    ChainOptions,
    KeysReadSource,
    ReadsCoverage,
    keys_read_from_map,
    slice_for_key,
    slice_key,
    slice_to_json,
)
from tests.trace.logs import bundle


def test_a_slice_prints_as_its_text() -> None:
    log = [bundle(0, "a#0", ("x", "set", 1)), bundle(1, "b#1", ("y", "set", 2))]

    text = str(slice_for_key(log, "y", keys_read_from_map({"b#1": ["x"]})))

    assert text == "SLICE for 'y' — reads via: map\nB (b#1) [wrote: y]\n  A (a#0) ← via x [wrote: x]"


def test_reads_that_were_not_recorded_are_no_absence_of_causes() -> None:
    log = [bundle(0, "a#0", ("x", "set", 1)), bundle(1, "b#1", ("y", "set", 2))]
    blind = KeysReadSource("execution-tree", lambda _: (), ReadsCoverage(2, 0))

    assert "unknowable, NOT absent" in str(slice_for_key(log, "y", blind))


def test_a_slice_of_a_wide_graph_stays_linear() -> None:
    width, depth = 3, 40
    log = [
        bundle(d * width + w, f"s{w}#{d * width + w}", (f"k{w}", "set", d)) for d in range(depth) for w in range(width)
    ]
    reads = {each["runtimeStageId"]: [f"k{w}" for w in range(width)] for each in log}

    slice_ = slice_key(log, "k0", keys_read_from_map(reads), options=ChainOptions(max_depth=depth, max_nodes=1_000))

    assert len(slice_to_json(slice_)["nodes"]) > 100
    assert len(json.dumps(slice_to_json(slice_))) < 100_000
    assert len(str(slice_).splitlines()) < 1_000


def test_the_root_of_a_mount_is_the_bundle_that_wrote_on_request() -> None:
    log = [bundle(0, "m#0", ("r", "set", 1)), bundle(1, "m#0")]
    reads = keys_read_from_map({})

    at_last = slice_key(log, "r", reads, options=ChainOptions()).root
    at_writer = slice_key(log, "r", reads, options=ChainOptions(anchor="writer")).root

    assert at_last is not None
    assert at_last.keys_written == ()
    assert at_writer is not None
    assert at_writer.keys_written == ("r",)


def test_a_nested_place_is_asked_for_by_its_segments() -> None:
    log = [bundle(0, "a#0", ("o\x1fx", "set", 1))]

    slice_ = slice_for_key(log, ["o", "x"], keys_read_from_map({}))

    assert (slice_.key, slice_.missing) == ("o\x1fx", None)
    assert slice_for_key(log, "o", keys_read_from_map({})).missing == "never-written"


def test_whole_weights_are_written_without_a_fraction() -> None:
    log = [bundle(0, "a#0", ("x", "set", 1)), bundle(1, "b#1", ("y", "set", 2))]

    def weigh(*_: object) -> float:
        return 1.0

    slice_ = slice_key(log, "y", keys_read_from_map({"b#1": ["x"]}), options=ChainOptions(weigh=weigh))

    assert json.dumps(slice_to_json(slice_)["edges"][0]["weight"]) == "1"
