"""Hello."""

from agentfootprint import Agent, Mock

agent = Agent(Mock("Paris."), system="You are terse.")  # or Agent("anthropic:claude-sonnet-4-5", ...)
result = agent.run_sync("What is the capital of France?")  # in async code: await agent.run(...)
print(result.output, result.ended_because, result.usage.output)
