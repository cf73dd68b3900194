"""What is asked of branches that run side by side: how many at once, how long each, and one for each item of a list.

Looked at once, when the chart is built; a run finds numbers and functions it can rely on.
"""

from __future__ import annotations

from typing import Any, Final, cast

from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.parts import ForEach, Fork, Selector
from agentfootprint.flow.plan.calls import derived_id, stage_call
from agentfootprint.flow.plan.checks import check_id
from agentfootprint.flow.plan.node import FOREACH, Each, Node
from agentfootprint.flow.stage.handle import Handle
from agentfootprint.flow.stage.state import State
from agentfootprint.trace import BRANCH_SEGMENT_MARKER

__all__ = ["bounded", "for_each_node"]

_INT: Final = int


def bounded(node: Node, part: Fork | Selector | ForEach, name: str) -> None:
    """Take over how branches of a node are bounded.

    Raises:
        ChartBuildError: `max_concurrency` is no whole number from 1, or `timeout` no time above 0.
    """
    limit, timeout = part.max_concurrency, part.timeout
    if limit is not None and not _is_count(limit):
        raise _refused(name, "max_concurrency", limit, "Give a whole number from 1, or leave it out.")
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
        raise _refused(name, "timeout", timeout, "Give seconds above 0, or leave it out.")
    node.fail_fast = node.fail_fast or part.fail_fast
    node.max_concurrency = limit if node.max_concurrency is None else node.max_concurrency
    node.timeout = timeout if node.timeout is None else node.timeout


def for_each_node(part: ForEach, state: type[State]) -> tuple[str, Node]:
    """The id of a for-each, and its node.

    Raises:
        ChartBuildError: An option is missing or can't be (FLOW-BLD-11, 12).
    """
    for option in ("branch", "items"):
        if not callable(getattr(part, option)):
            shown = part.id or (derived_id(part.branch) if callable(part.branch) else "?")
            raise _refused(shown, option, getattr(part, option), f"Give it a function as `{option}`.")
    own = derived_id(part.branch) if part.id is None else part.id
    check_id(own)
    if BRANCH_SEGMENT_MARKER in own:
        raise ChartBuildError(
            f"The for-each id {own!r} contains {BRANCH_SEGMENT_MARKER!r}, which is reserved for its branches.",
            fix="Use a dash instead.",
            ids=(own,),
        )
    if not _is_count(part.max_branches):
        raise _refused(own, "max_branches", part.max_branches, "Say how many items may run: a whole number from 1.")
    for option in ("into", "errors_into"):
        key = getattr(part, option)
        if not (isinstance(key, str) and key) and (option == "into" or key is not None):
            raise _refused(own, option, key, f"Give a key of the state as `{option}`.")
    if part.errors_into == part.into:
        raise _refused(own, "errors_into", part.into, "Give another key than that of the results.")
    items = stage_call(part.items, state, raw=part.raw, stage=own)
    each = Each(items, part.branch, cast("int", part.max_branches), part.into, part.errors_into)
    node = Node(FOREACH, raw=part.raw)

    def run(handle: Handle) -> Any:  # noqa: ANN401  a coroutine; the run is none of this file's types
        return handle.home.run.for_each(node, handle)

    node.call = run
    node.each = each
    node.part = part
    node.inline = False
    bounded(node, part, own)
    return own, node


def _is_count(value: object) -> bool:
    return type(value) is _INT and value >= 1


def _refused(name: str, option: str, value: Any, fix: str) -> ChartBuildError:  # noqa: ANN401  whatever a caller gave
    return ChartBuildError(
        f"The option `{option}` of {name!r} is {'missing' if value is None else f'{value!r}, which can not be'}.",
        fix=fix,
        ids=(name,),
    )
