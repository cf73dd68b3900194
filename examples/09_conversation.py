"""A conversation that continues tomorrow: `python 09_conversation.py`, and again the next day."""

import asyncio
from pathlib import Path

from agentfootprint import Agent, Checkpoint, LLMMessage, Mock, RunCheckpointError
from agentfootprint.llm import LLMRequest

KEY = "a secret that only your service has"
STORE = Path("conversation.json")
SAYS = ["Table for two, booked.", "Table for three, booked.", "At eight.", "As I said: at eight."]


def waiter(request: LLMRequest) -> str:
    """Stands in for a model: what it says depends on how much was said before."""
    turns = sum(message.role == "user" for message in request.messages)
    return SAYS[min(turns, len(SAYS)) - 1]


def line(message: LLMMessage) -> str:
    return f"{message.role:>9}: {message.content}"


agent = Agent(Mock(waiter), id="waiter", system="You book tables.")


async def today() -> Checkpoint:
    conversation = agent.conversation()
    await conversation.run("A table for two, please.")
    return (await conversation.run("Make it three.")).checkpoint


async def tomorrow(start: Checkpoint) -> Checkpoint:
    conversation = agent.conversation(start)
    try:
        await conversation.run("When was it?")
    except RunCheckpointError as failed:  # the model is down: nothing is lost
        print(f"Try again {'later' if failed.can_resume else 'when this is mended'}: {failed.cause}")
    return conversation.checkpoint or start


kept = Checkpoint.from_json(STORE.read_text(), key=KEY) if STORE.exists() else asyncio.run(today())
STORE.write_text(kept.to_json(key=KEY))
kept = asyncio.run(tomorrow(Checkpoint.from_json(STORE.read_text(), key=KEY)))
STORE.write_text(kept.to_json(key=KEY))
print("\n".join(line(message) for message in kept.history))
