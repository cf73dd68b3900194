"""How does a child stand in the chart of its composition: as a mount, with what it is given and what becomes of it?"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agentfootprint.agent import run_part
from agentfootprint.compose.composed import Composed
from agentfootprint.flow import Mounted, Subflow

if TYPE_CHECKING:
    from agentfootprint.compose.children import AnyRunner
    from agentfootprint.compose.scope import Scope

__all__ = ["mount"]


def mount(
    runner: AnyRunner,
    *,
    key: str,
    id: str,
    name: str,
    input: Mapping[str, str] | Callable[..., Any],
    output: Callable[[Any, Any], dict[str, Any]],
) -> Subflow:
    """A child as a part of a chart.

    Args:
        runner: The child.
        key: How the composition calls it.
        id: Its segment of addresses.
        name: For people.
        input: What it is given: `message`.
        output: What the composition keeps of its value.
    """
    return Subflow(
        runner.plan.flow.source,
        id=id,
        name=name,
        input=input,
        output=output,
        array_merge="replace",
        within=functools.partial(_inside, runner, key),
    )


async def _inside(runner: AnyRunner, key: str, mounted: Mounted, go: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401  its value
    scope: Scope = mounted.scope
    scope.here = mounted.step

    async def run() -> Any:  # noqa: ANN401  its value
        if isinstance(runner, Composed):
            return await runner.run_within(scope.outer, mounted, go)
        return await run_part(cast("Any", runner), scope.outer, mounted, go, deadline=scope.deadline)

    return await scope.composed.around(scope, key, mounted, run)
