"""What does a chart look like, as JSON: nodes that hold their children and what follows them (2.8, FLOW-SPC-1).

Made from what is fixed about each stage, in one pass and without recursion: a chain of stages is as deep as it is long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from agentfootprint.flow.parts import Decider, Part
from agentfootprint.trace import StageInfo

__all__ = ["NodeType", "SpecNode", "local_name", "nodes_from_spec", "spec_branches", "spec_nodes"]

NodeType: TypeAlias = Literal["stage", "decider", "selector", "fork", "streaming", "subflow", "loop"]
Spec: TypeAlias = "dict[str, Any]"


def spec_nodes(stages: Sequence[StageInfo], parts: Sequence[Part | None]) -> list[Spec]:
    """The structure node of every stage, by number, linked to each other; that of the chart is the first.

    Args:
        stages: The stages of a chart, or of a run that added some.
        parts: What the first of them were made from.
    """
    given = [*parts, *(None for _ in stages[len(parts) :])]
    specs = [_own(info, part) for info, part in zip(stages, given, strict=True)]
    for info, part, spec in zip(stages, given, specs, strict=True):
        _branches(info, part, stages, specs)
        if info.entry >= 0:
            spec["subflowStructure"] = specs[info.entry]
        if info.loop_to >= 0:
            target = stages[info.loop_to].local_id
            spec["loopTarget"] = target
            spec["next"] = {"name": target, "id": target, "type": "loop", "isLoopReference": True}
        elif info.next >= 0:
            spec["next"] = specs[info.next]
    return specs


def local_name(info: StageInfo) -> str:
    """A stage's display name without the mounts in front."""
    return info.name[len(info.id) - len(info.local_id) :]


def spec_branches(info: StageInfo, part: Part | None) -> tuple[int, ...]:
    """Numbers of the branches or children that the structure lists: not the copy that a default makes (FLOW-BLD-21)."""
    is_copied = isinstance(part, Decider) and part.default_node is not None
    return info.children[:-1] if is_copied else info.children


_FLAGS: Final[Mapping[str, Spec]] = MappingProxyType(
    {
        "decider": {"hasDecider": True},
        "selector": {"hasSelector": True},
        "streaming": {"isStreaming": True},
        "pausable": {"isPausable": True},
        "foreach": {"isDynamicParallel": True},
    }
)


def _own(info: StageInfo, part: Part | None) -> Spec:
    """What a node says of itself."""
    spec: Spec = {"name": local_name(info), "id": info.local_id, "type": _type(info)}
    icon = getattr(part, "icon", None)
    if icon is not None:
        spec["icon"] = icon
    if info.description is not None:
        spec["description"] = info.description
    spec |= _FLAGS.get(info.kind, {})
    if info.kind == "streaming":
        spec["streamId"] = info.stream_id
    elif info.kind == "mount":
        _mounted(info, spec)
    retry = getattr(part, "retry", None)
    if retry is not None:
        spec["retryAttempts"] = retry.attempts
    target = getattr(part, "converge_at", None)
    if target is not None:
        spec["convergeAt"] = target
    return spec


def _type(info: StageInfo) -> NodeType:
    if info.kind == "foreach":
        return "fork"
    if info.kind in ("decider", "selector"):
        return info.kind
    if info.children:
        return "fork"
    return "streaming" if info.kind == "streaming" else "stage"


def _mounted(info: StageInfo, spec: Spec) -> None:
    spec |= {"isSubflowRoot": True, "subflowId": info.local_id, "subflowName": local_name(info)}
    if info.entry < 0:
        spec["isLazy"] = True
    for key, pairs in (("inputMap", info.in_map), ("outputMap", info.out_map)):
        if pairs:
            spec[key] = dict(pairs)


def _branches(info: StageInfo, part: Part | None, stages: Sequence[StageInfo], specs: list[Spec]) -> None:
    """Hang its branches or children on a node."""
    numbers = spec_branches(info, part)
    if not numbers:
        return
    spec = specs[info.number]
    spec["children"] = [specs[number] for number in numbers]
    if info.kind in ("decider", "selector"):
        spec["branchIds"] = [stages[number].branch_id for number in numbers]
    elif info.kind != "foreach":
        for number in numbers:
            specs[number] |= {"isParallelChild": True, "parallelGroupId": info.local_id}


class SpecNode(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a structure that was read back: what it is called, and what it is connected to."""

    id: str
    name: str
    type: NodeType
    children: tuple[str, ...] = ()
    """Ids of its branches or children."""
    next: str | None = None
    """Id of what follows it; of the stage it goes back to, for one that loops."""
    loops: bool = False
    """Whether `next` goes back."""


def nodes_from_spec(spec: Mapping[str, Any]) -> tuple[SpecNode, ...]:
    """Names, ids and edges of a structure, in the order of drawing; bodies of mounts are not entered.

    Args:
        spec: What `Flow.to_spec` gave, here or in another language.
    """
    found: dict[str, SpecNode] = {}
    waiting: list[Mapping[str, Any]] = [spec]
    while waiting:
        node = waiting.pop()
        if node["id"] in found or node.get("isLoopReference"):
            continue
        children = cast("Sequence[Mapping[str, Any]]", node.get("children", ()))
        after = cast("Mapping[str, Any] | None", node.get("next"))
        loop = node.get("loopTarget")
        found[node["id"]] = SpecNode(
            id=node["id"],
            name=node["name"],
            type=node["type"],
            children=tuple(child["id"] for child in children),
            next=loop if loop is not None else None if after is None else after["id"],
            loops=loop is not None,
        )
        waiting += [*([after] if after is not None else []), *reversed(children)]
    return tuple(found.values())
