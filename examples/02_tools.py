"""Tools, and your own object in them."""

from agentfootprint import Agent, Mock, ToolContext, absent, tool


@tool
async def lookup_order(order_id: str, ctx: ToolContext[dict[str, str]]) -> object:
    """Look up one order by its number. Use it when the user names an order."""
    ctx.progress({"message": f"asking the shop about {order_id}"})
    return ctx.deps.get(order_id) or absent(order_id, checked=["the orders table"])


agent = Agent[dict[str, str]](
    Mock([Mock.call("lookup_order", order_id="A-1"), "It has shipped."]), tools=[lookup_order]
)
result = agent.run_sync("Where is A-1?", deps={"A-1": "shipped"})  # deps are never recorded
print([(call.name, call.ok, call.result) for call in result.tool_calls])
