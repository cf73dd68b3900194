"""Where a run stands while it is paused: the stage that asked, and what was under way around it.

A point is plain data, outermost frame first. It says all that a resume must rebuild: the mounts with their state, the
deciders that have more to do, and the forks with the results of the branches that have ended (24.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from agentfootprint.flow.again.reading import Members, frozen_at, list_at, malformed, object_at, text_at
from agentfootprint.flow.errors import BranchFailedError, CheckpointError
from agentfootprint.flow.watch.failure import is_a, message_of, name_of
from agentfootprint.trace import ABSENT, FrozenDict, Value, ValueRefusedError, freeze, thaw

__all__ = [
    "ChainFrame",
    "ForkFrame",
    "Frame",
    "Kept",
    "MountFrame",
    "PausePoint",
    "frames_to_wire",
    "kept",
    "point_from_wire",
]


class MountFrame(msgspec.Struct, frozen=True, gc=False):
    """A mount that was entered."""

    id: str
    """Its full id."""
    state: FrozenDict
    args: FrozenDict | None = None
    """What it was given, where the state does not tell."""


class ChainFrame(msgspec.Struct, frozen=True, gc=False):
    """A decider that goes on with its own next stage when what its branch led to has ended."""

    id: str


class Kept(msgspec.Struct, frozen=True, gc=False):
    """How a branch beside the paused one ended."""

    result: Any = None
    is_error: bool = False


class ForkFrame(msgspec.Struct, frozen=True, gc=False):
    """A fork or selector whose branch paused when the others had settled."""

    id: str
    branch: str
    results: Mapping[str, Kept] = {}
    """Branches that have ended, by branch id."""
    pending: Mapping[str, PausePoint] = {}
    """Branches that paused too, and will ask when this one has ended."""


Frame: TypeAlias = "MountFrame | ChainFrame | ForkFrame"


class PausePoint(msgspec.Struct, frozen=True, gc=False):
    """One stage that asked."""

    stage_id: str
    data: Value = None
    by: str | None = None
    """`interrupt` when it asked in the middle of its work."""
    answers: tuple[Value, ...] = ()
    """Answers to its earlier questions, in order."""
    half: Value = ABSENT
    """What its second half had been given, when that one asked."""
    frames: tuple[Frame, ...] = ()


def kept(result: Any, *, is_error: bool = False) -> Kept:  # noqa: ANN401  whatever a stage returned
    """The end of a branch, made unchangeable where it can be; `frames_to_wire` refuses the rest."""
    try:
        return Kept(result if is_error else freeze(result), is_error)
    except ValueRefusedError:
        return Kept(result, is_error)


def frames_to_wire(frames: Sequence[Frame], *, states: bool, at: str = "resumeFrames") -> list[dict[str, Any]]:
    """Frames as plain JSON.

    Args:
        frames: Outermost first.
        states: Whether to write the states of the mounts; those of the checkpoint's own path stand in `subflowStates`.
        at: Where they will stand, for the refusal.

    Raises:
        CheckpointError: A branch that had ended returned what JSON can't hold.
    """
    out: list[dict[str, Any]] = []
    for number, frame in enumerate(frames):
        if isinstance(frame, MountFrame):
            wire: dict[str, Any] = {"mount": frame.id}
            if states:
                wire["state"] = thaw(frame.state)
            if frame.args is not None:
                wire["args"] = thaw(frame.args)
        elif isinstance(frame, ChainFrame):
            wire = {"decider": frame.id}
        else:
            here = f"{at}[{number}]"
            wire = {"fork": frame.id, "branch": frame.branch}
            if frame.results:
                wire["results"] = {
                    name: _kept_to_wire(end, f"{here}.results.{name}") for name, end in frame.results.items()
                }
            if frame.pending:
                wire["pending"] = {
                    name: _point_to_wire(point, f"{here}.pending.{name}") for name, point in frame.pending.items()
                }
        out.append(wire)
    return out


def _kept_to_wire(end: Kept, at: str) -> dict[str, Any]:
    if end.is_error:
        error = end.result
        name = error.name if is_a(error, BranchFailedError) else name_of(error)
        return {"isError": True, "name": name, "message": message_of(error)}
    try:
        return {"isError": False, "result": thaw(freeze(end.result))}
    except ValueRefusedError as refused:
        raise CheckpointError(
            at,
            f"The branch that had ended at {at!r} returned what can't be stored: {refused.problem}",
            fix="Let the branches of a fork that may pause return JSON values, or nothing.",
        ) from refused


def _point_to_wire(point: PausePoint, at: str) -> dict[str, Any]:
    wire: dict[str, Any] = {"pausedStageId": point.stage_id, "pauseData": thaw(point.data)}
    if point.by is not None:
        wire["pausedBy"] = point.by
    if point.answers:
        wire["interruptAnswers"] = thaw(list(point.answers))
    if point.half is not ABSENT:
        wire["resumeInput"] = thaw(point.half)
    wire["resumeFrames"] = frames_to_wire(point.frames, states=True, at=f"{at}.resumeFrames")
    return wire


def point_from_wire(wire: Members, at: str = "", states: Mapping[str, FrozenDict] | None = None) -> PausePoint:
    """Read a point.

    Args:
        wire: The object it stands in.
        at: The way to it, with its dot.
        states: Where the states of its mounts are; in the frames themselves by default.

    Raises:
        CheckpointError: A member has the wrong shape; `field` is the way to it.
    """
    stage = text_at(wire, "pausedStageId", at)
    if stage is None:
        raise malformed(f"{at}pausedStageId", "a text that is not empty")
    frames = list_at(wire, "resumeFrames", at)
    return PausePoint(
        stage,
        frozen_at(wire, "pauseData", at),
        text_at(wire, "pausedBy", at),
        tuple(frozen_at({"interruptAnswers": list_at(wire, "interruptAnswers", at)}, "interruptAnswers", at)),
        frozen_at(wire, "resumeInput", at) if "resumeInput" in wire else ABSENT,
        tuple(_frame(frame, f"{at}resumeFrames[{number}]", states) for number, frame in enumerate(frames)),
    )


def _frame(value: Value, at: str, states: Mapping[str, FrozenDict] | None) -> Frame:
    if not isinstance(value, Mapping):
        raise malformed(at, "an object")
    wire, dot = cast("Mapping[str, Any]", value), f"{at}."
    mount, decider, fork = (text_at(wire, kind, dot) for kind in ("mount", "decider", "fork"))
    if mount is not None:
        if states is None:
            state = object_at(wire, "state", dot)
        elif mount in states:
            state = states[mount]
        else:
            raise malformed("subflowStates", f"complete: the state of {mount!r} is missing")
        return MountFrame(mount, state, object_at(wire, "args", dot) if "args" in wire else None)
    if decider is not None:
        return ChainFrame(decider)
    branch = text_at(wire, "branch", dot)
    if fork is None or branch is None:
        raise malformed(at, "a frame: a mount, a decider, or a fork with its branch")
    results = object_at(wire, "results", dot, default={})
    pending = object_at(wire, "pending", dot, default={})
    return ForkFrame(
        fork,
        branch,
        {
            name: _kept_from_wire(object_at(results, name, f"{dot}results."), f"{dot}results.{name}.")
            for name in results
        },
        {
            name: point_from_wire(object_at(pending, name, f"{dot}pending."), f"{dot}pending.{name}.")
            for name in pending
        },
    )


def _kept_from_wire(wire: Members, at: str) -> Kept:
    is_error = wire.get("isError", False)
    if not isinstance(is_error, bool):
        raise malformed(f"{at}isError", "true or false")
    if not is_error:
        return Kept(frozen_at(wire, "result", at))
    message = wire.get("message", "")
    if not isinstance(message, str):
        raise malformed(f"{at}message", "a text")
    return Kept(BranchFailedError(text_at(wire, "name", at) or "Exception", message), is_error=True)
