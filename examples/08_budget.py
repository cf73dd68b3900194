"""A run that runs out of money, stops at once, and says so."""

from agentfootprint import Agent, Limits, Mock, Usage, tool
from agentfootprint.resilience import CostBudget, StaticPricing


@tool
def search(query: str) -> str:
    """Search the web. Use it before you answer."""
    return f"Ten pages about {query}."


prices = StaticPricing({"mock-model": {"input": 3e-6, "output": 15e-6}})  # US dollars for ONE token
budget = CostBudget(0.01, on_exceed="halt")

agent = Agent(
    Mock([Mock.call("search", query=f"step {step}") for step in range(9)], usage=Usage(input=1_000, output=200)),
    tools=[search],
    limits=Limits(cost=budget, pricing=prices),
)
agent.on("agentfootprint.cost.tick", lambda event: print(f"spent ${event.payload.cumulative.estimated_usd:.3f}"))

result = agent.run_sync("Find everything about tea.")
stopped = result.stopped_early
assert stopped is not None
print(f"ended because of the {result.ended_because}: {stopped.reason}, iteration {stopped.iteration}")
print(f"${result.cost_usd:.3f} of ${budget.usd:.2f}; {stopped.pending} call(s) were not run")
