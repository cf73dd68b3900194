"""Tests of agentfootprint.trace.ids."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.trace import (
    PATH_DELIMITER,
    InvalidIdError,
    InvalidKeyError,
    RuntimeStageId,
    build_branch_segment,
    build_runtime_stage_id,
    has_branch_segment_marker,
    is_branch_segment,
    join_path,
    parse_branch_segment,
    parse_runtime_stage_id,
    path_of,
    split_path,
    split_stage_id,
)

tricky = st.text(alphabet="ab/#~0é\x1f", max_size=6)
local_ids = tricky.filter(lambda text: "/" not in text)
segments = tricky.filter(lambda text: PATH_DELIMITER not in text)
indices = st.integers(0, 10**6)


@given(local_ids, indices, st.none() | tricky.filter(bool))
def test_a_runtime_stage_id_comes_apart_into_what_it_was_built_from(local: str, index: int, path: str | None) -> None:
    built = build_runtime_stage_id(local, index, path)

    assert parse_runtime_stage_id(built) == RuntimeStageId(local, index, path)


@given(st.tuples(tricky, indices), st.tuples(tricky, indices))
def test_two_executions_never_share_an_id(one: tuple[str, int], other: tuple[str, int]) -> None:
    same = build_runtime_stage_id(*one) == build_runtime_stage_id(*other)

    assert same == (one == other)


@given(tricky)
def test_a_full_stage_id_is_its_two_parts(full: str) -> None:
    local, path = split_stage_id(full)

    assert "/" not in local
    assert full == (local if path is None else f"{path}/{local}")


@pytest.mark.parametrize("text", ["note#x", "note#", "note#-1", "note#²", "note#1_0", "a/b"])
def test_a_text_that_is_no_runtime_stage_id_stays_whole(text: str) -> None:
    assert parse_runtime_stage_id(text) == RuntimeStageId(text, 0)


def test_a_negative_index_is_refused() -> None:
    with pytest.raises(InvalidIdError, match=r"index -1 of stage 'a' is negative.*Count from 0"):
        build_runtime_stage_id("a", -1)


def test_a_path_beside_a_full_id_is_refused() -> None:
    with pytest.raises(InvalidIdError, match=r"'sf/a'.*'sf'.*local id with the path"):
        build_runtime_stage_id("sf/a", 1, "sf")


@given(tricky.filter(bool), indices)
def test_a_branch_segment_comes_apart_into_what_it_was_built_from(parent: str, index: int) -> None:
    segment = build_branch_segment(parent, index)

    parsed = parse_branch_segment(segment)

    assert parsed is not None
    assert (parsed.parent_stage_id, parsed.index) == (parent, index)
    assert is_branch_segment(segment)


def test_a_marker_alone_is_no_branch() -> None:
    assert has_branch_segment_marker("a~b")
    assert not is_branch_segment("a~b")


@pytest.mark.parametrize(("parent", "index"), [("", 0), ("a", -1)])
def test_a_branch_without_parent_or_place_is_refused(parent: str, index: int) -> None:
    with pytest.raises(InvalidIdError, match=r"No branch segment"):
        build_branch_segment(parent, index)


@given(st.lists(segments, min_size=1, max_size=4), st.lists(segments, min_size=1, max_size=4))
def test_two_places_never_share_a_path(one: list[str], other: list[str]) -> None:
    assert split_path(join_path(one)) == one
    assert (path_of(one) == path_of(other)) == (one == other)


@pytest.mark.parametrize("key", [[], ["a\x1fb"], ["a", "\x1f"]])
def test_a_key_that_would_be_another_place_is_refused(key: list[str]) -> None:
    with pytest.raises(InvalidKeyError, match=r"names no place in the state.*U\+001F"):
        path_of(key)
