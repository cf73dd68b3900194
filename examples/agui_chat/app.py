"""A chat with an agent in the browser: `python examples/agui_chat/app.py`, then open the address that it prints.

The page is plain HTML and two modules; it speaks AG-UI, so any other AG-UI front end can take its place.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from agentfootprint import Agent, Mock, tool
from agentfootprint.agui import AgUiWire
from agentfootprint.hosting import InMemorySessions
from agentfootprint.llm import LLMRequest, LLMResponse

ORDERS = {"A-1": {"item": "lamp", "paid": 48.0, "status": "delivered"}}


@tool
def lookup_order(order_id: str) -> dict[str, object]:
    """Look up one order by its number. Use it when the user names an order."""
    return dict(ORDERS.get(order_id, {"status": "unknown"}))


@tool(check_in="always")
def refund(order_id: str, amount: float) -> str:
    """Pay an amount back. A person approves it first."""
    return f"{amount:.2f} paid back for {order_id}"


def clerk(request: LLMRequest) -> str | LLMResponse:
    """Stands in for a model, so that this runs without a key; it reads the conversation, so a restart does no harm."""
    last = request.messages[-1]
    if last.role == "tool" and last.tool_name == "refund":
        return "Done: the money is on its way." if "paid back" in last.content else "All right, I paid nothing back."
    if last.role == "tool":
        return "Order A-1 is a lamp for 48.00. It was delivered on Monday and signed for. Shall I refund it?"
    wanted = "refund" if "refund" in last.content.lower() else "lookup_order"
    return Mock.call(wanted, order_id="A-1", **({"amount": 48.0} if wanted == "refund" else {}))


agent = Agent(Mock(clerk, chunk_delay=0.05), id="shop", system="You help customers.", tools=[lookup_order, refund])
chat = AgUiWire().mount(agent, "/api/agent", sessions=InMemorySessions())  # POST /api/agent


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncGenerator[None]:
    """When the server ends, runs that go on are cancelled, and what there is of them is kept."""
    async with chat.adapter:
        yield


page = StaticFiles(directory=Path(__file__).parent / "page", html=True)
app = Starlette(routes=[*chat.routes, Mount("/", page)], lifespan=lifespan)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=8000)
