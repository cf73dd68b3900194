"""The half of the tool calls that runs when the answer is there: the call that asked is answered, the rest settled.

Nothing that ran before the pause runs again, and every proposal of the batch gets its one answer, in call order
(AGT-78, AGT-93).
"""

from __future__ import annotations

from agentfootprint.flow import Handle
from agentfootprint.trace import Value

__all__ = ["resume_tool_calls"]


async def resume_tool_calls(h: Handle, answer: Value) -> None:
    """Take up the batch where it paused."""
    taken = h.run.scope.taken_up
    if taken is not None:
        from agentfootprint.agent.pausing.together.resuming import take_up_together  # where several were asked at once

        return await take_up_together(h, taken, answer)
    from agentfootprint.agent.pausing.resuming import take_up  # with the first answer

    await take_up(h, answer)
    return None
