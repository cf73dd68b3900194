"""Context, and why the answer came out so."""

from agentfootprint import Agent, Fact, Instruction, Mock, Steering

agent = Agent(
    Mock("Refund approved: Dana Reyes holds VIP status."),
    system="You decide refunds.",
    context=[
        Steering("policy", "Refunds only within 30 days of purchase."),
        Fact("vip-override", "Dana Reyes holds VIP status: refunds are approved beyond 30 days."),
        Instruction("calm", "Acknowledge feelings first.", when=lambda turn: "angry" in turn.user_message),
    ],
)
result = agent.run_sync("Should A-1001 be refunded?")
print(result.why())  # reads the record; no model call
for hop in result.why().custody("vip-override"):  # answer, read, landed, allowed, born
    print(hop.step, hop.at, hop.detail)
result.recording.save("run.json")  # agentfootprint lens run.json
