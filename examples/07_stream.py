"""Stream to a terminal."""

import asyncio

from agentfootprint import Agent, Mock
from agentfootprint.events import Token


async def main() -> None:
    async with Agent(Mock("One word after the other."), name="Clerk").stream("Go on.") as run:
        async for event in run:  # only the text: async for piece in run.text()
            if isinstance(event.payload, Token):
                print(event.payload.content, end="", flush=True)
        print((await run.result()).ended_because)  # leaving the block cancels what still runs


asyncio.run(main())
