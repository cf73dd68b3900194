"""What does one run have between the model and its tools: who is asked, in which order, about which conversation?

Made once a run from its `Gates`, and only where there is a checker or a rule: a run without them has none (AGT-1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agentfootprint.agent.dispatching.settled import Settled
from agentfootprint.agent.gating.chains import MessageLink, MessageVerdict, ToolLink, message_links, tool_links
from agentfootprint.agent.gating.halting import halt_run
from agentfootprint.agent.gating.judging import gate_call, gate_rest, gate_result
from agentfootprint.agent.gating.messaging import Spoken, hear, refuse_input, speak
from agentfootprint.security import SequenceFold
from agentfootprint.trace import FrozenDict, FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent.gating.halted import Halted
    from agentfootprint.agent.options import Gates
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.flow import Handle
    from agentfootprint.llm import LLMMessage, ToolCall
    from agentfootprint.security import PermissionChecker
    from agentfootprint.tools import Tool

__all__ = ["RunGates"]


class RunGates:
    """The checker and the rules of one run, and the conversation as they see it."""

    __slots__ = ("_window", "checker", "fold", "has_said_raw", "judges_calls", "judges_results", "links", "messages")

    def __init__(self, gates: Gates) -> None:
        self.checker: PermissionChecker | None = gates.permission
        self.links: tuple[ToolLink, ...] = () if gates.act is None else tool_links(gates.act)
        self.messages: tuple[MessageLink, ...] = () if gates.act is None else message_links(gates.act)
        self.judges_calls = any(link.on_call is not None for link in self.links)
        self.judges_results = any(link.on_result is not None for link in self.links)
        self.fold = SequenceFold()
        """The calls dispatched so far, taken in once each (SEQ-1)."""
        self.has_said_raw = False
        """Whether the log was told of a denial that a later sequence can't see."""
        self._window: FrozenList | None = None

    def window(self, history: FrozenList, landed: Sequence[LLMMessage]) -> FrozenList:
        """The conversation between the calls of a batch: the history, and what the batch has added so far.

        It grows in the history's own buffer, so that the batch commits it at its end without a copy.
        """
        known = self._window
        if known is None or not known.starts_with(history):
            known = history
        new = landed[len(known) - len(history) :]
        self._window = known = known.extend(new) if new else known
        return known

    async def gate(
        self, h: Handle, scope: RunScope, call: ToolCall, iteration: int, tool: Tool[..., Any] | None
    ) -> Settled | FrozenDict:
        """Put a call to the checker and the rules before tools: what it came to, or what it may run with."""
        return await gate_call(h, scope, self, call, iteration, tool)

    async def gate_rest(
        self, h: Handle, scope: RunScope, call: ToolCall, args: FrozenDict, iteration: int, *, after: int
    ) -> Settled | FrozenDict:
        """Put an approved call to the rules behind the one that asked."""
        return await gate_rest(h, scope, self, call, args, iteration, after=after)

    async def judge_result(
        self, h: Handle, scope: RunScope, call: ToolCall, args: FrozenDict, iteration: int, settled: Settled
    ) -> None:
        """Put what a call gave to the rules after tools."""
        await gate_result(h, scope, self, call, args, iteration, settled)

    def halt(
        self,
        h: Handle,
        scope: RunScope,
        halted: Halted,
        calls: FrozenList,
        ordinal: int,
        iteration: int,
        results: Sequence[FrozenDict],
    ) -> None:
        """Stop the run at a call that has landed."""
        halt_run(h, scope, self, halted, calls, ordinal, iteration, results)

    async def hear(self, h: Handle, scope: RunScope, message: str) -> MessageVerdict:
        """Put what the user said to the rules."""
        return await hear(h, scope, self, message)

    def refuse_input(self, h: Handle, scope: RunScope, verdict: MessageVerdict) -> None:
        """End a run whose message was denied."""
        refuse_input(h, scope, verdict)

    async def speak(self, h: Handle, scope: RunScope, iteration: int) -> Spoken:
        """Put an answer that would end the turn to the rules."""
        return await speak(h, scope, self, iteration)
