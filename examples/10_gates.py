"""Permission, a rule, and a person who checks in."""

from agentfootprint import Act, Agent, Gates, Mock, allow, approve, before_tool, deny, tool
from agentfootprint.agent import RuleOutcome, ToolCallView
from agentfootprint.security import PermissionPolicy


@tool(check_in="always", capabilities=["user_data"], timeout=30)
def close_account(user_id: str) -> str:
    """Close an account for good. Use it only when its owner asks."""
    return f"{user_id} closed"


@before_tool(name="no-admins")
def no_admins(call: ToolCallView) -> RuleOutcome:
    return deny("admins are closed by hand") if str(call.args["user_id"]).startswith("admin") else allow()


agent = Agent(
    Mock([Mock.call("close_account", user_id="u7"), "Closed."]),
    tools=[close_account],
    gates=Gates(
        permission=PermissionPolicy.from_roles({"clerk": ["close_account"]}, "clerk"), act=Act(before_tool=[no_admins])
    ),
)
result = agent.run_sync("Close u7.")
if result.paused and result.paused.check_in:
    print(result.paused.check_in.evidence)
    print(agent.resume_sync(result.paused, approve(by="dana", note="called back")).output)
