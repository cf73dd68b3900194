"""A stage of a chart that starts another chart apart (01 s.18)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentfootprint.flow.detached.drivers import DetachDriver
from agentfootprint.flow.detached.ending import DetachHandle
from agentfootprint.flow.detached.starting import check_detachable, detach_and_join_later
from agentfootprint.flow.parts import MapSpec, Stage
from agentfootprint.trace import ABSENT

if TYPE_CHECKING:
    from agentfootprint.flow.executor import Flow
    from agentfootprint.flow.stage.context import StageContext
    from agentfootprint.flow.stage.state import State

__all__ = ["Detach"]


def Detach(  # noqa: N802  a part of a chart is named as one; what it makes is a stage like any other
    driver: DetachDriver,
    child: Flow,
    *,
    input: MapSpec = None,
    on_handle: Callable[[DetachHandle], object] | None = None,
    id: str | None = None,
    name: str | None = None,
    description: str | None = None,
    loop_to: str | None = None,
) -> Stage:
    """A stage that starts a chart apart, and goes on without it.

    Args:
        driver: When and where the chart runs.
        child: The built chart.
        input: Of its run: `{its key: our key}`, names that are the same on both sides, or a function of our state.
        on_handle: Gets the handle of each start, to wait for; without it the child is forgotten.
        id: `detach-` and the chart's name by default.
        name: As for every stage.
        description: As for every stage; says what it starts by default.
        loop_to: As for every stage.

    Returns:
        The stage, to stand where any stage may.

    Raises:
        DetachArgumentError: `driver` is no driver, or `child` no built chart.
    """
    check_detachable(driver, child)
    return Stage(
        _Detaching(driver, child, input, on_handle),
        id="-".join(f"detach {child.name}".lower().split()) if id is None else id,
        name=name,
        description=description or f"Starts {child.name!r} apart.",
        loop_to=loop_to,
    )


class _Detaching:
    """The function of such a stage."""

    def __init__(
        self,
        driver: DetachDriver,
        child: Flow,
        input: MapSpec,
        on_handle: Callable[[DetachHandle], object] | None,
    ) -> None:
        self._driver = driver
        self._child = child
        self._input = input
        self._on_handle = on_handle

    def __call__(self, state: State, ctx: StageContext) -> None:
        handle = detach_and_join_later(self._driver, self._child, self._mapped(state, ctx), origin=ctx.runtime_stage_id)
        if self._on_handle is not None:
            self._on_handle(handle)

    def _mapped(self, state: State, ctx: StageContext) -> Mapping[str, Any] | None:
        spec = self._input
        if spec is None:
            return None
        if callable(spec):
            return spec(state)
        pairs = spec if isinstance(spec, Mapping) else {key: key for key in spec}
        values = {target: ctx.get(source, ABSENT) for target, source in pairs.items()}
        return {target: value for target, value in values.items() if value is not ABSENT}
