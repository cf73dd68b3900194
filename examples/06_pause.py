"""Pause, and go on in another process: `python 06_pause.py`, then `python 06_pause.py answer`."""

import sys
from pathlib import Path

from agentfootprint import Agent, Mock, PauseCheckpoint, ask_human, tool


@tool
def refund(amount: float) -> str:
    """Refund an amount. Use it once the policy allows it."""
    ask_human(f"Refund {amount}?", reason="high amount")  # never returns: the answer becomes the result


agent = Agent(Mock([Mock.call("refund", amount=480.0), "Done."], cursor="history"), tools=[refund])
if sys.argv[1:] == ["answer"]:  # the second process
    print(agent.resume_sync(PauseCheckpoint.from_json(Path("pause.json").read_text()), {"ok": True}).output)
elif paused := agent.run_sync("Refund 480.").paused:
    print(paused.kind, paused.question)
    Path("pause.json").write_text(paused.checkpoint.to_json())
