"""Tests of agentfootprint.trace.log."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    ABSENT,
    CommitBundle,
    FrozenList,
    LogIndex,
    MalformedBundleError,
    deep_equal,
    find_commit,
    find_commits,
    find_last_writer,
    materialise,
    path_of,
    split_path,
    thaw,
    value_at,
)
from tests.trace.logs import PATHS, Wire, bundle, logs


def member(state: Any, path: str) -> Any:
    for segment in split_path(path):
        fields: Wire = cast("Wire", state) if isinstance(state, dict) else {}
        state = fields.get(segment, ABSENT)
    return state


@given(logs(), st.integers(-1, 7), st.sampled_from(PATHS))
def test_a_value_at_a_step_is_what_replay_leaves_there(log: list[Wire], idx: int, path: str) -> None:
    key = split_path(path)

    expected = member(materialise(log, idx + 1, {}), path)

    assert deep_equal(value_at(log, idx, key), expected)
    assert deep_equal(value_at([CommitBundle.from_wire(each) for each in log], idx, key), expected)


def test_a_write_below_a_place_never_stands_for_all_that_is_there() -> None:
    log = [
        bundle(0, "s#0", ("o\x1fx", "set", 1), ("o\x1fy", "set", 2)),
        bundle(1, "s#1", ("o\x1fx", "delete", None)),
        bundle(2, "s#2", ("o\x1fy", "delete", None)),
    ]

    assert [value_at(log, idx, "o") for idx in range(3)] == [{"x": 1, "y": 2}, {"y": 2}, {}]


@given(logs(), logs(), st.sampled_from(PATHS))
def test_an_index_of_a_growing_log_answers_like_a_fresh_one(start: list[Wire], more: list[Wire], path: str) -> None:
    log: list[Wire] = []
    index = LogIndex(log)
    for each in (*start, *more):
        log.append(each)
        assert list(index.writes(path)) == [
            i for i, known in enumerate(log) if path in [entry["path"] for entry in known["trace"]]
        ]

    assert deep_equal(value_at(index, len(log), split_path(path)), value_at(log, len(log), split_path(path)))


def test_a_value_from_a_wire_log_is_a_copy() -> None:
    log = [bundle(0, "a#0", ("k", "set", {"list": [1]}))]

    value_at(log, 0, "k")["list"].append(2)

    assert value_at(log, 0, "k") == {"list": [1]}


def test_a_value_from_a_native_log_is_shared() -> None:
    record = CommitBundle.from_wire(bundle(0, "a#0", ("k", "set", [1])))

    assert value_at([record], 0, "k") is record.overwrite["k"]


def test_folding_appends_leaves_the_list_that_the_run_still_grows_alone() -> None:
    log = [CommitBundle.from_wire(bundle(i, f"a#{i}", ("h", "append", [i]))) for i in range(3)]
    live: Any = log[0].overwrite["h"]

    value_at(log, 2, "h")
    grown = live.append(7)

    assert isinstance(grown, FrozenList)
    assert grown.buf is live.buf


@pytest.mark.parametrize("key", ["__proto__", ["o", "constructor"]])
def test_inert_keys_have_no_value(key: Any) -> None:
    log = [bundle(0, "a#0", (path_of(key), "set", 1))]

    assert value_at(log, 0, key) is ABSENT


def test_writers_are_found_by_exact_path_and_full_stage_id() -> None:
    log = [
        bundle(0, "sf/a#0", ("k", "set", 1)),
        bundle(1, "a#1", ("o\x1fk", "set", 1)),
        bundle(2, "a#2", ("k", "set", 2), ("k", "set", 2)),
        bundle(3, "a#2"),
    ]

    assert find_last_writer(log, "k") == 2
    assert find_last_writer(log, "k", before=2) == 0
    assert find_last_writer(log, ["o", "k"]) == 1
    assert find_last_writer(log, "o") is None
    assert find_commits(log, "a") == [1, 2, 3]
    assert find_commits(log, "a", "k") == [2]
    assert find_commit(log, "sf/a") == 0
    assert find_commit(log, "b") is None


def test_an_index_is_a_sequence_of_records() -> None:
    log = [bundle(i, f"a#{i}") for i in range(3)]
    index = LogIndex(log)

    assert [each.idx for each in index] == [0, 1, 2]
    assert index[-1] is index[2]
    assert [each.idx for each in index[1:]] == [1, 2]
    assert index.last_position("a#1") == 1
    with pytest.raises(IndexError):
        index[3]


BROKEN: list[Any] = [{}, {"runtimeStageId": "a#0"}, {"runtimeStageId": "a#0", "trace": [{}]}, 5]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_log_of_something_else_is_refused(broken: Any) -> None:
    with pytest.raises(MalformedBundleError, match=r"Bundle 1 of the log"):
        find_last_writer([bundle(0, "a#0"), broken], "k")


def test_asking_for_one_key_does_not_depend_on_the_length_of_the_log() -> None:
    def reads(length: int) -> int:
        counted = Counting([bundle(i, f"a#{i}", ("k", "set", i)) for i in range(length)])
        index = LogIndex(counted)
        index.writes("k")
        counted.reads = 0
        value_at(index, length // 2, "k")
        return counted.reads

    assert reads(1000) == reads(10)


class Counting(list[Any]):
    """A log that counts how often it is read."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        self.reads += 1
        return super().__getitem__(index)


@given(logs(), st.sampled_from(PATHS), st.data())
def test_the_versions_that_an_index_keeps_are_what_folding_gives(
    log: list[Wire], path: str, data: st.DataObject
) -> None:
    index = LogIndex(log)
    upto = data.draw(st.integers(0, len(log)))
    growing = log[:upto]
    followed = LogIndex(growing)
    versions = followed.versions(path)
    growing.extend(log[upto:])

    for position in range(-1, len(log)):
        expected = value_at(log, position, split_path(path))
        assert deep_equal(thaw(index.versions(path).value(position)), expected)
        assert deep_equal(thaw(followed.versions(path).value(position)), expected)
    assert versions is followed.versions(path)


def test_an_index_that_was_asked_often_gives_values_nobody_else_can_change() -> None:
    log = [bundle(idx, f"s#{idx}", ("h", "append", [{"n": idx}])) for idx in range(30)]
    index = LogIndex(log)

    first = value_at(index, 29, "h")
    first.append("mine")
    first[0]["n"] = "mine"

    assert value_at(index, 29, "h") == [{"n": idx} for idx in range(30)]
    assert log[0]["overwrite"] == {"h": [{"n": 0}]}
