"""How a stage execution, a generated branch and a place in the state are named.

A runtime stage id is `[subflowPath/]stageId#executionIndex` (FLOW-ID-1); a generated branch is `<stageId>~<index>`
(FLOW-ID-5); a place in the state is its segments joined by U+001F (FLOW-ID-7). Building is injective on what the
engine lets through: no `/` in an authored id, no U+001F in a key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from agentfootprint.trace.errors import InvalidIdError, InvalidKeyError
from agentfootprint.trace.values import Record

__all__ = [
    "BRANCH_SEGMENT_MARKER",
    "INERT_SEGMENTS",
    "PATH_DELIMITER",
    "ROOT_RUNTIME_STAGE_ID",
    "ROOT_STAGE_ID",
    "BranchSegment",
    "RuntimeStageId",
    "StageIdParts",
    "build_branch_segment",
    "build_runtime_stage_id",
    "has_branch_segment_marker",
    "is_branch_segment",
    "join_path",
    "parse_branch_segment",
    "parse_runtime_stage_id",
    "path_of",
    "split_path",
    "split_stage_id",
]

ROOT_STAGE_ID: Final = "__root__"
"""The run itself, as a stage; reserved (FLOW-ID-4)."""
ROOT_RUNTIME_STAGE_ID: Final = "__root__#0"
BRANCH_SEGMENT_MARKER: Final = "~"
PATH_DELIMITER: Final = "\x1f"
INERT_SEGMENTS: Final = frozenset(("__proto__", "constructor", "prototype"))
"""Keys that reads find absent and writes pass over, so that foreign logs replay alike (FLOW-MEM-3)."""


class RuntimeStageId(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The parts of a runtime stage id."""

    stage_id: str
    """The local id, without the path of the mounts (FLOW-ID-2)."""
    execution_index: int
    """Which execution of the run, from 0, over all stages."""
    subflow_path: str | None = None
    """The mounts the stage runs in, outermost first, joined by `/`; `None` at the top."""


class StageIdParts(NamedTuple):
    """A full stage id, taken apart at its last `/`."""

    local: str
    subflow_path: str | None


class BranchSegment(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A generated branch of a parallel-for-each."""

    parent_stage_id: str
    index: int


def build_runtime_stage_id(stage_id: str, execution_index: int, subflow_path: str | None = None) -> str:
    """The id of one execution of a stage.

    Args:
        stage_id: The local id; or the full one, and then no `subflow_path`.
        execution_index: Position in the run, from 0.
        subflow_path: The mounts around the stage joined by `/`; `None` and `""` mean the top.

    Raises:
        InvalidIdError: The index is negative, or a path is given beside an id that has one already.
    """
    if execution_index < 0:
        raise InvalidIdError(
            f"The execution index {execution_index} of stage {stage_id!r} is negative.", fix="Count from 0."
        )
    if not subflow_path:
        return f"{stage_id}#{execution_index}"
    if "/" in stage_id:
        raise InvalidIdError(
            f"The stage id {stage_id!r} holds a '/' although the path {subflow_path!r} is given too.",
            fix="Give the local id with the path, or the full id alone.",
        )
    return f"{subflow_path}/{stage_id}#{execution_index}"


def parse_runtime_stage_id(runtime_stage_id: str) -> RuntimeStageId:
    """Take a runtime stage id apart: at the last `#`, then at the last `/` before it (FLOW-ID-1).

    A text without `#` and digits behind it is a whole stage id, index 0, and keeps its slashes.
    """
    full, marker, digits = runtime_stage_id.rpartition("#")
    if not marker or not _is_decimal(digits):
        return RuntimeStageId(runtime_stage_id, 0)
    local, path = split_stage_id(full)
    return RuntimeStageId(local, int(digits), path)


def split_stage_id(stage_id: str) -> StageIdParts:
    """Split a full stage id into local id and path of mounts, `None` without one (FLOW-ID-2)."""
    path, slash, local = stage_id.rpartition("/")
    return StageIdParts(local, path if slash else None)


def build_branch_segment(parent_stage_id: str, index: int) -> str:
    """The path segment of branch `index` of a parallel-for-each (FLOW-ID-5).

    Raises:
        InvalidIdError: The parent is empty or the index negative.
    """
    if not parent_stage_id or index < 0:
        raise InvalidIdError(
            f"No branch segment can be made from parent {parent_stage_id!r} and index {index}.",
            fix="Give the id of the for-each stage and an index counted from 0.",
        )
    return f"{parent_stage_id}{BRANCH_SEGMENT_MARKER}{index}"


def parse_branch_segment(segment: str) -> BranchSegment | None:
    """Take a generated segment apart at the last `~`; `None` when it isn't one."""
    parent, _, digits = segment.rpartition(BRANCH_SEGMENT_MARKER)
    return BranchSegment(parent, int(digits)) if parent and _is_decimal(digits) else None


def is_branch_segment(segment: str) -> bool:
    """Whether a segment is a generated branch."""
    return parse_branch_segment(segment) is not None


def has_branch_segment_marker(text: str) -> bool:
    """Whether an id holds the reserved `~`, generated branch or not (FLOW-BLD-11)."""
    return BRANCH_SEGMENT_MARKER in text


def join_path(segments: Iterable[str]) -> str:
    """The trace path of a place in the state.

    Raises:
        InvalidKeyError: A segment holds U+001F, or there is none.
    """
    parts = tuple(segments)
    if not parts or any(PATH_DELIMITER in part for part in parts):
        raise InvalidKeyError(
            f"The key {parts!r} names no place in the state.",
            fix="Give at least one segment, and none with the character U+001F in it.",
        )
    return PATH_DELIMITER.join(parts)


def split_path(path: str) -> list[str]:
    """The segments of a trace path."""
    return path.split(PATH_DELIMITER)


def path_of(key: str | Sequence[str]) -> str:
    """The trace path of a query's key: a text is a top-level key, a sequence is a nested place."""
    return key if isinstance(key, str) else join_path(key)


def _is_decimal(text: str) -> bool:
    return text.isascii() and text.isdigit()
