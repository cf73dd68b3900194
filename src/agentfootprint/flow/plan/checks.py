"""What building a chart refuses, beyond what a single part shows (3.2).

Every check raises a `ChartBuildError` that names the ids it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.parts import MapSpec, Pausable, Stage, Subflow
from agentfootprint.flow.plan.node import DECIDER, Node
from agentfootprint.trace import INERT_SEGMENTS, PATH_DELIMITER, ROOT_STAGE_ID

__all__ = ["check_branch", "check_child", "check_id", "check_line", "check_map"]


def check_id(id: str) -> None:
    """Refuse an id that would be taken apart wrongly (FLOW-BLD-17)."""
    bad = next((mark for mark in ("#", "/", PATH_DELIMITER) if mark in id), None)
    if id and bad is None and id != ROOT_STAGE_ID:
        return
    why = "is empty" if not id else f"contains {bad!r}" if bad is not None else "stands for the run itself"
    raise ChartBuildError(f"The id {id!r} {why}.", fix="Use letters, digits, dashes and underscores.", ids=(id,))


def check_branch(part: Any, kind: str, owner: str) -> None:  # noqa: ANN401  whatever stands in the list
    """Refuse what can't be a branch: a decider has its branches on the main line only (FLOW-BLD-15)."""
    if isinstance(part, (Stage, Pausable, Subflow)):
        return
    raise ChartBuildError(
        f"The {kind} {owner!r} has a {type(part).__name__} as a branch.",
        fix="Use Stage, Pausable or Subflow; put what chooses again into a chart and mount it.",
        ids=(owner,),
    )


def check_child(part: Any, own: str | None, owner: str) -> None:  # noqa: ANN401  whatever stands in the list
    """Refuse a fork child that is no stage, or that no id can be derived for (FLOW-BLD-6)."""
    if not isinstance(part, (Stage, Pausable, Subflow)):
        raise ChartBuildError(
            f"The fork after {owner!r} has a {type(part).__name__} as a child.",
            fix="Use Stage, Pausable or Subflow.",
            ids=(owner,),
        )
    if not own or own == "<lambda>":
        raise ChartBuildError(
            f"A child of the fork after {owner!r} has no id.",
            fix="Give it `id=`, or a function with a name.",
            ids=(owner,),
        )


def check_map(spec: MapSpec, side: str, mount: str) -> None:
    """Refuse a map declared as data with what can't be a key; a function is asked when it runs.

    Args:
        spec: The map.
        side: `input` or `output`, for the message.
        mount: Id of the mount.

    Raises:
        ChartBuildError: It is no map, or one of its keys can't be one.
    """
    if spec is None or callable(spec):
        return
    given: Any = spec
    if isinstance(given, (str, bytes)) or not isinstance(given, (Mapping, Sequence)):
        raise ChartBuildError(
            f"The {side} map of the mount {mount!r} is a {type(given).__name__}.",
            fix="Give a mapping, a list of names, or a function.",
            ids=(mount,),
        )
    pairs = cast("Mapping[Any, Any]", given).items() if isinstance(given, Mapping) else None
    for target, source in ((name, name) for name in cast("Sequence[Any]", given)) if pairs is None else pairs:
        why = _unfit(target) or (f"is one of {', '.join(sorted(INERT_SEGMENTS))}" if target in INERT_SEGMENTS else "")
        for key, what in ((target, why), (source, _unfit(source))):
            if what:
                raise ChartBuildError(
                    f"The {side} map of the mount {mount!r} has the key {key!r}, which {what}.",
                    fix="Use another key.",
                    ids=(mount,),
                )


def _unfit(key: Any) -> str:  # noqa: ANN401  whatever a caller gave
    """Why something can't be a key."""
    if not isinstance(key, str):
        return f"is a {type(key).__name__}, not a text"
    if PATH_DELIMITER in key:
        return "holds U+001F, which separates the keys of a path"
    return "" if key.isascii() or not any("\ud800" <= unit <= "\udfff" for unit in key) else "holds half a character"


def check_line(nodes: Mapping[str, Node], line: Mapping[str, Node]) -> None:
    """Refuse what only the whole chart shows.

    Args:
        nodes: All nodes of one chart by their own id.
        line: Those of the main line, in order.

    Raises:
        ChartBuildError: A branch is drawn to a stage that does not come later, or a stage can't be reached.
    """
    places = {node: place for place, node in enumerate(line.values())}
    for own, node in nodes.items():
        target = getattr(node.part, "converge_at", None)
        if target is not None:
            _check_join(own, node, target, line, places)
        if node.code == DECIDER and node.next is not None and all(child.loop for child in node.children.values()):
            after = next(known for known, other in nodes.items() if other is node.next)
            raise ChartBuildError(
                f"The stage {after!r} can't be reached: every branch of {own!r} before it loops back.",
                fix="Give the decider a branch that does not, or leave the stage out.",
                ids=(after, own),
            )


def _check_join(id: str, node: Node, target: str, line: Mapping[str, Node], places: Mapping[Node, int]) -> None:
    if node.owner is None:
        raise ChartBuildError(
            f"The stage {id!r} has `converge_at`, but is no branch.",
            fix="Leave it out: what follows follows.",
            ids=(id,),
        )
    later = [known for known, other in line.items() if places[other] > places[node.owner]]
    if target not in later:
        raise ChartBuildError(
            f"The branch {id!r} converges at {target!r}, which is no later stage of the main line.",
            fix=f"Use one of: {', '.join(later)}." if later else "Leave it out: nothing follows.",
            ids=(id, target),
        )
