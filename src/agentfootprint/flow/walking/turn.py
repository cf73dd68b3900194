"""Which branch a decider's or selector's return value means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from agentfootprint.flow.choice import Choice, Selection
from agentfootprint.flow.errors import BranchNotFoundError
from agentfootprint.flow.plan.node import Node
from agentfootprint.trace import Value, freeze

__all__ = ["branch_of", "branches_of"]


def branch_of(node: Node, returned: Value) -> tuple[Node, str, bool, Value]:
    """The branch of a decider: the node, what was returned as text, whether it matched, and the evidence.

    Raises:
        BranchNotFoundError: No branch has that id and there is no default (FLOW-EXE-35).
    """
    evidence: Value = None
    if isinstance(returned, Choice):
        evidence = freeze(returned.evidence)
        returned = returned.branch
    text = returned if isinstance(returned, str) else str(returned)
    branch = node.children.get(text)
    if branch is not None:
        return branch, text, True, evidence
    if node.default is None:
        raise BranchNotFoundError(node.info.id, (text,), node.children)
    return node.default, text, False, evidence


def branches_of(node: Node, returned: Value) -> tuple[tuple[Node, ...], Value]:
    """The branches of a selector in declaration order, and the evidence; an id twice counts once (FLOW-EXE-36).

    Raises:
        BranchNotFoundError: An id is none of its branches.
    """
    evidence: Value = None
    if isinstance(returned, Selection):
        evidence = freeze(returned.evidence)
        returned = returned.branches
    if returned is None:
        names: set[str] = set()
    elif isinstance(returned, str) or not isinstance(returned, Iterable):
        names = {str(returned)}
    else:
        names = {str(name) for name in cast("Iterable[object]", returned)}
    unknown = [name for name in names if name not in node.children]
    if unknown:
        raise BranchNotFoundError(node.info.id, sorted(unknown), node.children)
    return tuple(child for name, child in node.children.items() if name in names), evidence
