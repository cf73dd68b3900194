"""Typed output."""

from pydantic import BaseModel

from agentfootprint import Agent, Limits, Mock, Output, OutputSchemaError


class Refund(BaseModel):
    approved: bool
    reason: str


agent = Agent(
    Mock('{"approved": false, "reason": "47 days old"}'), output=Output(Refund, retries=2), limits=Limits(iterations=5)
)
try:
    print(agent.run_sync("Refund A-1001?").output.reason)  # a Refund, also for the type checker
except OutputSchemaError as error:
    print(error.stage, error.path, error.fix)
