"""Prove it."""

from agentfootprint import Agent, Fact, Mock, Recording
from agentfootprint.explain import prove_sync
from agentfootprint.llm import LLMRequest


def model(request: LLMRequest) -> str:
    return "APPROVED" if "VIP" in (request.system_prompt or "") else "DECLINED"


agent = Agent(Mock(model), context=[Fact("vip", "Dana is VIP."), Fact("style", "Two sentences at most.")])
result = agent.run_sync("Refund?")
proof = result.prove_sync(expected="DECLINED", runs=96, usd=0.50)  # spends re-runs; says what it will spend first
print([(s.id, s.verdict.verdict, s.verdict.stats.interval) for s in proof.suspects if s.verdict])
path = result.recording.save("run.json")  # later, from the file, with the agent that made it
print(prove_sync(Recording.load(path), agent=agent, of=["vip"]))
