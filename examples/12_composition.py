"""Agents of agents: side by side, one after the other, again and again. One run, one record, walked across them."""

from agentfootprint import Agent, Conditional, Fact, Loop, Mock, Parallel, Sequence, runner
from agentfootprint.compose import Branch, Case, LoopPass, RunInput, Step


@runner
async def shout(message: str) -> str:
    """A plain function is a runner too."""
    return message.upper()


def is_urgent(given: RunInput) -> bool:
    """Whether nobody has time to think about it."""
    return given.message.startswith("!")


def is_done(done: LoopPass) -> bool:
    """Whether the editor has nothing left to do."""
    return "DONE" in done.latest_output


legal = Agent(
    Mock("Refunds are due within 90 days."), id="legal", context=[Fact("law", "Refunds are due within 90 days.")]
)
ops = Agent(Mock("The card was declined by the bank."), id="ops")
editor = Agent(Mock(["A draft.", "DONE: the bank declined it; refunds are due within 90 days."]), id="editor")

panel = Parallel({"legal": legal, "ops": Branch(ops, required=True)}, merge=lambda said: " / ".join(said.values()))
desk = Sequence([Step("panel", panel), Step("edit", Loop(editor, until=is_done))])
route = Conditional([Case("urgent", is_urgent, shout)], otherwise=desk)

result = route.run_sync("my card was declined")
print(result.output)
print(result.why(of="law"))  # the fact was legal's; the editor's answer was made from it

print(route.run_sync("!now").output)
