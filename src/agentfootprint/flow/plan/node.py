"""One node of a built chart: what runs, and where control goes from there.

Nodes are made once by `build` and never changed by a run (FLOW-BLD-23), so one chart serves any number of runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from agentfootprint.flow.parts import Part
from agentfootprint.flow.retry import RetryPolicy
from agentfootprint.trace import StageInfo

__all__ = ["DECIDER", "FOREACH", "MOUNT", "PAUSABLE", "SELECTOR", "STAGE", "STREAMING", "Each", "Node", "Plan"]

STAGE: Final = 0
STREAMING: Final = 1
PAUSABLE: Final = 2
DECIDER: Final = 3
SELECTOR: Final = 4
FOREACH: Final = 5
MOUNT: Final = 6

Call: TypeAlias = Callable[..., Any]


def _nothing(*_: object) -> None:
    """What a mount calls: its work is its inner chart."""


class Each:
    """What a for-each runs.

    Args:
        items: Gives the items on a handle.
        branch: Makes the chart of an item and its index.
        max_branches: How many items run.
        into: Key of the results.
        errors_into: Key of the failures.
    """

    __slots__ = ("branch", "errors_into", "into", "items", "max_branches")

    def __init__(self, items: Call, branch: Call, max_branches: int, into: str, errors_into: str | None) -> None:
        self.items = items
        self.branch = branch
        self.max_branches = max_branches
        self.into = into
        self.errors_into = errors_into


class Node:
    """A stage, decider, selector or mount, ready to run. Written by `build` only."""

    __slots__ = (
        "call",
        "children",
        "code",
        "collect",
        "default",
        "each",
        "entry",
        "fail_fast",
        "fork",
        "in_fn",
        "in_pairs",
        "info",
        "inline",
        "lazy",
        "loop",
        "max_concurrency",
        "mount",
        "mutable",
        "next",
        "on_output_error",
        "out_fn",
        "out_pairs",
        "owner",
        "part",
        "propagate_break",
        "raw",
        "resume",
        "retry",
        "timeout",
        "within",
    )

    def __init__(self, code: int, call: Call = _nothing, *, raw: bool = False, resume: Call | None = None) -> None:
        self.code = code
        self.call: Call = call
        """Runs the stage's function on a handle."""
        self.resume = resume
        """Runs its second half on a handle and the answer."""
        self.retry: RetryPolicy | None = None
        """When it runs again after it raised."""
        self.raw = raw
        self.info: StageInfo
        self.part: Part | None = None
        """What it was made from."""
        self.next: Node | None = None
        self.loop: Node | None = None
        """The earlier stage it goes back to."""
        self.children: dict[str, Node] = {}
        """Branches of a decider or selector, by branch id."""
        self.default: Node | None = None
        self.fork: tuple[Node, ...] = ()
        """Children that run after this stage, before what follows it."""
        self.fail_fast = False
        self.max_concurrency: int | None = None
        """How many of its branches may be on their way at once."""
        self.timeout: float | None = None
        """Seconds each of its branches may take."""
        self.owner: Node | None = None
        """The decider, selector or forking stage that starts it."""
        self.mount: Node | None = None
        """The mount it stands in."""
        self.entry: Node | None = None
        """First node inside, for a mount; a lazy one has none, and a run uses a copy that has."""
        self.lazy: Call | None = None
        """Makes the chart of a lazy mount."""
        self.each: Each | None = None
        """What a for-each runs."""
        self.collect: Call | None = None
        """What a branch of a for-each came to, of its value and final state; instead of an output map."""
        self.inline = True
        """Whether everything it runs, mounts included, is plain functions: then a fork of it needs no tasks."""
        self.in_pairs: tuple[tuple[str, str], ...] | None = None
        """Its input map, where values are taken as they are; as for `out_pairs`, the quick way."""
        self.out_pairs: tuple[tuple[str, str], ...] | None = None
        self.in_fn: Call | None = None
        self.out_fn: Call | None = None
        self.within: Call | None = None
        """What stands around a run of the mount."""
        self.propagate_break = False
        self.mutable = False
        self.on_output_error: Literal["raise", "record"] = "raise"

    def let_go(self) -> None:
        """Forget what leads on from here and back, so that nodes of a run that is over are in no cycle."""
        self.next = self.loop = self.owner = self.mount = self.entry = None
        self.call = _nothing

    def __repr__(self) -> str:
        return f"Node({self.info.id!r})"


class Plan:
    """A built chart: its first node, and every node by number and by full id."""

    __slots__ = ("by_id", "name", "nodes", "root", "stages")

    def __init__(self, name: str, root: Node, nodes: tuple[Node, ...]) -> None:
        self.name = name
        self.root = root
        self.nodes = nodes
        self.stages = tuple(node.info for node in nodes)
        self.by_id = {node.info.id: node for node in nodes}
