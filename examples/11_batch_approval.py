"""Several calls, one pause, a decision for each: `python 11_batch_approval.py`, then the same with `answer`."""

import sys
from pathlib import Path

from agentfootprint import Agent, Gates, Mock, PauseCheckpoint, approve, decline, tool
from agentfootprint.llm import LLMResponse, ToolCall

LIMIT = 100.0


@tool(check_in=lambda args, _: args["amount"] > LIMIT)
def refund(order: str, amount: float) -> str:
    """Refund an amount of an order. Use it once the policy allows it."""
    return f"{order}: refunded {amount:g}"


amounts = {"A-1": 480.0, "A-2": 20.0, "A-3": 900.0}
calls = [ToolCall(f"c{n}", "refund", {"order": order, "amount": amounts[order]}) for n, order in enumerate(amounts)]
script = [LLMResponse("Three refunds.", tool_calls=tuple(calls), stop_reason="tool_use"), "Two of three are done."]
agent = Agent(Mock(script, cursor="history"), tools=[refund], gates=Gates(ask_together=True))

if sys.argv[1:] == ["answer"]:  # the second process; answers may come in any order, but all of them
    paused = PauseCheckpoint.from_json(Path("pause.json").read_text())
    result = agent.resume_sync(paused, {"c2": decline(by="dana", note="over the limit"), "c0": approve(by="dana")})
    print(*(call.result for call in result.tool_calls), result.output, sep="\n")
elif waiting := agent.run_sync("Refund all three.").paused:
    for question in waiting.questions:
        print(question.tool_call_id, question.question)
    Path("pause.json").write_text(waiting.checkpoint.to_json())
